// Units that follow a number without any LaTeX to tell them from variables.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "answer/value/rational.h"

namespace dts {

// "64 square feet", "90 degrees", "5cm^2" -> the number before. The text as it is when there is no number, or when what
// follows it is not made of units only. Units of one letter are taken for variables. Expects lower case.
std::string_view drop_units(std::string_view text);

// "m/s^2", "kg*m": nothing but units, whatever their exponents. For what is set upright, where "m" is no variable.
// Expects lower case.
bool are_unit_symbols(std::string_view text);

// "or 6", "June", "million", "except 2": what stands after a number and is no unit of it, or too long to be one.
bool changes_meaning(std::string_view unit);

// What a unit measures, and how many of the smallest of its kind it is. Words that are not known measure themselves;
// "units" measures nothing.
struct Unit {
  std::vector<std::pair<std::string, int>> dimensions;  // with their powers, sorted
  std::optional<Rational> factor = Rational::make(1);
};
Unit read_unit(std::string_view text);

}  // namespace dts
