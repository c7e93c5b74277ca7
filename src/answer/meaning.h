// What an answer means beyond its normal form: without remarks, steps and other ways to write the same.
#pragma once

#include <string>
#include <string_view>

#include "answer/reading.h"

namespace dts {

// Phrases, domains, transposed columns and chains of equations in one form; the word after a number as its unit.
Reading meaning_of(std::string_view answer);

// (x, y)=(1, 2) as x=1, y=2.
std::string without_tuple_of_names(std::string_view core);

// The 5 of AB=5; the text itself where it names nothing.
std::string_view value_in(std::string_view core);

}  // namespace dts
