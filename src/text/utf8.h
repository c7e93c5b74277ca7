// UTF-8 from untrusted bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace dts::text {

inline constexpr char32_t kReplacement = 0xFFFD;

// One decoded character.
struct Character {
  char32_t code = kReplacement;  // U+FFFD when the bytes are not valid
  std::size_t size = 1;          // bytes taken, >= 1
  bool valid = false;
  bool truncated = false;  // not valid, but the text ended before that was certain
};

// The character at `offset` < text.size(). Overlong forms, surrogates and values above U+10FFFF are invalid.
Character decode_utf8(std::string_view text, std::size_t offset);
void append_utf8(std::string& out, char32_t code);

// Byte offset of the first byte that is not valid UTF-8; none when all is.
std::optional<std::size_t> find_invalid_utf8(std::string_view text);
inline bool is_valid_utf8(std::string_view text) { return !find_invalid_utf8(text); }

// `text` with U+FFFD for every byte that is not valid UTF-8.
std::string valid_utf8(std::string_view text);

// `text` less an unfinished character at its end: a token may end in the middle of one.
std::string_view complete_utf8(std::string_view text);

// Moves the characters that `bytes` completes to the end of `text`, and leaves those it only begins.
void move_complete(std::string& bytes, std::string& text);

}  // namespace dts::text
