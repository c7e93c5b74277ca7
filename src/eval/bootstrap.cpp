#include "eval/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "dts/rng.h"

namespace dts::eval {
namespace {

// Over the clusters chosen, each value counts once: questions with more seeds weigh more.
double mean_of(const Stratum& stratum, std::span<const std::size_t> chosen) {
  double sum = 0;
  double n = 0;
  for (const std::size_t i : chosen) {
    for (const double value : stratum.clusters[i]) sum += value;
    n += static_cast<double>(stratum.clusters[i].size());
  }
  return n > 0 ? sum / n : 0.0;
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
    const auto n = static_cast<double>(stratum.clusters.size());
    std::vector<std::size_t> chosen(stratum.clusters.size());
    std::iota(chosen.begin(), chosen.end(), std::size_t{0});
    mean += weight * mean_of(stratum, chosen);
    for (std::size_t r = 0; r < resampled.size(); ++r) {
      const PathKey key = root_key(s, r);
      for (std::size_t i = 0; i < chosen.size(); ++i) {
        chosen[i] = static_cast<std::size_t>(to_unit(draw_bits(key, i)) * n);
      }
      resampled[r] += weight * mean_of(stratum, chosen);
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
