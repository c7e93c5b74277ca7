// Intervals, inequalities and what is left out of them, as the spans of one letter.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "answer/structure.h"

namespace dts {

// The members of a set or bare list, those with a double sign as two. Expects a normal form.
std::vector<std::string> signed_items(std::string_view text);

// Of intervals in brackets and of inequalities, in a union or with "or" between them, of points beside them, and of
// what all numbers or bounds are without some points or an interval; none when it is anything else. Expects a normal
// form.
std::vector<Span> spans_of(std::string_view text);

}  // namespace dts
