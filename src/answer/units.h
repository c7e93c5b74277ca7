// Units that follow a number without any LaTeX to tell them from variables.
#pragma once

#include <string_view>

namespace dts {

// "64 square feet", "90 degrees", "5cm^2" -> the number before. The text as it is when there is no number, or when what
// follows it is not made of units only. Units of one letter are taken for variables. Expects lower case.
std::string_view drop_units(std::string_view text);

// "m/s^2", "kg*m": nothing but units, whatever their exponents. For what is set upright, where "m" is no variable.
// Expects lower case.
bool are_unit_symbols(std::string_view text);

}  // namespace dts
