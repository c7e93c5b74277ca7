#include "hub/hub_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "dts/error.h"
#include "io/whole_file.h"
#include "text/ascii.h"

namespace dts::hub {
namespace {

constexpr std::size_t kLongestToken = 4096;

std::string get(const Environment& environment, const char* name) {
  const char* value = environment(name);
  return value == nullptr ? "" : value;
}

std::string trimmed(const std::string& text) { return std::string(text::trim(text)); }

bool is_true(const std::string& value) {
  const std::string word = text::lower_case(value);
  return word == "1" || word == "on" || word == "yes" || word == "true";
}

// "~/x" as the hub's tools expand it.
std::string expanded(const std::string& path, const std::string& home) {
  if (path == "~") return home;
  return path.starts_with("~/") ? home + path.substr(1) : path;
}

// What goes into a header must not be able to end it. The token itself is in no message.
std::string checked_token(const std::string& token, const std::string& from) {
  const bool clean = std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < '\x7f'; });
  if (!clean || token.size() > kLongestToken) {
    throw Error(fmt::format("{} holds no token: it must be one word, as hf_... is", from));
  }
  return token;
}

std::string find_token(const Environment& environment, const std::string& hub_home, const std::string& home) {
  for (const char* name : {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"}) {
    if (const std::string token = trimmed(get(environment, name)); !token.empty()) return checked_token(token, name);
  }
  if (is_true(get(environment, "HF_HUB_DISABLE_IMPLICIT_TOKEN"))) return "";
  std::string path = expanded(get(environment, "HF_TOKEN_PATH"), home);
  if (path.empty()) path = hub_home + "/token";
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return "";
  const std::string token = trimmed(read_whole_file(path, kLongestToken));
  return token.empty() ? "" : checked_token(token, path);
}

}  // namespace

HubSettings hub_settings(const Environment& environment) {
  HubSettings settings;
  if (const std::string endpoint = get(environment, "HF_ENDPOINT"); !endpoint.empty()) settings.endpoint = endpoint;
  while (settings.endpoint.ends_with('/')) settings.endpoint.pop_back();
  const bool web = settings.endpoint.starts_with("http://") || settings.endpoint.starts_with("https://");
  if (!web || settings.endpoint.find_first_of(" \t\r\n@?#") != std::string::npos) {
    throw Error(fmt::format("HF_ENDPOINT is '{}': it must be as https://huggingface.co is", settings.endpoint));
  }

  const std::string home = get(environment, "HOME");
  std::string hub_home = expanded(get(environment, "HF_HOME"), home);
  if (hub_home.empty()) {
    const std::string caches = expanded(get(environment, "XDG_CACHE_HOME"), home);
    if (!caches.empty()) {
      hub_home = caches + "/huggingface";
    } else if (!home.empty()) {
      hub_home = home + "/.cache/huggingface";
    }
  }
  for (const char* name : {"REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"}) {
    if (settings.certificates.empty()) settings.certificates = expanded(get(environment, name), home);
  }
  for (const char* name : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"}) {
    if (settings.cache.empty()) settings.cache = expanded(get(environment, name), home);
  }
  if (settings.cache.empty() && !hub_home.empty()) settings.cache = hub_home + "/hub";
  if (settings.cache.empty()) {
    throw Error("there is no place to keep models: set HF_HOME, for the environment has no HOME either");
  }
  settings.token = find_token(environment, hub_home, home);
  settings.offline = is_true(get(environment, "HF_HUB_OFFLINE")) || is_true(get(environment, "TRANSFORMERS_OFFLINE"));
  return settings;
}

}  // namespace dts::hub
