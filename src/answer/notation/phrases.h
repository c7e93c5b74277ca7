// Answers in words, in one form: times, dates, numbers, domains, what there is none of.
#pragma once

#include <string>
#include <string_view>

namespace dts {

// Expects a normal form. "3:30 p.m." -> "3:30 pm", "5 June 2020" and "June 5th, 2020" -> "june 5 2020", "twelve" ->
// "12", "5 million" -> "5*10^6", "all real numbers" -> "\R", "no real solutions" -> "\emptyset", "{x|x>5}" -> "x>5",
// "101 base 2" -> "101_2", "3rd" -> "3", "3 to 4" -> "3:4", "<1, 2>" -> "(1, 2)". All else stays as it is.
std::string plain_phrase(std::string_view normal);

}  // namespace dts
