// Who may ask at all: keys, the names the server goes by, and the pages of other sites.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/http/http.h"

namespace dts::serve {

struct AccessOptions {
  std::vector<std::string> keys;  // none, and no admin key: everybody may
  // Names that a Host header may have, without port, in whatever case; none: any. On loopback this is what keeps a page
  // of another site from reaching the server by a name of its own that resolves to it (DNS rebinding).
  std::vector<std::string> hosts;
  std::vector<std::string> origins;          // whose pages may read what the server says (CORS); "*": all
  std::vector<std::string> admin_keys = {};  // that see and cancel everybody's runs
  bool shared_runs = false;                  // as every key does
};

// Who asks, once it may.
struct Caller {
  std::uint64_t owner = 0;  // of its runs; the same for everybody where there are no keys
  bool sees_all = true;     // or its own runs only
};

class Access {
 public:
  explicit Access(AccessOptions options);

  // The refusal, when there is one. Needs the headers only.
  std::optional<HttpResponse> refuse(const HttpRequest& request) const;

  // By the key it has; none when it has not the key it needs.
  std::optional<Caller> caller(const HttpRequest& request) const;
  std::size_t keys() const { return options_.keys.size() + options_.admin_keys.size(); }

  // What to tell the browser of a page whose origin is allowed: nothing for all others.
  std::vector<std::pair<std::string, std::string>> cors_headers(const HttpRequest& request) const;
  bool answers_preflight(const HttpRequest& request) const;

 private:
  bool host_allowed(const HttpRequest& request) const;
  bool origin_allowed(const HttpRequest& request) const;

  AccessOptions options_;
};

// Takes the same time wherever they differ.
bool equal_in_constant_time(std::string_view a, std::string_view b);

// "127.0.0.1:8080" -> "127.0.0.1"; "[::1]:8080" -> "::1".
std::string_view host_name(std::string_view host);

}  // namespace dts::serve
