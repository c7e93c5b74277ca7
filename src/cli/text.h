// Text for people: what draw/ has, and what only the command line needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "draw/numbers.h"
#include "draw/unicode.h"

namespace dts::cli {

using draw::decode_utf8;
using draw::display_width;
using draw::fit;
using draw::grouped;
using draw::one_line;
using draw::printable;
using draw::scaled;
using draw::seconds;
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

std::string counted(std::int64_t number, std::string_view noun);  // 1 decision, 2,000 decisions

}  // namespace dts::cli
