#include "answer/notation/wide_forms.h"

#include <cstddef>

#include "text/utf8.h"

namespace dts {
namespace {

// Empty: it has no narrow form.
std::string_view narrow_form(char32_t code) {
  switch (code) {
    case 0x060C:
      return ", ";
    case 0x066B:
      return ".";
    case 0x0964:
      return ". ";
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

// Arabic, Persian, Devanagari, Bengali and Thai digits; '\0' for all else.
char digit_of_script(char32_t code) {
  for (const char32_t zero : {0x0660U, 0x06F0U, 0x0966U, 0x09E6U, 0x0E50U}) {
    if (code >= zero && code < zero + 10) return static_cast<char>('0' + (code - zero));
  }
  return '\0';
}

}  // namespace

std::string narrow_forms(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    // All of them begin with D8 to DB, E0, E3 or EF.
    const bool may_be = (c >= '\xD8' && c <= '\xDB') || c == '\xE0' || c == '\xE3' || c == '\xEF';
    if (!may_be) {
      out += c;
      ++at;
      continue;
    }
    const text::Character character = text::decode_utf8(text, at);
    if (character.valid && character.code >= 0xFF01 && character.code <= 0xFF5E) {
      out += static_cast<char>(character.code - 0xFF01 + '!');
    } else if (const char digit = character.valid ? digit_of_script(character.code) : '\0'; digit != '\0') {
      out += digit;
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
