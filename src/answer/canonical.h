// One text for each value, so that votes can be counted by comparing strings.
#pragma once

#include <string>
#include <string_view>

namespace dts {

// Rewrites a plain expression that has an exact value: 1/2 and 0.50 -> 0.5, 2/6 -> 1/3, 3*10^5 -> 300000; also within
// lists, tuples, intervals and sets. Sets lose their order and their repetitions; lists of numbers without brackets
// lose their order. All else stays as it is. Rewriting twice changes nothing more.
std::string canonical_values(std::string_view plain);

}  // namespace dts
