// Vectors as sums of i, j and k.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dts {

// "3i-2j" -> "(3, -2)", "2j+5k" -> "(0, 2, 5)": each of the letters at most once, with a number before it, and j or k
// among them, since 3+2i is a complex number. Nothing when it is anything else. Expects a normal form.
std::optional<std::string> tuple_of_unit_vectors(std::string_view normal);

}  // namespace dts
