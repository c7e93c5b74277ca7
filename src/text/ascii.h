// ASCII character classes: the same in every locale, and safe for any byte.
#pragma once

#include <string>
#include <string_view>

namespace dts::text {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
constexpr char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

inline std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = to_lower(c);
  return out;
}

constexpr std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// Letters and digits only, at least one.
constexpr bool is_word(std::string_view text) {
  for (const char c : text) {
    if (!is_letter(c) && !is_digit(c)) return false;
  }
  return !text.empty();
}

}  // namespace dts::text
