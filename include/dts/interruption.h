// How a long step is ended from outside.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <limits>

namespace dts {

// Thrown by Engine::step() when its interruption was due: the step did not happen.
class Interrupted final : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

// Set by whoever wants a step to end early, polled by the engine during the step. Any thread.
class Interruption {
 public:
  using Clock = std::chrono::steady_clock;

  void now() noexcept { at_ = kNow; }
  void at(Clock::time_point time) noexcept { at_ = time.time_since_epoch().count(); }
  void clear() noexcept { at_ = kNever; }
  bool due() const noexcept {
    const Clock::rep at = at_;
    return at != kNever && (at == kNow || Clock::now().time_since_epoch().count() >= at);
  }

 private:
  static constexpr Clock::rep kNever = std::numeric_limits<Clock::rep>::max();
  static constexpr Clock::rep kNow = std::numeric_limits<Clock::rep>::min();
  std::atomic<Clock::rep> at_ = kNever;
};

}  // namespace dts
