// The letter that a whole line is: the last one of a text, or the first.
#pragma once

#include <cstddef>
#include <string_view>

namespace dts::letters {

// `last` is the letter of the last choice. '\0' when the line is none.
char first_line_letter(std::string_view text, char last);
char last_line_letter(std::string_view text, char last);
// Of a last line that begins as options do: "B) 5 eV".
char option_of_last_line(std::string_view text, char last);
std::size_t last_line_begin(std::string_view text);

}  // namespace dts::letters
