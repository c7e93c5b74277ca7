#include "engine/remote/truncated_statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dts::remote {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kFloatRounding = 1e-6;  // of a log-probability that is computed and sent as a float
constexpr double kSlack = 1e-11;         // of our own sums, relative

// Sums over tokens of weight exp(y), y = a log p counted from that of the most probable one: so nothing overflows,
// however small the others and T_stat are.
struct Sums {
  double weight = 0;  // B0 = sum exp(y)
  double first = 0;   // B1 = sum y exp(y)
  double second = 0;  // B2 = sum y^2 exp(y)

  void add(double y, double weight_there) {
    weight += weight_there;
    first += y * weight_there;
    second += y * y * weight_there;
  }
  double entropy() const { return std::log(weight) - first / weight; }
  double varentropy() const { return std::max(0.0, second / weight - (first / weight) * (first / weight)); }
};

// What is known of the hidden tokens: what the others leave, and what none exceeds.
struct Known {
  double mass = 0;      // of the known tokens
  double log_cap = 0;   // of the least probable one that is ranked
  double log_most = 0;  // of the most probable one
};

Known facts_of(const TruncatedDistribution& known) {
  Known facts;
  facts.log_most = -kInfinity;
  for (std::size_t i = 0; i < known.logprobs.size(); ++i) {
    facts.mass += std::exp(known.logprobs[i]);
    facts.log_most = std::max(facts.log_most, known.logprobs[i]);
    if (i < known.ranked) facts.log_cap = std::min(facts.log_cap, known.logprobs[i]);
  }
  return facts;
}

Sums head_of(const TruncatedDistribution& known, double log_most, double a) {
  Sums head;
  for (const double logprob : known.logprobs) {
    const double y = a * (logprob - log_most);
    const double weight = std::exp(y);
    if (weight > 0) head.add(y, weight);
  }
  return head;
}

// What the hidden tokens' sums can be. A hidden token is at y = -gap - t, t >= 0; s, D1 and D2 are the sums of exp(y),
// t exp(y) and t^2 exp(y) over them.
struct Tail {
  double gap = 0;                  // from the most probable token down to what none exceeds
  double scale = 0;                // R: s is at most this for a > 1
  double least = 0;                // of s
  double most = 0;                 // of s
  double log_slope = 0;            // a / (a - 1): t = -log_slope * log(s / R) where all are alike; 0: a <= 1
  double most_first = kInfinity;   // of D1, from their number
  double most_second = kInfinity;  // of D2, from their number
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

// Bounds while s is anywhere it can be. H and VE are, with D1 = D2 = 0 and Z = B0 + s, functions of Z alone; D1 and D2
// only add to both, at most D1/Z to H and D2/Z + 2 D1 A1/Z^2 to VE, A1 the head's first moment counted from the gap.
class TailBounds {
 public:
  TailBounds(const Sums& head, const Tail& tail)
      : head_(head),
        tail_(tail),
        first_(head.first + tail.gap * head.weight),
        second_(head.second + 2 * tail.gap * head.first + tail.gap * tail.gap * head.weight) {}

  StatisticsBounds bounds() const {
    StatisticsBounds bounds;
    // H falls with Z up to -A1, and rises from there.
    bounds.entropy.low = entropy_at(std::clamp(-first_ - head_.weight, tail_.least, tail_.most));
    // VE is a parabola open below in 1/Z, so it is least at an end. Where A1 < 0, hidden tokens may lie about the
    // mean: what is left is the head's own.
    bounds.varentropy.low = first_ >= 0 ? std::min(varentropy_at(tail_.least), varentropy_at(tail_.most))
                                        : head_.varentropy() * head_.weight / (head_.weight + tail_.most);
    bounds.entropy.high = bounds.entropy.low;
    bounds.varentropy.high = bounds.varentropy.low;
    constexpr int kPieces = 64;
    const double span = (tail_.most - tail_.least) / kPieces;
    for (int piece = 0; piece < kPieces; ++piece) {
      raise(tail_.least + span * piece, piece + 1 == kPieces ? tail_.most : tail_.least + span * (piece + 1), bounds);
    }
    return bounds;
  }

 private:
  double entropy_at(double s) const {
    const double z = head_.weight + s;
    return std::log(z) + (tail_.gap * s - head_.first) / z;
  }
  double varentropy_at(double s) const {
    const double z = head_.weight + s;
    const double mean = (tail_.gap * s - head_.first) / z;
    return std::max(0.0, (head_.second + tail_.gap * tail_.gap * s) / z - mean * mean);
  }

