// The nearest name that exists, for one that was mistyped.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dts::text {

// Edits (insert, delete, replace, swap of neighbours) that turn `a` into `b`. Time and memory grow with their product.
int edit_distance(std::string_view a, std::string_view b);

// A name that begins with the word, for it may have been cut short; else the one with the fewest typing errors between.
// Empty when nothing is near.
std::string nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace dts::text
