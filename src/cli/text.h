// Text for people: what draw/unicode.h has, and what only the command line needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "draw/unicode.h"

namespace dts::cli {

using draw::decode_utf8;
using draw::display_width;
using draw::fit;
using draw::one_line;
using draw::printable;
using draw::shorten;

// Byte offset of the first byte that is not valid UTF-8; none when all is.
std::optional<std::size_t> find_invalid_utf8(std::string_view text);

// `text` less an unfinished character at its end: a token may end in the middle of one.
std::string_view complete_utf8(std::string_view text);

// As shorten(), keeping the end.
std::string shorten_left(std::string_view text, int width);

// Padded with spaces on the right up to `width` cells.
std::string pad(std::string_view text, int width);

// Breaks printable text into lines of at most `width` cells, at spaces where there are some.
std::vector<std::string> wrap(std::string_view text, int width);

std::string grouped(std::int64_t number);                         // 12,345,678
std::string counted(std::int64_t number, std::string_view noun);  // 1 decision, 2,000 decisions
std::string seconds(double value);                                // 0.42 s, 12.3 s, 4 min 03 s
std::string scaled(double value);                                 // 1.23 k, 45.6 M, 789 G

}  // namespace dts::cli
