// One file from the hub into the cache: resumed where it stopped, by one process at a time, and checked.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "hub/gguf_choice.h"
#include "hub/hub_api.h"
#include "hub/hub_cache.h"

namespace dts::hub {

struct DownloadHooks {
  std::function<void(std::int64_t bytes)> progress = nullptr;  // bytes of this file that are here
  std::function<void(const std::string&)> note = nullptr;      // one line
  std::function<bool()> stopping = nullptr;
};

struct BlobPlace {
  std::string repo;
  std::string commit;
  HubFile file;  // size and sum known
};

// Afterwards the cache has the blob. What came of it before a failure or an end of the process stays as .incomplete and
// is carried on from. Throws WebStopped when `stopping` said so, else dts::Error.
void download_blob(const HubApi& api, const HubSettings& settings, const RepoCache& cache, const BlobPlace& place,
                   const DownloadHooks& hooks);

}  // namespace dts::hub
