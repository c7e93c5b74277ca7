#include "eval/report/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "dts/rng.h"

namespace dts::eval {
namespace {

// What a cluster adds to a mean over values: each of them counts once, so questions with more seeds weigh more.
struct Total {
  double sum = 0;
  double n = 0;

  void operator+=(const Total& other) {
    sum += other.sum;
    n += other.n;
  }
  double mean() const { return n > 0 ? sum / n : 0.0; }
};

std::vector<Total> totals_of(const Stratum& stratum) {
  std::vector<Total> totals;
  for (const std::vector<double>& cluster : stratum.clusters) {
    totals.push_back({std::accumulate(cluster.begin(), cluster.end(), 0.0), static_cast<double>(cluster.size())});
  }
  return totals;
}

}  // namespace

Interval stratified_mean(std::span<const Stratum> strata, int resamples) {
  double weights = 0;
  for (const Stratum& stratum : strata) weights += stratum.clusters.empty() ? 0.0 : stratum.weight;
  if (weights <= 0) return {};
  double mean = 0;
  std::vector<double> resampled(static_cast<std::size_t>(resamples), 0.0);
  for (std::size_t s = 0; s < strata.size(); ++s) {
    const Stratum& stratum = strata[s];
    if (stratum.clusters.empty()) continue;
    const double weight = stratum.weight / weights;
    const std::vector<Total> totals = totals_of(stratum);
    Total all;
    for (const Total& total : totals) all += total;
    mean += weight * all.mean();
    const auto n = static_cast<double>(totals.size());
    for (std::size_t r = 0; r < resampled.size(); ++r) {
      const PathKey key = root_key(s, r);
      Total drawn;
      for (std::size_t i = 0; i < totals.size(); ++i) {
        drawn += totals[static_cast<std::size_t>(to_unit(draw_bits(key, i)) * n)];
      }
      resampled[r] += weight * drawn.mean();
    }
  }
  std::sort(resampled.begin(), resampled.end());
  const auto at = [&](double quantile) {
    return resampled[static_cast<std::size_t>(std::lround(quantile * static_cast<double>(resampled.size() - 1)))];
  };
  return {mean, at(0.025), at(0.975)};
}

Interval clustered_mean(std::vector<std::vector<double>> clusters, int resamples) {
  const Stratum stratum{1, std::move(clusters)};
  return stratified_mean(std::span(&stratum, 1), resamples);
}

}  // namespace dts::eval
