#include "text/utf8.h"

#include <algorithm>

namespace dts::text {

Character decode_utf8(std::string_view text, std::size_t offset) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[offset + i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1, true, false};
  std::size_t size = 0;
  char32_t code = 0;
  if (first >= 0xC2 && first <= 0xDF) {
    size = 2, code = first & 0x1FU;
  } else if (first >= 0xE0 && first <= 0xEF) {
    size = 3, code = first & 0x0FU;
  } else if (first >= 0xF0 && first <= 0xF4) {
    size = 4, code = first & 0x07U;
  } else {
    return {};
  }
  for (std::size_t i = 1; i < size; ++i) {
    if (offset + i == text.size()) return {kReplacement, 1, false, true};
    const unsigned char next = byte(i);
    // The second byte alone tells overlong forms, surrogates and values beyond Unicode.
    const bool second_bad = i == 1 && ((first == 0xE0 && next < 0xA0) || (first == 0xED && next >= 0xA0) ||
                                       (first == 0xF0 && next < 0x90) || (first == 0xF4 && next >= 0x90));
    if ((next & 0xC0U) != 0x80U || second_bad) return {};
    code = (code << 6U) | (next & 0x3FU);
  }
  return {code, size, true, false};
}

void append_utf8(std::string& out, char32_t code) {
  const auto byte = [&](char32_t value) { out.push_back(static_cast<char>(static_cast<unsigned char>(value))); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xC0U | (code >> 6U));
    byte(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    byte(0xE0U | (code >> 12U));
    byte(0x80U | ((code >> 6U) & 0x3FU));
    byte(0x80U | (code & 0x3FU));
  } else {
    byte(0xF0U | (code >> 18U));
    byte(0x80U | ((code >> 12U) & 0x3FU));
    byte(0x80U | ((code >> 6U) & 0x3FU));
    byte(0x80U | (code & 0x3FU));
  }
}

void move_complete(std::string& bytes, std::string& text) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    const Character character = decode_utf8(bytes, at);
    if (character.truncated) break;
    append_utf8(text, character.code);
    at += character.size;
  }
  bytes.erase(0, at);
}

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Character character = decode_utf8(text, at);
    append_utf8(out, character.code);
    at += character.size;
  }
  return out;
}

std::optional<std::size_t> find_invalid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Character character = decode_utf8(text, at);
    if (!character.valid) return at;
    at += character.size;
  }
  return std::nullopt;
}

std::string_view complete_utf8(std::string_view text) {
  // A character's first byte is at most three before its last.
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
    const std::size_t at = text.size() - back;
    if (decode_utf8(text, at).truncated) return text.substr(0, at);
  }
  return text;
}

}  // namespace dts::text
