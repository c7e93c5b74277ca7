#include "answer/notation/wide_forms.h"

#include <cstddef>

#include "text/utf8.h"

namespace dts {
namespace {

// Empty: it has no narrow form.
std::string_view narrow_form(char32_t code) {
  switch (code) {
    case 0x3000:
      return " ";
    case 0x3001:
      return ", ";
    case 0x3002:
      return ". ";  // the next sentence has no space of its own
    case 0x3010:
      return "[";
    case 0x3011:
      return "]";
    case 0xFF61:
      return ". ";
    case 0xFF64:
      return ", ";
    default:
      return {};
  }
}

}  // namespace

std::string narrow_forms(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    // All of them are of three bytes, which begin with E3 or EF.
    if (c != '\xE3' && c != '\xEF') {
      out += c;
      ++at;
      continue;
    }
    const text::Character character = text::decode_utf8(text, at);
    if (character.valid && character.code >= 0xFF01 && character.code <= 0xFF5E) {
      out += static_cast<char>(character.code - 0xFF01 + '!');
    } else if (const std::string_view narrow = character.valid ? narrow_form(character.code) : std::string_view();
               !narrow.empty()) {
      out += narrow;
    } else {
      out += text.substr(at, character.size);
    }
    at += character.size;
  }
  return out;
}

}  // namespace dts
