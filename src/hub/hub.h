// A model of the hub as a file on this machine: the one function that the commands call.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "hub/hub_settings.h"

namespace dts::hub {

struct HubRequest {
  std::string name;  // "ORG/REPO" or "ORG/REPO:QUANT"
  std::string file;  // one of its GGUF files; empty: by the quant
};

struct HubProgress {
  std::string file;        // being downloaded
  int part = 1;            // of `parts`
  int parts = 1;           // files that the model has
  std::int64_t done = 0;   // bytes of all files that are here
  std::int64_t total = 0;  // bytes of all files
};

struct HubHooks {
  std::function<void(const HubProgress&)> progress = nullptr;  // only while something is downloaded
  std::function<void(const std::string&)> note = nullptr;      // one line for a person
  std::function<bool()> stopping = nullptr;                    // true ends it: what has come is kept
};

// Where the model's first file is, in the hub's cache; downloaded when it is not there yet. Empty when it was stopped.
// Throws dts::Error: one line that says what is wrong and what would be right.
std::string fetch_model(const HubRequest& request, const HubSettings& settings, const HubHooks& hooks);

}  // namespace dts::hub
