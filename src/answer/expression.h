// The value of a plain mathematical expression, as latex_to_plain() and the other rewriters leave it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "answer/rational.h"

namespace dts {

struct Value {
  std::optional<Rational> exact;  // when it is rational, and so known without error
  double approximate = 0;         // may be infinite, never NaN
  bool constant = true;           // no variables in it
};

// Numbers (12, 0.5, 1.2e-3, the mixed 1 1/2), + - * / ^, products without a sign (2pi, 3(x+1)), sqrt(2), sqrt[3](2),
// pi, e, infinity, parentheses, functions with or without them (sin(x), sin 2x, sin^2 x, log_2 8; log alone is ln), and
// single letters and \\theta as variables. At each `point` the variables have other values, the same
// in every call, so that two expressions which agree at several points are the same function. Nothing when it is
// anything else, undefined there, or rational and too large to be exact. Linear time, bounded recursion.
std::optional<Value> evaluate(std::string_view expression, std::uint32_t point = 0);

// Both exact, and equal; or equal up to the rounding of doubles.
bool same_value(const Value& a, const Value& b);

}  // namespace dts
