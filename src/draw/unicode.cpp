#include "draw/unicode.h"

#include <algorithm>
#include <array>

namespace dts::draw {
namespace {

bool is_space(char32_t code) { return code == ' ' || (code >= '\t' && code <= '\r'); }

// Characters that move or hide what stands around them.
bool reorders(char32_t code) {
  return (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) || code == 0x200E || code == 0x200F ||
         code == 0x061C || code == 0x2028 || code == 0x2029 || code == 0xFEFF;
}

bool is_noncharacter(char32_t code) { return (code & 0xFFFEU) == 0xFFFE || (code >= 0xFDD0 && code <= 0xFDEF); }

struct Range {
  char32_t first, last;
};

// Close enough to Unicode's East Asian Width and general categories to lay labels out.
constexpr std::array<Range, 12> kWide = {{{0x1100, 0x115F},
                                          {0x2E80, 0x303E},
                                          {0x3041, 0xA4CF},
                                          {0xA960, 0xA97C},
                                          {0xAC00, 0xD7A3},
                                          {0xF900, 0xFAFF},
                                          {0xFE30, 0xFE6F},
                                          {0xFF00, 0xFF60},
                                          {0xFFE0, 0xFFE6},
                                          {0x1F300, 0x1F64F},
                                          {0x1F680, 0x1FAFF},
                                          {0x20000, 0x3FFFD}}};
constexpr std::array<Range, 9> kZero = {{{0x0300, 0x036F},
                                         {0x0483, 0x0489},
                                         {0x0591, 0x05BD},
                                         {0x064B, 0x065F},
                                         {0x200B, 0x200D},
                                         {0x20D0, 0x20F0},
                                         {0xFE00, 0xFE0F},
                                         {0xFE20, 0xFE2F},
                                         {0xE0100, 0xE01EF}}};

template <std::size_t n>
bool within(const std::array<Range, n>& ranges, char32_t code) {
  return std::any_of(ranges.begin(), ranges.end(), [code](Range r) { return code >= r.first && code <= r.last; });
}

int cells(char32_t code) {
  if (code < 0x300) return 1;
  if (within(kZero, code)) return 0;
  return within(kWide, code) ? 2 : 1;
}

}  // namespace

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

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Character character = decode_utf8(text, at);
    const char32_t code = character.code;
    if (code == '\n' || code == '\t') {
      append_utf8(out, code);
    } else if (code == '\r' && at + 1 < text.size() && text[at + 1] == '\n') {
      // A line end of two characters: the newline is enough.
    } else if (code < 0x20) {
      append_utf8(out, 0x2400 + code);
    } else if (code == 0x7F) {
      append_utf8(out, 0x2421);
    } else if ((code >= 0x80 && code < 0xA0) || reorders(code) || is_noncharacter(code)) {
      append_utf8(out, kReplacement);
    } else {
      append_utf8(out, code);
    }
    at += character.size;
  }
  return out;
}

std::string one_line(std::string_view text) {
  std::string out;
  bool space = false;
  for (const char c : text) {
    if (is_space(static_cast<unsigned char>(c))) {
      space = true;
      continue;
    }
    if (space && !out.empty()) out += ' ';
    space = false;
    out += c;
  }
  return printable(out);
}

int display_width(std::string_view text) {
  int width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Character character = decode_utf8(text, at);
    width += cells(character.code);
    at += character.size;
  }
  return width;
}

std::string_view fit(std::string_view text, int width) {
  for (std::size_t at = 0; at < text.size();) {
    const Character character = decode_utf8(text, at);
    width -= cells(character.code);
    if (width < 0) return text.substr(0, at);
    at += character.size;
  }
  return text;
}

std::string_view fit_end(std::string_view text, int width) {
  int excess = display_width(text) - width;
  std::size_t at = 0;
  while (at < text.size() && excess > 0) {
    const Character character = decode_utf8(text, at);
    excess -= cells(character.code);
    at += character.size;
  }
  return text.substr(at);
}

std::string shorten(std::string_view text, int width) {
  const std::string_view whole = fit(text, width);
  if (whole.size() == text.size()) return std::string(text);
  if (width < 1) return {};
  std::string_view start = fit(text, width - 1);
  while (!start.empty() && start.back() == ' ') start.remove_suffix(1);
  return std::string(start) + "…";
}

}  // namespace dts::draw
