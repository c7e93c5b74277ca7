// Bounds what a chat template may take. Model files are untrusted, and a template is a program: its macros can call
// themselves, its loops nest, its ranges are as long as it says.
#pragma once

#include <chrono>
#include <cstddef>

#include "engine/llama/jinja.h"

namespace dts {

// Puts a check before each round of a loop and each call of a macro, and bounds range(). Once, after parsing.
[[gnu::visibility("hidden")]] void guard(jinja::program& program);

// While it lives, guarded templates run by this thread throw std::runtime_error when they take more than `seconds`, or
// more stack or memory than a real template does.
class TemplateBudget {
 public:
  explicit TemplateBudget(double seconds);
  ~TemplateBudget();
  TemplateBudget(const TemplateBudget&) = delete;
  TemplateBudget& operator=(const TemplateBudget&) = delete;

  void check() const;

 private:
  const TemplateBudget* outer_;
  std::chrono::steady_clock::time_point deadline_;
  const std::byte* stack_;  // where it was when the template began
  std::size_t heap_ = 0;    // bytes the process had allocated then
};

}  // namespace dts
