// Means with intervals that know that questions are few and that seeds are not questions.
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

// The weighted mean of the strata's means, and its 95% percentile-bootstrap interval: whole clusters are resampled,
// within their stratum, because the seeds of one question are not independent trials. Reproducible: the resampling has
// a seed of its own. Empty strata count for nothing.
Interval stratified_mean(std::span<const Stratum> strata, int resamples = 2000);

// The same for one stratum.
Interval clustered_mean(std::vector<std::vector<double>> clusters, int resamples = 2000);

}  // namespace dts::eval
