// Invariants: what our own code promises itself. A broken one aborts in every build, with one line that says which.
#pragma once

#include <source_location>

namespace dts {

[[noreturn]] void broken_invariant(const char* what, const std::source_location& where) noexcept;

// `what` must hold, in words: "a branch is released once".
inline void check(bool holds, const char* what, const std::source_location& where = std::source_location::current()) {
  if (!holds) [[unlikely]] {
    broken_invariant(what, where);
  }
}

}  // namespace dts
