// What an equation says: which of its sides is a name, and which the value.
#pragma once

#include <optional>
#include <string_view>

#include "answer/structure.h"

namespace dts {

// A number, or a formula without letters. Expects a normal form, as all that follows.
bool is_constant(std::string_view text);

// Letters, with indices, added or multiplied or in brackets: x, m+n, f(x), (x, y), x_1, [ABC]. A number is in it only
// where something is counted or a function taken there: a_5, f(2), f^(-1)(2). What has to be solved first is none:
// sqrt(x), -x.
bool is_symbols(std::string_view text);

// What an equation gives a value to: a name, a sum that is only hinted at, 1+2+...+10, or one that is only written
// down, \sum_(i=1)^3 a_i.
bool is_named(std::string_view side);

// a^-1, a^(-1), a^t, a^2 before a table: what is computed of a matrix, beside the one that it is.
bool is_matrix_of(std::string_view name, std::string_view value);

// 5 of x=5, m+n=5, f(2)=5 and 5=x: of an equation that gives something a value. x^2+y^2=1 does not say 1.
std::optional<std::string_view> stated_value(const Relation& relation);

}  // namespace dts
