// What stands beside a letter and makes it no single choice.
#pragma once

#include <string_view>

namespace dts::letters {

// Of what stands before a letter: it is the name of something else, "vitamin C", "ring A".
bool is_name_of_thing(std::string_view before);
// Of a letter in brackets: it is short for the word before, and speaks of a thing: "carbon (C) atoms".
bool is_abbreviation(char letter, std::string_view before, std::string_view after);
// Another letter stands right before it: "A and C", "A, C", "A\u2013C".
bool is_joined(std::string_view before, char last);
// It is the last of several letters of which the same is said: "A and C are", "both A and C", "A\u2013D", "A, B or C".
bool is_one_of_several(std::string_view before, std::string_view after, char last);

}  // namespace dts::letters