  // Every term at its worst for s in [low, high]. For a > 1, with y = exp(-t (a-1)/a) in (0, 1] and mu the share of the
  // residual mass at each t, the sums are R E[y], R k E[-y log y] and R k^2 E[y log^2 y], k = a/(a-1). For a given mean
  // of y the last two are at most what the concave functions above them have there.
  void raise(double low, double high, StatisticsBounds& bounds) const {
    double first = tail_.most_first;
    double second = tail_.most_second;
    if (const double k = tail_.log_slope; k > 0) {
      const double y_low = std::clamp(low / tail_.scale, 0.0, 1.0);
      const double y_high = std::clamp(high / tail_.scale, 0.0, 1.0);
      const auto entropy_like = [](double y) { return y <= 0 ? 0.0 : -y * std::log(y); };
      first = std::min(first, tail_.scale * k * most_between(entropy_like, y_low, y_high, std::exp(-1.0)));
      second = std::min(second, tail_.scale * k * k * most_between(concave_square, y_low, y_high, std::exp(-2.0)));
    }
    const double z = head_.weight + low;
    const double entropy = std::max(entropy_at(low), entropy_at(high)) + first / z;
    bounds.entropy.high = std::max(bounds.entropy.high, entropy);
    const double peak = second_ > 0 ? 2 * first_ * first_ / second_ - head_.weight : 0;
    const double varentropy =
        std::max({varentropy_at(low), varentropy_at(high), varentropy_at(std::clamp(peak, low, high))}) + second / z +
        2 * std::max(0.0, first_) * first / (z * z);
    bounds.varentropy.high = std::max(bounds.varentropy.high, varentropy);
  }

