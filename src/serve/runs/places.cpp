#include "serve/runs/places.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "serve/api/api_error.h"

namespace dts::serve {

int Places::seconds_locked(double places, Clock::time_point now) const {
  constexpr double kShortest = 1, kLongest = 600;
  if (returns_ < 2) return 2;  // nothing is known of this server's questions yet
  const std::size_t known = std::min(returns_, given_back_.size());
  const Clock::time_point first = given_back_[(returns_ - known) % given_back_.size()];
  // The time since the last one counts, too: a server that has become slow is noticed before the next one is done.
  const double each = std::chrono::duration<double>(now - first).count() / static_cast<double>(known - 1);
  return static_cast<int>(std::ceil(std::clamp(each * places, kShortest, kLongest)));
}

int Places::seconds_until_free(int places, Clock::time_point now) const {
  const std::scoped_lock lock(mutex_);
  return seconds_locked(places, now);
}

void Places::check_locked(std::uint64_t owner, int places) const {
  const auto refuse = [](const std::string& text, int seconds) {
    throw ApiError(429, text, {}, "too_many_requests").with_header("Retry-After", std::to_string(seconds));
  };
  const auto found = by_owner_.find(owner);
  const int own = found == by_owner_.end() ? 0 : found->second;
  if (own + places > most_each_) {
    // Its own leave as often as its share of all says.
    const double among = static_cast<double>(places) * taken_ / std::max(1, own);
    refuse(
        fmt::format("{} questions of this key are queued or running already, of {}: try again later", own, most_each_),
        seconds_locked(among, Clock::now()));
  }
  if (taken_ + places > most_) {
    refuse(fmt::format("{} questions are queued or running already, of {}: try again later", taken_, most_),
           seconds_locked(taken_ + places - most_, Clock::now()));
  }
}

void Places::check(std::uint64_t owner, int places) const {
  const std::scoped_lock lock(mutex_);
  check_locked(owner, places);
}

void Places::take(std::uint64_t owner, int places) {
  const std::scoped_lock lock(mutex_);
  check_locked(owner, places);
  by_owner_[owner] += places;
  taken_ += places;
}

void Places::let_go(std::uint64_t owner, int places) {
  const auto found = by_owner_.find(owner);
  found->second -= places;
  if (found->second == 0) by_owner_.erase(found);
  taken_ -= places;
}

void Places::cancel(std::uint64_t owner, int places) {
  const std::scoped_lock lock(mutex_);
  let_go(owner, places);
}

void Places::give_back(std::uint64_t owner, int places, Clock::time_point now) {
  const std::scoped_lock lock(mutex_);
  let_go(owner, places);
  for (int i = 0; i < places; ++i) given_back_[returns_++ % given_back_.size()] = now;
}

int Places::taken() const {
  const std::scoped_lock lock(mutex_);
  return taken_;
}

}  // namespace dts::serve
