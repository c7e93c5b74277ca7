#include "engine/remote/fleet.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/check.h"
#include "dts/rng.h"

namespace dts::remote {

Fleet::Fleet(std::vector<std::string> urls, const Clock& clock, FleetOptions options)
    : clock_(clock), options_(options) {
  check(!urls.empty(), "a fleet has an endpoint");
  for (std::string& url : urls) {
    Endpoint endpoint;
    endpoint.url = std::move(url);
    endpoints_.push_back(std::move(endpoint));
  }
}

bool Fleet::up(int endpoint) const { return clock_.now() >= at(endpoint).down_until; }

namespace {

bool is_among(std::span<const int> some, int endpoint) {
  return std::find(some.begin(), some.end(), endpoint) != some.end();
}

}  // namespace

std::optional<int> Fleet::choose(SharedPrompt& question, std::span<const int> without) const {
  const auto asked = [&](int i) { return up(i) && !is_among(without, i); };
  if (question.home >= 0 && asked(question.home)) return question.home;
  int best = -1;
  for (int i = 0; i < size(); ++i) {
    if (asked(i) && (best < 0 || at(i).streams < at(best).streams)) best = i;
  }
  if (best < 0) return std::nullopt;
  question.home = best;
  return best;
}

double Fleet::next_up(std::span<const int> without) const {
  double next = std::numeric_limits<double>::infinity();
  for (int i = 0; i < size(); ++i) {
    if (!is_among(without, i)) next = std::min(next, at(i).down_until);
  }
  return next;
}

void Fleet::opened(int endpoint) { ++at(endpoint).streams; }

void Fleet::closed(int endpoint) { --at(endpoint).streams; }

void Fleet::progressed(int endpoint) {
  at(endpoint).failures = 0;
  at(endpoint).progressed_at = clock_.now();
}

double Fleet::backoff(int failures) {
  const double doubled = options_.first_backoff * std::exp2(std::min(failures, 20) - 1);
  const double jitter = 0.5 + 0.5 * to_unit(draw_bits(options_.seed, ++incidents_));
  return std::min(doubled, options_.most_backoff) * jitter;
}

void Fleet::failed(int endpoint, double opened_at, double retry_after) {
  Endpoint& failing = at(endpoint);
  if (opened_at < failing.failed_at) return;
  failing.failed_at = clock_.now();
  ++failing.failures;
  const double wait = std::max(backoff(failing.failures), std::min(retry_after, options_.most_backoff));
  failing.down_until = std::max(failing.down_until, clock_.now() + wait);
}

}  // namespace dts::remote
