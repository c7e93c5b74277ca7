// The value of a plain mathematical expression, as latex_to_plain() and the other rewriters leave it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "answer/value/double_double.h"
#include "answer/value/rational.h"
#include "answer/value/residue.h"

namespace dts {

// A complex number and how far off it may be.
struct Approximation {
  DoubleDouble re;
  DoubleDouble im;
  double error = 0;  // absolute
};

// As much as is known of it; at least one of the three is there.
struct Value {
  std::optional<Rational> exact;        // when it is rational, and not too large; the others may then be missing
  std::optional<Residue> residue;       // when it is made of rationals, letters, i and square roots of rationals
  std::optional<Approximation> number;  // when it fits a double; infinite values have nothing else
  bool constant = true;                 // no variables in it
  bool rational = false;                // it is, though `exact` cannot hold it

  double approximate() const;  // its real part, for sorting
  bool is_infinite() const;
};

// At the first kRealPoints points letters stand for real numbers: positive ones of several sizes first, then of either
// sign, so that of any two letters each is negative once where the other is not; at the rest for whole numbers, where
// factorials and powers of -1 have values.
inline constexpr std::uint32_t kPositivePoints = 4;
inline constexpr std::uint32_t kSignedPoints = 7;
inline constexpr std::uint32_t kRealPoints = kPositivePoints + kSignedPoints;
inline constexpr std::uint32_t kPoints = kRealPoints + 8;

// Numbers (12, 0.5, 1.2e-3, 0.1(6), the mixed 1 1/2), + - * / ^ !, products without a sign (2pi, 3(x+1)), sqrt(2),
// sqrt[3](2), pi, e, i, infinity, parentheses, |x|, functions with or without them (sin(x), sin 2x, sin^2 x, log_2 8;
// log alone is ln, lg to base 10; floor, ceil, binom(n, k), gcd, lcm, min, max), and letters, with indices (x_1), and
// \\theta as variables; f(2x) and g(x) are functions of which nothing is known. "deg" is pi/180. At each `point` the
// variables have other values, the same in every call, so that two expressions which agree at several points are the
// same function. Nothing when it is anything else, or undefined there. Linear time, bounded recursion.
std::optional<Value> evaluate(std::string_view expression, std::uint32_t point = 0);

// Rationals and residues exactly; what is neither, to all the digits that are known (about 25).
bool same_value(const Value& one, const Value& other);

// The same number, or the same function of the same letters as far as the points can tell. Where a root or logarithm is
// defined on one side only, that point does not count.
bool same_function(std::string_view a, std::string_view b);

}  // namespace dts
