#include "eval/metrics.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "dts/rng.h"

namespace dts::eval {
namespace {

double mean_of(std::span<const std::vector<double>> clusters, std::span<const std::size_t> chosen) {
  double sum = 0;
  double n = 0;
  for (const std::size_t i : chosen) {
    for (const double value : clusters[i]) sum += value;
    n += static_cast<double>(clusters[i].size());
  }
  return n > 0 ? sum / n : 0.0;
}

Interval percentile_interval(double mean, std::vector<double> resampled) {
  std::sort(resampled.begin(), resampled.end());
  const auto at = [&](double q) {
    return resampled[static_cast<std::size_t>(std::lround(q * static_cast<double>(resampled.size() - 1)))];
  };
  return {mean, at(0.025), at(0.975)};
}

using Groups = std::map<std::string, std::vector<std::vector<double>>>;  // task -> questions -> values

// The mean of the groups' means, resampling the questions of each group.
Interval grouped_mean(const Groups& groups, int resamples) {
  if (groups.size() == 1) return clustered_mean(groups.begin()->second, resamples);
  std::vector<double> totals(static_cast<std::size_t>(resamples), 0.0);
  double mean = 0;
  std::uint64_t stream = 0;
  for (const auto& [task, clusters] : groups) {
    std::vector<std::size_t> chosen(clusters.size());
    for (std::size_t i = 0; i < chosen.size(); ++i) chosen[i] = i;
    mean += mean_of(clusters, chosen) / static_cast<double>(groups.size());
    ++stream;
    for (std::size_t r = 0; r < totals.size(); ++r) {
      for (std::size_t i = 0; i < chosen.size(); ++i) {
        const double u = to_unit(draw_bits(root_key(stream, r), i));
        chosen[i] = static_cast<std::size_t>(u * static_cast<double>(clusters.size()));
      }
      totals[r] += mean_of(clusters, chosen) / static_cast<double>(groups.size());
    }
  }
  return percentile_interval(mean, std::move(totals));
}

}  // namespace

Interval clustered_mean(std::span<const std::vector<double>> clusters, int resamples) {
  if (clusters.empty()) return {};
  std::vector<std::size_t> chosen(clusters.size());
  for (std::size_t i = 0; i < chosen.size(); ++i) chosen[i] = i;
  const double mean = mean_of(clusters, chosen);
  std::vector<double> means;
  means.reserve(static_cast<std::size_t>(resamples));
  for (int r = 0; r < resamples; ++r) {
    const PathKey key = root_key(0, static_cast<std::uint64_t>(r));
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      chosen[i] = static_cast<std::size_t>(to_unit(draw_bits(key, i)) * static_cast<double>(clusters.size()));
    }
    means.push_back(mean_of(clusters, chosen));
  }
  return percentile_interval(mean, std::move(means));
}

double pass_at_k(int n, int c, int k) {
  if (k > n) k = n;
  if (n - c < k) return 1.0;
  double none = 1.0;
  for (int i = 0; i < k; ++i) none *= static_cast<double>(n - c - i) / static_cast<double>(n - i);
  return 1.0 - none;
}

std::vector<Summary> summarise(std::span<const Row> rows) {
  constexpr int kResamples = 2000;
  std::vector<std::pair<std::string, std::string>> order;
  std::map<std::pair<std::string, std::string>, std::vector<const Row*>> groups;
  std::map<RowKey, double> standard;  // scores of `standard`, under its own keys
  for (const Row& row : rows) {
    auto& group = groups[{row.key.dataset, row.key.method}];
    if (group.empty()) order.emplace_back(row.key.dataset, row.key.method);
    group.push_back(&row);
    if (row.key.method == "standard") standard[row.key] = row.score;
  }

  std::vector<Summary> summaries;
  for (const auto& name : order) {
    const std::vector<const Row*>& group = groups[name];
    Summary summary;
    summary.dataset = name.first;
    summary.method = name.second;
    summary.rows = group.size();
    std::map<std::pair<std::string, std::string>, std::vector<double>> scores;  // (task, question) -> values
    std::map<std::pair<std::string, std::string>, std::vector<double>> gains;
    std::set<std::string> questions;
    std::set<std::uint64_t> seeds;
    const bool by_task = summary.dataset == "livebench-reasoning";
    double finished = 0;
    for (const Row* row : group) {
      const std::pair<std::string, std::string> at{by_task ? row->task : std::string(), row->key.question};
      scores[at].push_back(row->score);
      RowKey twin = row->key;
      twin.method = "standard";
      const auto found = standard.find(twin);
      if (found != standard.end() && summary.method != "standard") gains[at].push_back(row->score - found->second);
      questions.insert(row->key.question);
      seeds.insert(row->key.seed);
      summary.tokens += static_cast<double>(row->unique_tokens);
      summary.branch_tokens += static_cast<double>(row->branch_tokens);
      summary.chosen_tokens += row->chosen_tokens;
      summary.steps += row->steps;
      summary.branch_events += row->branch_events;
      summary.seconds += row->seconds;
      summary.flops += row->flops;
      summary.unfinished += row->finished ? 0 : 1;
      summary.unextracted += row->finished && !row->extracted ? 1 : 0;
      finished += row->finished ? 1 : 0;
    }
    const auto n = static_cast<double>(group.size());
    for (double* mean : {&summary.tokens, &summary.branch_tokens, &summary.steps, &summary.branch_events,
                         &summary.seconds, &summary.flops, &summary.unfinished}) {
      *mean /= n;
    }
    summary.chosen_tokens /= std::max(1.0, finished);
    summary.unextracted /= std::max(1.0, finished);
    summary.questions = questions.size();
    summary.seeds = seeds.size();
    const auto by_group = [](const auto& values) {
      Groups out;
      for (const auto& [at, list] : values) out[at.first].push_back(list);
      return out;
    };
    summary.accuracy = grouped_mean(by_group(scores), kResamples);
    if (!gains.empty()) {
      summary.difference = grouped_mean(by_group(gains), kResamples);
      summary.paired = true;
    }
    summaries.push_back(std::move(summary));
  }
  return summaries;
}

}  // namespace dts::eval
