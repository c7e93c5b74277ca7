#include "serve/http/access.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "serve/api/api_error.h"
#include "text/ascii.h"

namespace dts::serve {
namespace {

using namespace text;

// Empty when it is not base64.
std::string from_base64(std::string_view text) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const std::size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) return {};
    bits = (bits << 6U) | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>(static_cast<unsigned char>((bits >> static_cast<unsigned>(count)) & 0xFFU));
  }
  return out;
}

// The key of "Bearer KEY", or, for browsers, the password of "Basic ...".
std::string key_of(std::string_view authorization) {
  const std::size_t space = authorization.find(' ');
  if (space == std::string_view::npos) return {};
  const std::string scheme = lower_case(authorization.substr(0, space));
  const std::string_view credentials = authorization.substr(space + 1);
  if (scheme == "bearer") return std::string(credentials);
  if (scheme != "basic") return {};
  const std::string pair = from_base64(credentials);
  const std::size_t colon = pair.find(':');
  return colon == std::string::npos ? std::string() : pair.substr(colon + 1);
}

}  // namespace

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  // The length of a key is no secret, its contents are: all of `a` is looked at, whatever `b` is.
  volatile unsigned difference = a.size() == b.size() ? 0U : 1U;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const unsigned other = i < b.size() ? static_cast<unsigned char>(b[i]) : 0U;
    difference = difference | (static_cast<unsigned char>(a[i]) ^ other);
  }
  return difference == 0;
}

std::string_view host_name(std::string_view host) {
  if (host.starts_with('[')) {
    const std::size_t close = host.find(']');
    return close == std::string_view::npos ? std::string_view() : host.substr(1, close - 1);
  }
  return host.substr(0, host.find(':'));
}

Access::Access(AccessOptions options) : options_(std::move(options)) {
  for (std::string& host : options_.hosts) host = lower_case(host);
}

std::optional<Caller> Access::caller(const HttpRequest& request) const {
  if (keys() == 0) return Caller{};
  const std::string given = key_of(request.header("authorization"));
  // All are compared, whichever it is. The first that fits counts.
  std::optional<Caller> found;
  std::uint64_t owner = 0;
  const auto compare = [&](const std::vector<std::string>& keys, bool sees_all) {
    for (const std::string& key : keys) {
      ++owner;
      if (equal_in_constant_time(key, given) && !found) found = Caller{owner, sees_all};
    }
  };
  compare(options_.admin_keys, true);
  compare(options_.keys, options_.shared_runs);
  return found;
}

bool Access::host_allowed(const HttpRequest& request) const {
  if (options_.hosts.empty()) return true;
  const std::string name = lower_case(host_name(request.header("host")));
  return std::find(options_.hosts.begin(), options_.hosts.end(), name) != options_.hosts.end();
}

bool Access::origin_allowed(const HttpRequest& request) const {
  const std::string_view origin = request.header("origin");
  if (origin.empty()) return true;
  const std::size_t scheme = origin.find("://");
  if (scheme != std::string_view::npos && origin.substr(scheme + 3) == request.header("host")) return true;
  return std::any_of(options_.origins.begin(), options_.origins.end(),
                     [&](const std::string& allowed) { return allowed == "*" || allowed == origin; });
}

std::optional<HttpResponse> Access::refuse(const HttpRequest& request) const {
  if (!host_allowed(request)) {
    return error_response(ApiError(403, "the Host header names another host than this server", {}, "wrong_host"));
  }
  if (request.path == "/health") return std::nullopt;
  if (!caller(request)) {
    // A person who opens the page is asked by the browser, which from then on sends the password with whatever the page
    // asks for. A refused request of the page itself, or of any other client of the API, must not open that prompt.
    const char* challenge =
        request.path.starts_with("/v1/") ? "Bearer realm=\"dts\"" : "Basic realm=\"dts\", charset=\"UTF-8\"";
    HttpResponse refusal =
        error_response(ApiError(401, "an API key is needed: Authorization: Bearer KEY", {}, "invalid_api_key"));
    refusal.headers.emplace_back("WWW-Authenticate", challenge);
    return refusal;
  }
  if (!origin_allowed(request)) {
    return error_response(ApiError(403, "pages of other origins may not use this server", {}, "wrong_origin"));
  }
  return std::nullopt;
}

std::vector<std::pair<std::string, std::string>> Access::cors_headers(const HttpRequest& request) const {
  const std::string_view origin = request.header("origin");
  if (origin.empty()) return {};
  for (const std::string& allowed : options_.origins) {
    // Our own word for it, not the client's.
    if (allowed != "*" && allowed != origin) continue;
    return {{"Access-Control-Allow-Origin", allowed},
            {"Access-Control-Expose-Headers", "X-Request-Id, Retry-After"},
            {"Vary", "Origin"}};
  }
  return {};
}

bool Access::answers_preflight(const HttpRequest& request) const {
  return request.method == "OPTIONS" && !request.header("access-control-request-method").empty() &&
         !cors_headers(request).empty() && host_allowed(request);
}

}  // namespace dts::serve
