// Arithmetic on what is known of values: each operation keeps as much as can be kept. Nothing where it is undefined.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "answer/value/expression.h"

namespace dts {

using Maybe = std::optional<Value>;

Maybe value_of(const std::optional<Rational>& rational);
Maybe value_of(Approximation number, std::optional<Residue> residue, bool constant);
Value infinite_value();
Value filled(Value value);  // with residue and number, where it is exact

Maybe add(const Maybe& a, const Maybe& b);
Maybe multiply(const Maybe& a, const Maybe& b);
Maybe divide(const Maybe& a, const Maybe& b);
Maybe negate(const Maybe& a);
Maybe raise(const Maybe& of, const Maybe& to);
Maybe take_root(const Maybe& radicand, const Maybe& degree);
Maybe factorial(const Maybe& of);
Maybe binomial(const Maybe& n, const Maybe& k);
Maybe absolute(const Maybe& of);
Maybe round_down(const Maybe& number, bool up);

// sin, cos, ..., ln, exp by name; arc functions as arcsin or asin.
bool is_function_name(std::string_view name);
Maybe apply(std::string_view function, const Maybe& of);
// gcd, lcm, min and max.
bool is_list_function_name(std::string_view name);
Maybe apply_to_list(std::string_view function, std::span<const Maybe> arguments);

}  // namespace dts
