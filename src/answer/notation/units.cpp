#include "answer/notation/units.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "answer/value/expression.h"
#include "text/ascii.h"

namespace dts {
namespace {

using namespace text;

constexpr std::size_t kMaxBytes = 256;  // of number and units: more is prose
constexpr std::size_t kMaxWords = 3;    // of a unit

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

// Words after a number that are no unit of it: they join, scale or date it.
constexpr std::array<std::string_view, 114> kMeaning = {
    "ad",          "all",       "am",          "and",          "apr",        "april",       "are",       "at",
    "aug",         "august",    "base",        "bc",           "bce",        "below",       "billion",   "billions",
    "billionths",  "binary",    "but",         "ce",           "crore",      "dec",         "december",  "dozen",
    "dozens",      "each",      "eighth",      "eighths",      "elevenths",  "except",      "factorial", "feb",
    "february",    "fewer",     "fifth",       "fifths",       "for",        "fourth",      "fourths",   "friday",
    "gross",       "half",      "halves",      "hexadecimal",  "hundred",    "hundreds",    "hundredth", "hundredths",
    "if",          "is",        "jan",         "january",      "jul",        "july",        "jun",       "june",
    "lakh",        "least",     "less",        "mar",          "march",      "may",         "million",   "millions",
    "millionths",  "mod",       "modulo",      "monday",       "more",       "most",        "ninth",     "ninths",
    "no",          "not",       "nov",         "november",     "oclock",     "oct",         "octal",     "october",
    "or",          "pm",        "quadrillion", "quadrillions", "quarter",    "quintillion", "saturday",  "score",
    "sep",         "september", "seventh",     "sevenths",     "sixteenths", "sixth",       "sixths",    "sunday",
    "tenth",       "tenths",    "than",        "third",        "thirds",     "thousand",    "thousands", "thousandth",
    "thousandths", "thursday",  "to",          "trillion",     "trillions",  "tuesday",     "twelfth",   "twelfths",
    "twentieths",  "wednesday"};

bool is_unit(std::string_view word) { return std::binary_search(kUnits.begin(), kUnits.end(), word); }

// Takes the unit at the end of the text off, with its exponent: "5 cm^2" -> "5".
bool drop_unit(std::string_view& text) {
  std::string_view rest = trim(text);
  if (rest.ends_with("^2") || rest.ends_with("^3")) rest = trim(rest.substr(0, rest.size() - 2));
  std::size_t begin = rest.size();
  while (begin > 0 && is_letter(rest[begin - 1])) --begin;
  const std::string_view word = rest.substr(begin);
  // sin 30 degrees is a number, not an angle.
  const bool angle = word.starts_with("deg");
  for (const std::string_view function : {"sin", "cos", "tan", "cot", "sec", "csc", "cis"}) {
    if (angle && rest.substr(0, begin).find(function) != std::string_view::npos) return false;
  }
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

struct Known {
  std::string_view name;
  std::string_view dimension;
  Int128 numerator;  // of the factor to the dimension's base
  Int128 denominator;
};

constexpr std::array kKnown = {
    Known{"m", "length", 1, 1},
    Known{"meter", "length", 1, 1},
    Known{"metre", "length", 1, 1},
    Known{"cm", "length", 1, 100},
    Known{"centimeter", "length", 1, 100},
    Known{"centimetre", "length", 1, 100},
    Known{"mm", "length", 1, 1000},
    Known{"millimeter", "length", 1, 1000},
    Known{"nm", "length", 1, 1000000000},
    Known{"km", "length", 1000, 1},
    Known{"kilometer", "length", 1000, 1},
    Known{"kilometre", "length", 1000, 1},
    Known{"in", "length", 254, 10000},
    Known{"inch", "length", 254, 10000},
    Known{"inche", "length", 254, 10000},
    Known{"ft", "length", 3048, 10000},
    Known{"foot", "length", 3048, 10000},
    Known{"feet", "length", 3048, 10000},
    Known{"yard", "length", 9144, 10000},
    Known{"yd", "length", 9144, 10000},
    Known{"mi", "length", 1609344, 1000},
    Known{"mile", "length", 1609344, 1000},
    Known{"g", "mass", 1, 1},
    Known{"gram", "mass", 1, 1},
    Known{"mg", "mass", 1, 1000},
    Known{"kg", "mass", 1000, 1},
    Known{"kilogram", "mass", 1000, 1},
    Known{"lb", "weight", 16, 1},
    Known{"pound", "weight", 16, 1},
    Known{"oz", "weight", 1, 1},
    Known{"ounce", "weight", 1, 1},
    Known{"s", "time", 1, 1},
    Known{"sec", "time", 1, 1},
    Known{"second", "time", 1, 1},
    Known{"ms", "time", 1, 1000},
    Known{"min", "time", 60, 1},
    Known{"minute", "time", 60, 1},
    Known{"h", "time", 3600, 1},
    Known{"hr", "time", 3600, 1},
    Known{"hour", "time", 3600, 1},
    Known{"day", "time", 86400, 1},
    Known{"week", "time", 604800, 1},
    Known{"month", "months", 1, 1},
    Known{"year", "months", 12, 1},
    Known{"l", "volume", 1, 1},
    Known{"liter", "volume", 1, 1},
    Known{"litre", "volume", 1, 1},
    Known{"ml", "volume", 1, 1000},
    Known{"gallon", "gallons", 1, 1},
    Known{"dollar", "dollars", 100, 1},
    Known{"usd", "dollars", 100, 1},
    Known{"cent", "dollars", 1, 1},
    Known{"euro", "euros", 1, 1},
    Known{"deg", "degrees", 1, 1},
    Known{"degree", "degrees", 1, 1},
    Known{"rad", "radians", 1, 1},
    Known{"radian", "radians", 1, 1},
    Known{"n", "newtons", 1, 1},
    Known{"newton", "newtons", 1, 1},
    Known{"j", "joules", 1, 1},
    Known{"joule", "joules", 1, 1},
    Known{"kj", "joules", 1000, 1},
    Known{"w", "watts", 1, 1},
    Known{"watt", "watts", 1, 1},
    Known{"v", "volts", 1, 1},
    Known{"volt", "volts", 1, 1},
    Known{"hz", "hertz", 1, 1},
    Known{"khz", "hertz", 1000, 1},
    Known{"mhz", "hertz", 1000000, 1},
    Known{"kelvin", "kelvins", 1, 1},
    Known{"ev", "electronvolts", 1, 1},
    Known{"kev", "electronvolts", 1000, 1},
    Known{"mev", "electronvolts", 1000000, 1},
    Known{"mol", "moles", 1, 1},
    Known{"pa", "pascals", 1, 1},
};

std::string_view singular(std::string_view word) {
  if (word.size() > 2 && word.ends_with('s') && !word.ends_with("ss")) word.remove_suffix(1);
  return word;
}

const Known* known_unit(std::string_view word) {
  for (const std::string_view name : {word, singular(word)}) {
    const auto found = std::find_if(kKnown.begin(), kKnown.end(), [&](const Known& one) { return one.name == name; });
    if (found != kKnown.end()) return &*found;
  }
  return nullptr;
}

bool says_nothing(std::string_view word) {
  return word == "unit" || word == "units" || word == "point" || word == "points" || word == "u" || word == "of" ||
         word == "the" || word == "a" || word == "total" || word == "th" || word == "st" || word == "nd" ||
         word == "rd";
}

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

bool changes_meaning(std::string_view unit) {
  std::string letters;
  for (const char c : unit.substr(0, 8)) {
    if (is_letter(c)) letters += c;
  }
  if (letters == "am" || letters == "pm") return true;
  // "5 squared", not "5 meters squared".
  const std::string_view first = unit.substr(0, unit.find_first_of(" ^/"));
  if (first == "squared" || first == "cubed") return true;
  std::size_t words = 0;
  while (!unit.empty()) {
    std::size_t end = 0;
    while (end < unit.size() && is_letter(unit[end])) ++end;
    if (end > 0 && std::find(kMeaning.begin(), kMeaning.end(), unit.substr(0, end)) != kMeaning.end()) return true;
    if (end > 0 && ++words > kMaxWords) return true;
    unit.remove_prefix(std::max<std::size_t>(end, 1));
  }
  return false;
}

Unit read_unit(std::string_view text) {
  Unit unit;
  int sign = 1;
  int exponent = 1;
  bool pending = false;  // a square or cubic waits for its unit
  while (!text.empty()) {
    std::size_t end = 0;
    while (end < text.size() && is_letter(text[end])) ++end;
    if (end == 0) {
      if (text.front() == '/') sign = -1;
      text.remove_prefix(1);
      continue;
    }
    std::string_view word = text.substr(0, end);
    text.remove_prefix(end);
    if (word == "per") {
      sign = -1;
      continue;
    }
    if (word == "square" || word == "sq" || word == "cubic" || word == "squared" || word == "cubed") {
      exponent = word.starts_with('c') ? 3 : 2;
      pending = true;
      if (word != "squared" && word != "cubed") continue;
      // Behind its unit.
      if (!unit.dimensions.empty()) unit.dimensions.back().second *= exponent;
      if (!unit.dimensions.empty())
        unit.factor = unit.factor ? unit.factor->power(*Rational::make(exponent)) : std::nullopt;
      exponent = 1;
      pending = false;
      continue;
    }
    if (word == "mph" || word == "kph" || word == "kmh") {
      const Known* length = known_unit(word == "mph" ? "mile" : "km");
      const auto factor = Rational::make(length->numerator, length->denominator * 3600);
      unit.dimensions.emplace_back("length", 1);
      unit.dimensions.emplace_back("time", -1);
      unit.factor = unit.factor && factor ? *unit.factor * *factor : std::nullopt;
      continue;
    }
    if (says_nothing(word)) continue;
    int power = sign * exponent;
    exponent = 1;
    pending = false;
    std::string_view rest = trim(text);
    if (rest.starts_with("^(")) rest.remove_prefix(2);
    if (rest.starts_with('^')) rest.remove_prefix(1);
    bool negative = false;
    if (rest.size() < trim(text).size() && rest.starts_with('-')) {
      negative = true;
      rest.remove_prefix(1);
    }
    if (rest.size() < trim(text).size() && !rest.empty() && is_digit(rest.front())) {
      power *= (rest.front() - '0') * (negative ? -1 : 1);
      text = rest.substr(1);
    }
    if (const Known* known = known_unit(word)) {
      const auto base = Rational::make(known->numerator, known->denominator);
      const auto factor = base->power(*Rational::make(power));
      unit.factor = unit.factor && factor ? *unit.factor * *factor : std::nullopt;
      unit.dimensions.emplace_back(known->dimension, power);
    } else {
      unit.dimensions.emplace_back(singular(word), power);
    }
  }
  if (pending) return unit;
  // Of one dimension once, in one order.
  std::sort(unit.dimensions.begin(), unit.dimensions.end());
  std::vector<std::pair<std::string, int>> merged;
  for (auto& [name, power] : unit.dimensions) {
    if (!merged.empty() && merged.back().first == name) {
      merged.back().second += power;
    } else {
      merged.emplace_back(name, power);
    }
  }
  std::erase_if(merged, [](const auto& one) { return one.second == 0; });
  unit.dimensions = std::move(merged);
  return unit;
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
