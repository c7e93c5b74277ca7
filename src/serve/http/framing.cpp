#include "serve/http/framing.h"

#include <algorithm>

#include "text/ascii.h"

namespace dts::serve {

using namespace text;

std::string framing_fault(const HttpRequest& head, unsigned version) {
  const auto count = [&](std::string_view name) {
    return std::count_if(head.headers.begin(), head.headers.end(), [&](const auto& h) { return h.first == name; });
  };
  const auto lengths = count("content-length");
  const auto encodings = count("transfer-encoding");
  if (encodings > 0) {
    if (version < 11) return "Transfer-Encoding needs HTTP/1.1";
    if (lengths > 0) return "a request has either Content-Length or Transfer-Encoding";
    if (encodings > 1 || lower_case(trim(head.header("transfer-encoding"))) != "chunked") {
      return "Transfer-Encoding must be chunked";
    }
  }
  if (lengths > 1) return "a request has one Content-Length";
  const std::string_view length = trim(head.header("content-length"));
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (lengths == 1 && (length.empty() || !std::all_of(length.begin(), length.end(), digit))) {
    return "Content-Length must be a whole number";
  }
  return {};
}

}  // namespace dts::serve
