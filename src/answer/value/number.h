// Plain numbers, written one way.
#pragma once

#include <string>
#include <string_view>

namespace dts {

// Digits with an optional sign, thousands separators and decimals, and nothing else: "-1,234.50".
bool is_number(std::string_view text);

// Rewrites each number in `text`: no thousands separators, leading zeros or trailing decimal zeros (1,234.50 -> 1234.5,
// .5 -> 0.5). Commas that separate the members of a list are followed by one space, which is what tells "1, 200" from
// "1,200" ever after; within brackets every comma separates. Digits that belong to a word, a time or a version stay.
std::string rewrite_numbers(std::string_view text);

}  // namespace dts
