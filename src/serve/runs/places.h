// Places for questions that are queued or running: how many there are, whose, and when one will be free.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>

namespace dts::serve {

// Any thread.
class Places {
 public:
  using Clock = std::chrono::steady_clock;

  // Of all owners together, and of one of them.
  Places(int most, int most_each) : most_(most), most_each_(most_each) {}

  // Throws an ApiError, 429, when there are not so many, which says when to come back.
  void check(std::uint64_t owner, int places) const;
  void take(std::uint64_t owner, int places);
  void give_back(std::uint64_t owner, int places, Clock::time_point now = Clock::now());

  // Places that nothing came of: they tell nothing of how long questions take.
  void cancel(std::uint64_t owner, int places);

  int taken() const;
  // Whole seconds until so many more will have been given back, as far as the last ones can tell; from 1 to 600.
  int seconds_until_free(int places, Clock::time_point now = Clock::now()) const;

 private:
  void let_go(std::uint64_t owner, int places);
  void check_locked(std::uint64_t owner, int places) const;
  int seconds_locked(double places, Clock::time_point now) const;

  const int most_;
  const int most_each_;
  mutable std::mutex mutex_;  // guards what follows
  int taken_ = 0;
  std::map<std::uint64_t, int> by_owner_;
  std::array<Clock::time_point, 32> given_back_;  // when the last ones were, a ring
  std::size_t returns_ = 0;
};

}  // namespace dts::serve
