// Means with intervals that know that questions are few, that seeds are not questions, and that a share near 0 or 1 is
// not the middle of anything. All are 95% intervals of what more questions like these would show.
//
// A share's interval is the exact one of Clopper and Pearson for as many independent trials as the data are worth: the
// variance among whole questions says how many (Korn and Graubard, 1998). Where all questions agree there is no
// variance to go by, and questions count, not rows. Parts and differences are put together from their intervals, the
// distances to their ends adding as standard deviations do (MOVER: Zou and Donner, 2008). None has zero width.
#pragma once

#include <span>
#include <vector>

namespace dts::eval {

struct Interval {
  double mean = 0;
  double low = 0;  // 95%
  double high = 0;

  friend bool operator==(const Interval&, const Interval&) = default;
};

// A part of the data that is averaged apart: one dataset, or one task of LiveBench. `clusters[i]` holds the values of
// question i, one for each seed.
struct Stratum {
  double weight = 1;  // of its mean in the whole
  std::vector<std::vector<double>> clusters;
};

// The weighted mean of the strata's means; every value counts once within its stratum. Empty strata count for nothing.
double mean_of(std::span<const Stratum> strata);

// Of values from 0 to 1: scores and rates.
Interval share_interval(std::span<const Stratum> strata);

// Of values from -1 to 1, each a difference of two scores of one question and seed: what was gained less what was lost.
Interval difference_interval(std::span<const Stratum> strata);

// Of costs, which have no upper end: Student's t over questions, never below zero. One question has no interval.
Interval cost_interval(const Stratum& stratum);

}  // namespace dts::eval
