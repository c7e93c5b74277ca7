#include "cli/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>

namespace dts::cli {
namespace {

bool is_decision(const TokenStatistics& token, const Thresholds& thresholds) {
  return token.varentropy >= thresholds.tau_v && token.entropy <= thresholds.tau_h;
}

// The shortest number that is above `below` and at most `most`, both at least 0, `below` < `most`.
double shortest_between(double below, double most) {
  for (int digits = 2; digits <= 4; ++digits) {
    for (const double value : {most, 0.5 * (below + most)}) {
      const double rounded = std::strtod(fmt::format("{:.{}g}", value, digits).c_str(), nullptr);
      if (rounded > below && rounded <= most) return rounded;
    }
  }
  return most;
}

// The shortest number that is at least `least` and below `above`, both at least 0, `least` < `above`.
double shortest_from(double least, double above) {
  for (int digits = 2; digits <= 4; ++digits) {
    for (const double value : {least, 0.5 * (least + above)}) {
      const double rounded = std::strtod(fmt::format("{:.{}g}", value, digits).c_str(), nullptr);
      if (rounded >= least && rounded < above) return rounded;
    }
  }
  return least;
}

double quantile(std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  const auto last = static_cast<double>(sorted.size() - 1);
  return sorted[static_cast<std::size_t>(std::lround(share * last))];
}

// A round edge for an axis that holds `value`.
double round_up(double value) {
  const double step = std::pow(10.0, std::floor(std::log10(std::max(value, 1e-3))));
  for (const double times : {1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0}) {
    if (value <= times * step) return times * step;
  }
  return 10 * step;
}

}  // namespace

BranchRate branch_rate(std::span<const TokenStatistics> tokens, const Thresholds& thresholds) {
  BranchRate rate;
  std::map<int, std::pair<std::int64_t, std::int64_t>> by_trajectory;  // tokens, decisions
  for (const TokenStatistics& token : tokens) {
    auto& [all, decisions] = by_trajectory[token.trajectory];
    ++all;
    decisions += is_decision(token, thresholds) ? 1 : 0;
  }
  for (const auto& [trajectory, counts] : by_trajectory) {
    rate.tokens += counts.first;
    rate.decisions += counts.second;
  }
  if (rate.tokens == 0) return rate;
  const double share = static_cast<double>(rate.decisions) / static_cast<double>(rate.tokens);
  rate.per_thousand = 1000 * share;
  // Tokens of one trajectory are no independent draws; trajectories are. The error of a ratio of sums over them.
  const auto n = static_cast<double>(by_trajectory.size());
  if (n < 2) return rate;
  double squares = 0;
  for (const auto& [trajectory, counts] : by_trajectory) {
    const double off = static_cast<double>(counts.second) - share * static_cast<double>(counts.first);
    squares += off * off;
  }
  rate.error = 1000 * std::sqrt(n / (n - 1) * squares) / static_cast<double>(rate.tokens);
  return rate;
}

namespace {

// Which of `count` values, from 1 on, the `rate`-th in a thousand of `tokens` is.
std::size_t rank_of(double rate, std::size_t tokens, std::size_t count) {
  return static_cast<std::size_t>(
      std::clamp(std::llround(rate * static_cast<double>(tokens) / 1000), 1LL, static_cast<long long>(count)));
}

double tau_v_for(std::span<const TokenStatistics> tokens, double rate, double tau_h) {
  std::vector<double> varentropies;
  for (const TokenStatistics& token : tokens) {
    if (token.entropy <= tau_h && token.varentropy > 0) varentropies.push_back(token.varentropy);
  }
  std::sort(varentropies.begin(), varentropies.end(), std::greater<>());
  if (varentropies.empty()) return 0;
  const double most = varentropies[rank_of(rate, tokens.size(), varentropies.size()) - 1];
  const auto next = std::upper_bound(varentropies.begin(), varentropies.end(), most, std::greater<>());
  return shortest_between(next == varentropies.end() ? 0 : *next, most);
}

double tau_h_for(std::span<const TokenStatistics> tokens, double rate, double tau_v) {
  std::vector<double> entropies;
  for (const TokenStatistics& token : tokens) {
    if (token.varentropy >= tau_v) entropies.push_back(token.entropy);
  }
  std::sort(entropies.begin(), entropies.end());
  if (entropies.empty()) return 0;
  const double least = entropies[rank_of(rate, tokens.size(), entropies.size()) - 1];
  const auto next = std::upper_bound(entropies.begin(), entropies.end(), least);
  return shortest_from(least, next == entropies.end() ? 1.1 * least + 0.01 : *next);
}

double tau_h_of_both(std::span<const TokenStatistics> tokens, double rate) {
  std::vector<TokenStatistics> torn;
  for (const TokenStatistics& token : tokens) {
    if (token.varentropy > 0) torn.push_back(token);
  }
  if (torn.empty()) return 0;
  std::stable_sort(torn.begin(), torn.end(),
                   [](const TokenStatistics& a, const TokenStatistics& b) { return a.varentropy > b.varentropy; });
  torn.resize(rank_of(rate / kCertainShare, tokens.size(), torn.size()));
  std::vector<double> entropies;
  for (const TokenStatistics& token : torn) entropies.push_back(token.entropy);
  std::sort(entropies.begin(), entropies.end());
  const double least = quantile(entropies, kCertainShare);
  const auto next = std::upper_bound(entropies.begin(), entropies.end(), least);
  return shortest_from(least, next == entropies.end() ? 1.1 * least + 0.01 : *next);
}

}  // namespace

Thresholds thresholds_for(std::span<const TokenStatistics> tokens, double rate, const Thresholds& present,
                          ThresholdChoice choice) {
  if (choice == ThresholdChoice::kTauH) return {present.tau_v, tau_h_for(tokens, rate, present.tau_v)};
  const double tau_h = choice == ThresholdChoice::kBoth ? tau_h_of_both(tokens, rate) : present.tau_h;
  return {tau_v_for(tokens, rate, tau_h), tau_h};
}

std::int64_t HeatMap::most() const { return counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end()); }

