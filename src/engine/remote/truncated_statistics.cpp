#include "engine/remote/truncated_statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dts::remote {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Sums over the known tokens, x = a log p counted from the cap's.
struct Head {
  double weight = 0;  // A0 = sum exp(x)
  double first = 0;   // A1 = sum x exp(x)
  double second = 0;  // A2 = sum x^2 exp(x)
};

void add_known(std::span<const double> logprobs, double log_cap, double a, Head& head) {
  for (const double logprob : logprobs) {
    const double x = a * (logprob - log_cap);
    const double weight = std::exp(x);
    if (weight <= 0) continue;
    head.weight += weight;
    head.first += x * weight;
    head.second += x * x * weight;
  }
}

// What is known of the hidden tokens: what the others leave, and what none exceeds.
struct Known {
  double mass = 0;     // of the known tokens
  double log_cap = 0;  // of the least probable one that is ranked
};

Known facts_of(const TruncatedDistribution& known) {
  Known facts;
  for (std::size_t i = 0; i < known.logprobs.size(); ++i) {
    facts.mass += std::exp(known.logprobs[i]);
    if (i < known.ranked) facts.log_cap = std::min(facts.log_cap, known.logprobs[i]);
  }
  return facts;
}

// What the hidden tokens' sums can be, in units of the cap's weight c^a.
struct Tail {
  double scale = 0;        // R: s is at most this for a > 1
  double least = 0;        // of s
  double most = 0;         // of s
  double log_slope = 0;    // a / (a - 1): t = -log_slope * log(s / R) where all hidden tokens are alike; 0: a <= 1
  double most_first = 0;   // of D1, a <= 1
  double most_second = 0;  // of D2, a <= 1
};

// The least concave function that is nowhere below y log^2 y on [0, 1]: the curve itself up to where its tangent meets
// (1, 0), then that tangent. The point solves log y = 2y - 2.
double concave_square(double y) {
  constexpr double kTouch = 0.20318786997997993;
  const auto curve = [](double at) { return at <= 0 ? 0.0 : at * std::log(at) * std::log(at); };
  return y <= kTouch ? curve(y) : curve(kTouch) * (1 - y) / (1 - kTouch);
}

// Largest value on [low, high] of a function that rises up to `peak` and falls after it.
template <typename Function>
double most_between(Function f, double low, double high, double peak) {
  return f(std::clamp(peak, low, high));
}

// Upper bounds for a > 1. With y = exp(-t (a-1)/a) in (0, 1], and mu the share of the residual mass at each t, the sums
// are R E[y], R k E[-y log y] and R k^2 E[y log^2 y], k = a/(a-1). For a given mean of y the last two are at most what
// the concave functions above them have there. The mean is cut into pieces and every term taken at its worst in each.
void raise_for_pieces(const Head& head, const Tail& tail, StatisticsBounds& bounds) {
  constexpr int kPieces = 64;
  const double k = tail.log_slope;
  for (int piece = 0; piece < kPieces; ++piece) {
    const double span = (tail.most - tail.least) / kPieces;
    const double low = tail.least + span * piece;
    const double high = piece + 1 == kPieces ? tail.most : tail.least + span * (piece + 1);
    const double y_low = std::clamp(low / tail.scale, 0.0, 1.0);
    const double y_high = std::clamp(high / tail.scale, 0.0, 1.0);
    const auto entropy_like = [](double y) { return y <= 0 ? 0.0 : -y * std::log(y); };
    const double first = tail.scale * k * most_between(entropy_like, y_low, y_high, std::exp(-1.0));
    const double second = tail.scale * k * k * most_between(concave_square, y_low, y_high, std::exp(-2.0));
    const double z_low = head.weight + low;
    const double z_high = head.weight + high;
    bounds.entropy.high = std::max(bounds.entropy.high, std::log(z_high) - head.first / z_high + first / z_low);
    const double mean = std::max(0.0, head.first - first) / z_high;
    bounds.varentropy.high = std::max(bounds.varentropy.high, (head.second + second) / z_low - mean * mean);
  }
}

// The same for a <= 1, from the number of hidden tokens: each has exp(-t) t <= 1/e and exp(-t) t^2 <= 4/e^2.
void raise_at_once(const Head& head, const Tail& tail, StatisticsBounds& bounds) {
  const double z_low = head.weight + tail.least;
  const double z_high = head.weight + tail.most;
  bounds.entropy.high = std::log(z_high) - head.first / z_high + tail.most_first / z_low;
  const double mean = std::max(0.0, head.first - tail.most_first) / z_high;
  bounds.varentropy.high = (head.second + tail.most_second) / z_low - mean * mean;
}

}  // namespace

