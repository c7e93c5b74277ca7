// Whether two answers mean the same. The public half is equivalent() in dts/answer.h.
#pragma once

#include <cstddef>
#include <string_view>

namespace dts {

// Bytes that one comparison may look at, over all its attempts to match parts with parts. No two answers that people
// write come near it; where it ends, they are different.
inline constexpr std::size_t kComparisonBudget = std::size_t{1} << 18U;

// equivalent(), with the bytes it looked at taken off `budget`.
bool equivalent_within(std::string_view a, std::string_view b, std::size_t& budget);

}  // namespace dts
