#include "answer/units.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "answer/expression.h"
#include "text/ascii.h"

namespace dts {
namespace {

using namespace text;

constexpr std::size_t kMaxBytes = 256;  // of number and units: more is prose

constexpr std::array<std::string_view, 80> kUnits = {
    "acres",  "amps",      "cent",      "centimeter", "centimeters", "centimetres", "cents",   "cm",      "coulombs",
    "cubic",  "day",       "days",      "deg",        "degree",      "degrees",     "dollar",  "dollars", "euro",
    "euros",  "feet",      "foot",      "ft",         "gallon",      "gallons",     "gram",    "grams",   "hour",
    "hours",  "hr",        "hrs",       "hz",         "in",          "inch",        "inches",  "joules",  "kelvin",
    "kg",     "kilograms", "kilometer", "kilometers", "kilometres",  "km",          "kph",     "lbs",     "liter",
    "liters", "litres",    "meter",     "meters",     "metres",      "mg",          "mile",    "miles",   "min",
    "minute", "minutes",   "ml",        "mm",         "month",       "months",      "mph",     "ounces",  "oz",
    "per",    "percent",   "points",    "pounds",     "radians",     "second",      "seconds", "sq",      "square",
    "unit",   "units",     "week",      "weeks",      "yard",        "yards",       "year",    "years"};

bool is_unit(std::string_view word) { return std::binary_search(kUnits.begin(), kUnits.end(), word); }

// Takes the unit at the end of the text off, with its exponent: "5 cm^2" -> "5".
bool drop_unit(std::string_view& text) {
  std::string_view rest = trim(text);
  if (rest.ends_with("^2") || rest.ends_with("^3")) rest = trim(rest.substr(0, rest.size() - 2));
  std::size_t begin = rest.size();
  while (begin > 0 && is_letter(rest[begin - 1])) --begin;
  const std::string_view word = rest.substr(begin);
  const bool per = begin > 0 && rest[begin - 1] == '/';
  if (!is_unit(word) && !(per && (word == "h" || word == "s"))) return false;
  rest = trim(rest.substr(0, begin));
  if (rest.ends_with('/')) rest = trim(rest.substr(0, rest.size() - 1));
  text = rest;
  return true;
}

// Symbols that would be variables if they were not set upright.
constexpr std::array<std::string_view, 28> kSymbols = {
    "a", "atm", "c",   "db",  "ev", "g", "h",  "j",  "k",   "kev", "khz", "kj", "kn", "l",
    "m", "mev", "mhz", "mol", "ms", "n", "nm", "pa", "rad", "rpm", "s",   "t",  "v",  "w"};

}  // namespace

bool are_unit_symbols(std::string_view text) {
  bool any = false;
  while (!text.empty()) {
    std::size_t end = 0;
    while (end < text.size() && is_letter(text[end])) ++end;
    if (end == 0) {
      text.remove_prefix(1);
      continue;
    }
    const std::string_view word = text.substr(0, end);
    if (!is_unit(word) && !std::binary_search(kSymbols.begin(), kSymbols.end(), word)) return false;
    any = true;
    text.remove_prefix(end);
  }
  return any;
}

std::string_view drop_units(std::string_view text) {
  if (text.empty() || text.size() > kMaxBytes || !(is_letter(text.back()) || is_digit(text.back()))) return text;
  std::string_view number = text;
  bool any = false;
  while (drop_unit(number)) any = true;
  if (!any || number.empty()) return text;
  const std::optional<Value> value = evaluate(number);
  return value && value->constant ? number : text;
}

}  // namespace dts