namespace {

// Hidden tokens whose log-probabilities fall by `fall` from rank to rank, from the cap's on, until they add up to
// `residual`, in units of the cap; if they never do, by as much as lets them.
Head tail_of(double residual, double fall, double a) {
  const double steepest = std::log1p(1 / residual);  // p = c q^i for i = 1, 2, ... adds up to c q / (1 - q)
  if (fall >= steepest) {
    const double q = std::exp(-a * steepest);
    const double rest = -std::expm1(-a * steepest);  // 1 - q
    return {.weight = q / rest,
            .first = -a * steepest * q / (rest * rest),
            .second = a * steepest * a * steepest * q * (1 + q) / (rest * rest * rest)};
  }
  double tokens = fall > 1e-9 ? -std::log1p(-residual * std::expm1(fall)) / fall : residual;
  if (fall > 1e-9) tokens = std::min(tokens, 40 / (a * fall));  // what is further weighs nothing
  Head sums;
  const auto add = [&](double rank, double count) {
    const double x = -a * fall * rank;
    const double weight = count * std::exp(x);
    sums.weight += weight;
    sums.first += x * weight;
    sums.second += x * x * weight;
  };
  constexpr int kCells = 256;
  if (tokens <= kCells) {
    for (int rank = 1; rank - 1 < tokens; ++rank) add(rank, std::min(1.0, tokens - (rank - 1)));
  } else {  // many alike: ranks by the cell
    const double width = tokens / kCells;
    for (int cell = 0; cell < kCells; ++cell) add(0.5 + width * (cell + 0.5), width);
  }
  return sums;
}

}  // namespace

StatisticsBounds bound_statistics(const TruncatedDistribution& known, double stat_temperature) {
  const double a = 1.0 / stat_temperature;
  auto [mass, log_cap] = facts_of(known);
  const bool complete = known.n_vocab > 0 && known.logprobs.size() >= static_cast<std::size_t>(known.n_vocab);
  // A cap of 0 says that nothing is hidden that has a probability.
  const bool nothing_hidden = complete || std::isinf(log_cap);
  if (nothing_hidden) log_cap = *std::max_element(known.logprobs.begin(), known.logprobs.end());

  Head head;
  add_known(known.logprobs, log_cap, a, head);
  const auto exact_entropy = [&](double z) { return std::log(z) - head.first / z; };
  const auto exact_varentropy = [&](double z) {
    return std::max(0.0, head.second / z - (head.first / z) * (head.first / z));
  };
  StatisticsBounds bounds;
  bounds.entropy = {exact_entropy(head.weight), exact_entropy(head.weight)};
  bounds.varentropy = {exact_varentropy(head.weight), exact_varentropy(head.weight)};
  if (nothing_hidden) return bounds;

  // In units of the cap: the residual mass is so many tokens as probable as the cap.
  const double cap = std::exp(log_cap);
  double residual = (1.0 - mass + kMassTolerance) / cap;
  const double least_residual = std::max(0.0, (1.0 - mass - kMassTolerance) / cap);
  if (residual <= 0) residual = kMassTolerance / cap;  // it adds up to more than 1: what is hidden is next to nothing
  const double hidden =
      known.n_vocab > 0 ? static_cast<double>(known.n_vocab) - static_cast<double>(known.logprobs.size()) : kInfinity;
  residual = std::min(residual, hidden);

  // Extremes of sum p^a given sum p: all alike, or as few as can be.
  const auto all_alike = [&](double of) {
    return std::isinf(hidden) ? (a > 1 ? 0.0 : kInfinity) : hidden * std::pow(of / hidden, a);
  };
  Tail tail;
  if (a > 1) {
    tail.scale = residual;
    tail.least = std::min(all_alike(std::min(least_residual, residual)), residual);
    tail.most = residual;
    tail.log_slope = a / (a - 1);
  } else {
    tail.least = std::min(least_residual, hidden);
    tail.most = std::min(hidden, all_alike(residual));
    tail.most_first = hidden * std::exp(-1.0);
    tail.most_second = hidden * 4 * std::exp(-2.0);
    if (std::isinf(hidden)) {
      bounds.entropy.high = bounds.varentropy.high = kInfinity;
    }
  }

  // Lower bounds: t = 0 for all that is hidden is the least for any s. H then grows with s; VE is a parabola open below
  // in 1/Z, so it is least at an end.
  bounds.entropy.low = exact_entropy(head.weight + tail.least);
  bounds.varentropy.low =
      std::min(exact_varentropy(head.weight + tail.least), exact_varentropy(head.weight + tail.most));
  if (std::isinf(bounds.entropy.high)) return bounds;
  bounds.entropy.high = bounds.entropy.low;
  bounds.varentropy.high = bounds.varentropy.low;
  if (a > 1) {
    raise_for_pieces(head, tail, bounds);
  } else {
    raise_at_once(head, tail, bounds);
  }
  return bounds;
}

Statistics estimate_statistics(const TruncatedDistribution& known, const StatisticsBounds& bounds,
                               double stat_temperature) {
  const bool exact = bounds.entropy.low == bounds.entropy.high && bounds.varentropy.low == bounds.varentropy.high;
  if (exact) return {bounds.entropy.low, bounds.varentropy.low};
  const double a = 1.0 / stat_temperature;
  const auto [mass, log_cap] = facts_of(known);
  const double residual = std::max(1.0 - mass, kMassTolerance) / std::exp(log_cap);
  // How log-probabilities fall from rank to rank among the lesser half of the known ones.
  const std::size_t half = known.ranked / 2;
  const double ranks = static_cast<double>(known.ranked - half) - 1;
  const double fall = ranks > 0 ? (known.logprobs[half] - log_cap) / ranks : kInfinity;
  Head sums = tail_of(residual, std::max(0.0, fall), a);
  add_known(known.logprobs, log_cap, a, sums);
  const double mean = sums.first / sums.weight;
  return {std::clamp(std::log(sums.weight) - mean, bounds.entropy.low, bounds.entropy.high),
          std::clamp(sums.second / sums.weight - mean * mean, bounds.varentropy.low, bounds.varentropy.high)};
}

}  // namespace dts::remote
