// Where the hub is, where its files are kept and who asks: read from the environment as the hub's own tools read it.
#pragma once

#include <functional>
#include <string>

namespace dts::hub {

struct HubSettings {
  std::string endpoint = "https://huggingface.co";  // HF_ENDPOINT; no slash at the end
  std::string cache;                                // HF_HUB_CACHE, else HF_HOME/hub, else ~/.cache/huggingface/hub
  std::string token;                                // HF_TOKEN, else the token file; empty: none
  bool offline = false;                             // HF_HUB_OFFLINE
  // Certificates that are trusted, PEM: REQUESTS_CA_BUNDLE, CURL_CA_BUNDLE, SSL_CERT_FILE; empty: the system's.
  std::string certificates;
  double connect_seconds = 20;
  double stall_seconds = 60;  // without a byte, then the connection counts as broken
  double retry_seconds = 1;   // before a first retry; twice as long before each that follows
  int retries = 5;            // in a row without a byte that is new
};

// A variable of the environment; null: it is not set.
using Environment = std::function<const char*(const char* name)>;

// Throws dts::Error naming the variable that makes no sense.
HubSettings hub_settings(const Environment& environment);

}  // namespace dts::hub
