#include "text/markup.h"

#include <fmt/format.h>

#include <cstddef>
#include <iterator>

#include "text/display.h"
#include "text/utf8.h"

namespace dts::text {

std::string escape_markup(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string escape_script_json(std::string_view json) {
  // What is escaped can only be part of a string: JSON has it nowhere else.
  std::string out;
  out.reserve(json.size() + json.size() / 16);
  const auto escape = [&out](unsigned unit) { fmt::format_to(std::back_inserter(out), "\\u{:04x}", unit); };
  for (std::size_t at = 0; at < json.size();) {
    const char c = json[at];
    if (c > 0 && c < 0x7F && c != '<' && c != '>' && c != '&') {
      out += c;
      ++at;
      continue;
    }
    const Character character = decode_utf8(json, at);
    at += character.size;
    const auto code = static_cast<unsigned>(character.code);
    if (code < 0x10000) {
      escape(code);
    } else {
      escape(0xD800U + ((code - 0x10000U) >> 10U));
      escape(0xDC00U + ((code - 0x10000U) & 0x3FFU));
    }
  }
  return out;
}

}  // namespace dts::text