  Sums head_;
  Tail tail_;
  double first_;  // A1, A2: the head's moments counted from the gap
  double second_;
};

// What bounds become when each known log-probability, times a, may be off by `e`. Along the way from one distribution
// to the other dH is at most e sqrt(VE), and d sqrt(VE) at most e (1 + sqrt(VE)).
void widen_for_rounding(double e, StatisticsBounds& bounds) {
  const double spread = (1 + std::sqrt(bounds.varentropy.high)) * std::exp(e) - 1;
  bounds.entropy.low = std::max(0.0, bounds.entropy.low - e * spread);
  bounds.entropy.high += e * spread;
  const double least = std::max(0.0, (1 + std::sqrt(bounds.varentropy.low)) * std::exp(-e) - 1);
  bounds.varentropy = {least * least, spread * spread};
}

void widen_for_our_sums(StatisticsBounds& bounds) {
  for (Bounds* interval : {&bounds.entropy, &bounds.varentropy}) {
    interval->low = std::max(0.0, interval->low - kSlack * (1 + interval->low));
    interval->high += kSlack * (1 + interval->high);
  }
}

// Hidden tokens whose log-probabilities fall by `fall` from rank to rank, from the cap's on, until they add up to
// `residual`, in units of the cap; if they never do, by as much as lets them. Counted from the cap.
Sums tail_of(double residual, double fall, double a) {
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
  Sums sums;
  const auto add = [&](double rank, double count) {
    const double x = -a * fall * rank;
    sums.add(x, count * std::exp(x));
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

double printed_rounding(std::span<const double> logprobs) {
  double unit = 1;
  for (int digits = 1; digits <= 5; ++digits) {
    unit /= 10;
    int telling = 0;  // 0 and what stands for minus infinity say nothing
    bool all = true;
    for (const double logprob : logprobs) {
      if (logprob == 0 || logprob < -1000) continue;
      ++telling;
      const double off = std::abs(logprob - std::round(logprob / unit) * unit);
      all = all && off <= 1.5e-7 * std::max(1.0, -logprob);
    }
    if (all && telling > 0) return 0.5 * unit + kFloatRounding;
  }
  return 0;
}

StatisticsBounds bound_statistics(const TruncatedDistribution& known, double stat_temperature) {
  const double a = 1.0 / stat_temperature;
  const Known facts = facts_of(known);
  const bool complete = known.n_vocab > 0 && known.logprobs.size() >= static_cast<std::size_t>(known.n_vocab);
  const Sums head = head_of(known, facts.log_most, a);
  const auto only_head = [&] {
    return StatisticsBounds{{head.entropy(), head.entropy()}, {head.varentropy(), head.varentropy()}};
  };
  // A cap of 0 says that nothing is hidden that has a probability.
  if (complete || std::isinf(facts.log_cap)) {
    StatisticsBounds bounds = only_head();
    if (known.rounding > 0) widen_for_rounding(a * known.rounding, bounds);
    return bounds;
  }

  const double rounding = std::max(known.rounding, kFloatRounding);
  const double log_cap = facts.log_cap + rounding;
  const double hidden =
      known.n_vocab > 0 ? static_cast<double>(known.n_vocab) - static_cast<double>(known.logprobs.size()) : kInfinity;
  // The residual mass in units of the cap, so many tokens as probable as that, as logarithms. Where it adds up to more
  // than 1, what is hidden is next to nothing.
  double most_residual = 1.0 - facts.mass * std::exp(-rounding) + kMassTolerance;
  if (most_residual <= 0) most_residual = kMassTolerance;
  const double least_residual = std::max(0.0, 1.0 - facts.mass * std::exp(rounding) - kMassTolerance);
  const double log_most = std::min(std::log(most_residual) - log_cap, std::log(hidden));
  const double log_least = std::min(std::log(least_residual) - log_cap, log_most);

  // Extremes of sum p^a given sum p: all alike, or as few as can be.
  Tail tail;
  tail.gap = a * (facts.log_most - log_cap);
  const auto weight = [&](double log_tokens) { return std::exp(log_tokens - tail.gap); };
  const auto all_alike = [&](double log_of) { return weight(std::log(hidden) + a * (log_of - std::log(hidden))); };
  if (!std::isinf(hidden)) {
    tail.most_first = weight(std::log(hidden) - 1);
    tail.most_second = weight(std::log(4 * hidden) - 2);
  }
  if (a > 1) {
    tail.scale = tail.most = weight(log_most);
    tail.least = std::isinf(hidden) ? 0.0 : std::min(all_alike(log_least), tail.most);
    tail.log_slope = a / (a - 1);
  } else {
    tail.least = weight(log_least);
    tail.most =
        std::isinf(hidden) ? kInfinity : std::max(tail.least, std::min(weight(std::log(hidden)), all_alike(log_most)));
  }
  StatisticsBounds bounds;
  if (std::isinf(tail.most)) {
    bounds = {{0, kInfinity}, {0, kInfinity}};
    return bounds;
  }
  bounds = tail.most < 1e-200 ? only_head() : TailBounds(head, tail).bounds();
  widen_for_rounding(a * rounding, bounds);
  widen_for_our_sums(bounds);
  return bounds;
}

namespace {

// Sums at temperature 1/a over the known tokens, and over hidden ones as they are taken to be.
Sums estimate_sums(const TruncatedDistribution& known, const Known& facts, double a) {
  Sums sums = head_of(known, facts.log_most, a);
  const double gap = a * (facts.log_most - facts.log_cap);
  const double log_residual = std::log(std::max(1.0 - facts.mass, kMassTolerance)) - facts.log_cap;
  const bool complete = known.n_vocab > 0 && known.logprobs.size() >= static_cast<std::size_t>(known.n_vocab);
  // What is less than that weighs nothing beside the most probable token.
  if (complete || log_residual > 60 || gap > 600) return sums;
  // How log-probabilities fall from rank to rank among the lesser half of the known ones.
  const std::size_t half = known.ranked / 2;
  const double ranks = static_cast<double>(known.ranked - half) - 1;
  const double fall = ranks > 0 ? (known.logprobs[half] - facts.log_cap) / ranks : kInfinity;
  double residual = std::exp(log_residual);
  // What is left over may be the server's rounding alone: then no more than goes on as the known ones do.
  if (1.0 - facts.mass < kMassTolerance && fall > 0) residual = std::min(residual, 1 / std::expm1(fall));
  if (residual <= 0) return sums;
  const Sums tail = tail_of(residual, std::max(0.0, fall), a);
  const double unit = std::exp(-gap);
  sums.weight += unit * tail.weight;
  sums.first += unit * (tail.first - gap * tail.weight);
  sums.second += unit * (tail.second - 2 * gap * tail.first + gap * gap * tail.weight);
  return sums;
}

}  // namespace

Statistics estimate_statistics(const TruncatedDistribution& known, const StatisticsBounds& bounds,
                               double stat_temperature) {
  const bool exact = bounds.entropy.low == bounds.entropy.high && bounds.varentropy.low == bounds.varentropy.high;
  if (exact) return {bounds.entropy.low, bounds.varentropy.low};
  const Sums sums = estimate_sums(known, facts_of(known), 1.0 / stat_temperature);
  return {std::clamp(sums.entropy(), bounds.entropy.low, bounds.entropy.high),
          std::clamp(sums.varentropy(), bounds.varentropy.low, bounds.varentropy.high)};
}

double estimate_log_sum(const TruncatedDistribution& known, double a) {
  const Known facts = facts_of(known);
  return a * facts.log_most + std::log(estimate_sums(known, facts, a).weight);
}

}  // namespace dts::remote
