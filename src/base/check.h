// Invariants: what our own code promises itself. A broken one aborts in every build, with one line that says which.
#pragma once

namespace dts {

[[noreturn]] void broken_invariant(const char* what, const char* file, int line) noexcept;

// `what` must hold, in words: "a branch is released once". The rest says where: the builtins behind
// std::source_location, which clang 14, the fuzzers' and the linter's, does not have.
inline void check(bool holds, const char* what, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (!holds) [[unlikely]] {
    broken_invariant(what, file, line);
  }
}

}  // namespace dts
