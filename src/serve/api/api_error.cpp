#include "serve/api/api_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "serve/api/option_fields.h"
#include "text/ascii.h"
#include "text/display.h"
#include "text/utf8.h"

namespace dts::serve {
namespace {

using namespace text;

// In cells. Our own longest lists what a field may be.
constexpr int kLongestMessage = 600;
constexpr int kLongestParam = 100;

std::string_view type_of(int status) {
  switch (status) {
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 404:
      return "not_found_error";
    case 429:
      return "rate_limit_error";
    case 503:
      return "service_unavailable_error";
    default:
      return status >= 500 ? "server_error" : "invalid_request_error";
  }
}

}  // namespace

ApiError::ApiError(int status, const std::string& message, const std::string& param, std::string code)
    : std::runtime_error(text::shorten(message, kLongestMessage)),
      status_(status),
      param_(text::shorten(param, kLongestParam)),
      code_(std::move(code)) {}

ApiError api_error(const Error& error) {
  const std::string message = text::one_line(error.spelled(field_name));
  if (!error.field()) return {400, message, "dts", "invalid_value"};
  const bool missing = error.field()->value.empty();
  return {400, message, field_name(error.field()->name), missing ? "missing_field" : "invalid_value"};
}

std::string error_json(int status, std::string_view message, std::string_view param, std::string_view code) {
  const auto or_null = [](std::string_view text) {
    return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text::valid_utf8(text));
  };
  nlohmann::ordered_json error;
  error["message"] = text::valid_utf8(message);
  error["type"] = type_of(status);
  error["param"] = or_null(param);
  error["code"] = or_null(code);
  return nlohmann::ordered_json{{"error", std::move(error)}}.dump();
}

HttpResponse error_response(const ApiError& error) {
  HttpResponse response;
  response.status = error.status();
  response.body = error_json(error.status(), error.what(), error.param(), error.code());
  response.headers = error.headers();
  const auto told = [](const auto& header) { return header.first == "Retry-After"; };
  const bool later = error.status() == 429 || error.status() == 503;
  if (later && std::none_of(response.headers.begin(), response.headers.end(), told)) {
    response.headers.emplace_back("Retry-After", "2");  // where nothing better is known
  }
  return response;
}

void require_method(const HttpRequest& request, std::initializer_list<std::string_view> methods) {
  const auto has = [&](std::string_view method) {
    return std::find(methods.begin(), methods.end(), method) != methods.end();
  };
  if (has(request.method) || (request.method == "HEAD" && has("GET"))) return;
  std::string list;
  for (const std::string_view method : methods) {
    list += (list.empty() ? "" : ", ") + std::string(method);
    if (method == "GET") list += ", HEAD";
  }
  throw ApiError(405, fmt::format("this path takes {}", list), {}, "method_not_allowed").with_header("Allow", list);
}

void require_json(const HttpRequest& request) {
  const std::string_view type = request.header("content-type");
  if (text::lower_case(text::trim(type.substr(0, type.find(';')))) == "application/json") return;
  throw ApiError(415, "the body must be JSON: Content-Type: application/json", {}, "unsupported_media_type");
}

}  // namespace dts::serve
