// Amounts in several units of one kind: hours and minutes, feet and inches, dollars and cents.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dts {

struct Quantity {
  std::string number;  // as canonical_values() writes it
  std::string unit;
};

// "2 hours 30 minutes", "2 hours and 30 minutes", "2 h 30 min" -> 150 minutes: all of it in the last unit. Each unit
// must be smaller than the one before and there less often than makes one of those, so that "5 feet 6 feet" and "1 in 4
// ft" are none. Expects a normal form.
std::optional<Quantity> compound_quantity(std::string_view normal);

}  // namespace dts
