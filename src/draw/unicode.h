// UTF-8 from untrusted bytes, and the room that text takes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dts::draw {

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

// Moves the characters that `bytes` completes to the end of `text`, and leaves those it only begins.
void move_complete(std::string& bytes, std::string& text);

// `text` with U+FFFD for every byte that is not valid UTF-8.
std::string valid_utf8(std::string_view text);

// What may be shown anywhere, as lines of plain text: control characters become their pictures (ESC is U+241B); invalid
// bytes, C1 controls, noncharacters and the characters that reorder text become U+FFFD. Newlines and tabs stay.
std::string printable(std::string_view text);

// As printable(), on one line: each run of white space is one space, none at the ends.
std::string one_line(std::string_view text);

// Cells of a terminal, or of a monospaced font, that printable text takes.
int display_width(std::string_view text);
// The longest start of `text` that takes at most `width` cells.
std::string_view fit(std::string_view text, int width);
// The longest end of it.
std::string_view fit_end(std::string_view text, int width);
// As fit(), with an ellipsis in the last cell when something was cut.
std::string shorten(std::string_view text, int width);

}  // namespace dts::draw
