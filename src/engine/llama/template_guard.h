// Bounds what a chat template may take. Model files are untrusted, and a template is a program: its macros can call
// themselves, its loops nest, its ranges are as long as it says.
#pragma once

#include <cstddef>

#include "engine/llama/jinja.h"

namespace dts {

// Puts a check before each round of a loop and each call of a macro, bounds range() and what built-in functions make,
// and measures every value before something is made of it. Once, after parsing.
[[gnu::visibility("hidden")]] void guard(jinja::program& program);

// While it lives, guarded templates run by this thread throw std::runtime_error when they take more than `seconds` of
// processor time, or more stack or memory than a real template does.
class TemplateBudget {
 public:
  explicit TemplateBudget(double seconds);
  ~TemplateBudget();
  TemplateBudget(const TemplateBudget&) = delete;
  TemplateBudget& operator=(const TemplateBudget&) = delete;

  void check() const;
  // Something so deeply nested was put into a list or object that is there already, and may be inside of others: only
  // the sum of it bounds how deep anything has become. What is freed recurses.
  void charge_nesting(int depth) const;

  // The innermost of this thread; null when there is none.
  static const TemplateBudget* of_thread();

 private:
  const TemplateBudget* outer_;
  double deadline_;         // of the thread's processor time
  const std::byte* stack_;  // where it was when the template began
  std::size_t heap_ = 0;    // bytes the process had allocated then
  mutable int nested_ = 0;
};

}  // namespace dts
