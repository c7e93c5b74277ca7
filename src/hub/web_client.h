// GET over HTTP: redirects followed by hand, for a token goes to the host it belongs to and to nobody else.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "dts/error.h"

namespace dts::hub {

struct WebRequest {
  std::string url;
  std::string token;         // sent to `token_origin` alone; empty: none
  std::string token_origin;  // "https://huggingface.co"
  std::int64_t from = 0;     // byte to begin at; 0: a request without a range
  bool head_only = false;    // HEAD, and redirects only inside one host: the hub's own answer about a file
  std::string certificates;  // that are trusted, PEM; empty: the system's
  double connect_seconds = 20;
  double stall_seconds = 60;
};

struct WebAnswer {
  int status = 0;
  std::map<std::string, std::string> headers;  // of the last answer, names in small letters
  std::string body;                            // of what is no success, its beginning
};

// A connection that could not be made or broke: worth another try, when `lasting` is false.
class WebError : public Error {
 public:
  WebError(const std::string& text, bool lasting) : Error(text), lasting_(lasting) {}
  bool lasting() const { return lasting_; }

 private:
  bool lasting_;
};

// Thrown when `stopping` said so.
class WebStopped : public Error {
 public:
  WebStopped() : Error("interrupted") {}
};

struct WebHooks {
  std::function<void(const WebAnswer&)> on_head = nullptr;  // of the last answer, before its body; may throw
  std::function<void(std::string_view)> on_body = nullptr;  // bytes of a 200 or 206; may throw
  std::function<bool()> stopping = nullptr;                 // asked at least once a second
};

// Throws WebError, WebStopped, and what the hooks throw. Errors name the host, never a query: that of a redirect may
// hold a signature.
WebAnswer web_get(const WebRequest& request, const WebHooks& hooks);

// Between two tries. Throws WebStopped as soon as `stopping` says so.
void web_wait(double seconds, const std::function<bool()>& stopping);

// "https://host:port" of a URL, as it decides who may see a token; empty: it is no URL.
std::string origin_of(const std::string& url);

// A path inside a URL: everything but letters, digits, '/', '-', '.', '_' and '~' in percents.
std::string url_path(std::string_view path);

}  // namespace dts::hub
