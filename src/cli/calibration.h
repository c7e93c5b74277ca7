// Where a model's entropy and varentropy lie, and which thresholds make how many decision tokens of that.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/names.h"

namespace dts::cli {

// One generated token: what the model said before it.
struct TokenStatistics {
  float entropy = 0;     // H, nats
  float varentropy = 0;  // VE, nats^2
  int trajectory = 0;    // which
};

// A token is a decision iff VE >= tau_v and H <= tau_h (docs/algorithm.md).
struct Thresholds {
  double tau_v = 1.5;  // nats^2
  double tau_h = 2.5;  // nats
};

struct BranchRate {
  std::int64_t tokens = 0;
  std::int64_t decisions = 0;
  double per_thousand = 0;
  double error = 0;  // standard error of per_thousand over trajectories; 0: fewer than two
};
BranchRate branch_rate(std::span<const TokenStatistics> tokens, const Thresholds& thresholds);

// Which thresholds are chosen for a wanted rate.
enum class ThresholdChoice {
  kTauV,  // the largest tau_v that gives it, tau_h being kept
  kTauH,  // the smallest tau_h that gives it, tau_v being kept
  // Of the tokens with the most varentropy, a ninth more than wanted, tau_h leaves out the tenth with the most entropy,
  // where the model guesses among many; then as kTauV.
  kBoth,
};

inline constexpr Names<ThresholdChoice, 3> kThresholdChoices = {
    {{"tau-v", ThresholdChoice::kTauV}, {"tau-h", ThresholdChoice::kTauH}, {"both", ThresholdChoice::kBoth}}};

// Of kBoth: the share of those tokens whose entropy is at most tau_h.
inline constexpr double kCertainShare = 0.9;

// Thresholds of few digits with which `rate` decisions come to a thousand tokens; as near as these tokens allow:
// several may have one value. Where what is kept leaves fewer, all that it leaves.
Thresholds thresholds_for(std::span<const TokenStatistics> tokens, double rate, const Thresholds& present,
                          ThresholdChoice choice);

// Counts over a grid: entropy to the right, varentropy upwards. What lies beyond is in the last column or row.
struct HeatMap {
  int columns = 0;
  int rows = 0;
  double most_entropy = 0;           // right edge
  double most_varentropy = 0;        // upper edge
  std::vector<std::int64_t> counts;  // [rows][columns], row 0 at the bottom

  std::int64_t at(int row, int column) const { return counts[static_cast<std::size_t>(row * columns + column)]; }
  std::int64_t most() const;
};
HeatMap heat_map(std::span<const TokenStatistics> tokens, int columns, int rows, const Thresholds& shown);

// Value below which the share `q` of the tokens lies.
struct Quantiles {
  static constexpr std::array<double, 5> kShares = {0.5, 0.9, 0.99, 0.999, 1.0};
  std::array<double, 5> entropy{};
  std::array<double, 5> varentropy{};
};
Quantiles quantiles(std::span<const TokenStatistics> tokens);

}  // namespace dts::cli
