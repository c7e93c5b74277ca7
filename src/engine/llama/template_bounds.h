// How large the values of a chat template may grow, and the built-in functions with a look at that before they run.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/llama/jinja.h"

namespace dts {

// A value as it would be written out: what several places share counts in each of them.
struct [[gnu::visibility("hidden")]] Extent {
  int depth = 0;          // of lists and objects in each other; a string has 0
  std::size_t nodes = 0;  // values in it, itself included
  std::size_t bytes = 0;  // of its strings
};

// Looks no further than the bounds. Throws std::runtime_error when the value is beyond them, as one that holds itself
// is.
[[gnu::visibility("hidden")]] Extent measure(const jinja::value& value);

// Throws std::runtime_error when a string of that many bytes is more than a template may make.
[[gnu::visibility("hidden")]] void check_bytes(double bytes);

// Wraps every built-in function there is: its arguments are measured, and what it would make of them is estimated.
// Without a TemplateBudget in the thread they are as they were. Any number of times; the first counts.
[[gnu::visibility("hidden")]] void guard_builtins();

}  // namespace dts
