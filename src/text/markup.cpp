#include "text/markup.h"

#include <fmt/format.h>

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

std::string escape_script_string(std::string_view text) {
  std::string out = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const Character character = decode_utf8(text, at);
    at += character.size;
    const char32_t code = character.code;
    const bool plain =
        code >= 0x20 && code < 0x7F && code != '"' && code != '\\' && code != '<' && code != '>' && code != '&';
    if (plain) {
      out += static_cast<char>(code);
    } else if (code < 0x10000) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(code));
    } else {
      const auto offset = static_cast<unsigned>(code - 0x10000);
      out += fmt::format("\\u{:04x}\\u{:04x}", 0xD800U + (offset >> 10U), 0xDC00U + (offset & 0x3FFU));
    }
  }
  return out + "\"";
}

}  // namespace dts::text
