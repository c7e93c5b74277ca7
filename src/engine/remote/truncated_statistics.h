// H and VE at T_stat of a distribution of which only the most probable tokens are known: rigorous bounds.
//
// Let a = 1 / T_stat. Known tokens have probabilities p at temperature 1; the others share the residual mass
// r = 1 - sum p and none is more probable than the least of the known, c. Write a hidden token as p = c exp(-t / a),
// t >= 0; at T_stat its weight is p^a = c^a exp(-t). With x = a log p counted from a log c, all that H and VE need of
// the hidden tokens are three sums: s = sum p^a, D1 = sum p^a t, D2 = sum p^a t^2. For a > 1 each is at most a constant
// times r c^(a-1), whatever the vocabulary: that is why a few candidates bound the statistics at T_stat = 0.6 tightly.
// docs/distributed.md has the argument in full.
#pragma once

#include <span>

namespace dts::remote {

struct Bounds {
  double low = 0;
  double high = 0;
};

struct StatisticsBounds {
  Bounds entropy;     // nats
  Bounds varentropy;  // nats^2
};

struct Statistics {
  double entropy = 0;     // nats
  double varentropy = 0;  // nats^2
};

struct TruncatedDistribution {
  // At temperature 1; -infinity is allowed. The first `ranked` are the most probable there are, descending; beyond them
  // may be single known tokens (the sampled one).
  std::span<const double> logprobs;
  std::size_t ranked = 0;
  int n_vocab = 0;      // 0: not known
  double rounding = 0;  // how far each may be from the server's own, from printing few digits
};

// How far a server's probabilities may be from adding up: float rounding over a large vocabulary.
inline constexpr double kMassTolerance = 1e-5;

// How far log-probabilities that were printed may be from what was meant: half of the last digit that all of them make
// do with, where that is coarser than a float; else 0.
double printed_rounding(std::span<const double> logprobs);

// `stat_temperature` > 0. Without the vocabulary's size and with T_stat >= 1 the upper bounds are infinite.
StatisticsBounds bound_statistics(const TruncatedDistribution& known, double stat_temperature);

// What is taken for H and VE where the bounds allow much: the hidden tokens' probabilities are assumed to go on falling
// from rank to rank as they do among the lesser half of the known ones, until the residual mass is used up; where that
// is too steep to hold it, by the one factor that does. Inside the bounds. docs/distributed.md says how often that
// decides as the whole distribution would.
Statistics estimate_statistics(const TruncatedDistribution& known, const StatisticsBounds& bounds,
                               double stat_temperature);

// log sum p^a over all tokens, with the same assumption: what log-probabilities at another temperature are counted
// from.
double estimate_log_sum(const TruncatedDistribution& known, double a);

}  // namespace dts::remote