HeatMap heat_map(std::span<const TokenStatistics> tokens, int columns, int rows, const Thresholds& shown) {
  const Quantiles edges = quantiles(tokens);
  HeatMap map;
  map.columns = columns;
  map.rows = rows;
  // Nearly all tokens, and the thresholds with some room beyond.
  const auto edge = [](double threshold, double nearly_all) {
    return round_up(std::max(nearly_all, std::isfinite(threshold) ? 1.25 * threshold : 0.0));
  };
  map.most_entropy = edge(shown.tau_h, edges.entropy[3]);
  map.most_varentropy = edge(shown.tau_v, edges.varentropy[3]);
  map.counts.assign(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows), 0);
  for (const TokenStatistics& token : tokens) {
    const auto place = [](double value, double most, int cells) {
      return std::clamp(static_cast<int>(value / most * cells), 0, cells - 1);
    };
    const int column = place(token.entropy, map.most_entropy, columns);
    const int row = place(token.varentropy, map.most_varentropy, rows);
    ++map.counts[static_cast<std::size_t>(row * columns + column)];
  }
  return map;
}

Quantiles quantiles(std::span<const TokenStatistics> tokens) {
  std::vector<double> entropies;
  std::vector<double> varentropies;
  for (const TokenStatistics& token : tokens) {
    entropies.push_back(token.entropy);
    varentropies.push_back(token.varentropy);
  }
  std::sort(entropies.begin(), entropies.end());
  std::sort(varentropies.begin(), varentropies.end());
  Quantiles out;
  for (std::size_t i = 0; i < Quantiles::kShares.size(); ++i) {
    out.entropy[i] = quantile(entropies, Quantiles::kShares[i]);
    out.varentropy[i] = quantile(varentropies, Quantiles::kShares[i]);
  }
  return out;
}

}  // namespace dts::cli
