#include "eval/report/metrics.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "dts/vote.h"

namespace dts::eval {
namespace {

// (task, question): in the order in which strata and clusters are made.
using Place = std::pair<std::string, std::string>;

Place place_of(const Row& row) {
  return {averages_tasks(row.key.dataset) ? row.task : std::string(), row.key.question};
}

std::vector<Stratum> to_strata(std::map<Place, std::vector<double>>&& values) {
  std::vector<Stratum> strata;
  const std::string* task = nullptr;
  for (auto& [place, cluster] : values) {
    if (task == nullptr || *task != place.first) strata.emplace_back();
    task = &place.first;
    strata.back().clusters.push_back(std::move(cluster));
  }
  return strata;
}

double mean_over(const Rows& rows, const std::function<double(const Row&)>& value) {
  double sum = 0;
  for (const Row* row : rows) sum += value(*row);
  return rows.empty() ? 0 : sum / static_cast<double>(rows.size());
}

// What a row contributes as one sample of its method.
TraceResult as_sample(const Row& row) { return {row.chosen_tokens, row.score, row.answer}; }

int right_ones(const Rows& rows) {
  return static_cast<int>(std::count_if(rows.begin(), rows.end(), [](const Row* row) { return row->score >= 1; }));
}

}  // namespace

double pass_at_k(int n, int c, int k) {
  k = std::min(k, n);
  if (n - c < k) return 1.0;
  double none = 1.0;
  for (int i = 0; i < k; ++i) none *= static_cast<double>(n - c - i) / static_cast<double>(n - i);
  return 1.0 - none;
}

double majority_score(std::span<const TraceResult> samples) {
  std::vector<Ballot> ballots;
  for (const TraceResult& sample : samples) ballots.push_back({sample.answer, sample.length});
  const std::vector<AnswerCount> counts = count_votes(ballots);
  return counts.empty() ? 0.0 : samples[static_cast<std::size_t>(counts.front().first)].score;
}

double maj_at_k(std::span<const TraceResult> samples, int k) {
  const std::size_t groups = samples.size() / static_cast<std::size_t>(k);
  double sum = 0;
  for (std::size_t g = 0; g < groups; ++g) {
    sum += majority_score(samples.subspan(g * static_cast<std::size_t>(k), static_cast<std::size_t>(k)));
  }
  return groups == 0 ? 0 : sum / static_cast<double>(groups);
}

bool averages_tasks(std::string_view dataset) { return dataset == "livebench-reasoning"; }

std::vector<Stratum> strata_of(const Rows& rows, const std::function<double(const Row&)>& value) {
  std::map<Place, std::vector<double>> values;
  for (const Row* row : rows) values[place_of(*row)].push_back(value(*row));
  return to_strata(std::move(values));
}

std::vector<Stratum> strata_by_question(const Rows& rows, const std::function<double(const Rows&)>& value) {
  std::map<Place, Rows> questions;
  for (const Row* row : rows) questions[place_of(*row)].push_back(row);
  std::map<Place, std::vector<double>> values;
  for (auto& [place, all] : questions) {
    std::sort(all.begin(), all.end(), [](const Row* a, const Row* b) { return a->key.seed < b->key.seed; });
    values[place].push_back(value(all));
  }
  return to_strata(std::move(values));
}

std::vector<Stratum> paired_strata(const Rows& rows, const Rows& baseline,
                                   const std::function<double(const Row&)>& value) {
  std::map<std::pair<std::string, std::uint64_t>, const Row*> twins;
  for (const Row* row : baseline) twins[{row->key.question, row->key.seed}] = row;
  std::map<Place, std::vector<double>> values;
  for (const Row* row : rows) {
    const auto twin = twins.find({row->key.question, row->key.seed});
    if (twin != twins.end()) values[place_of(*row)].push_back(value(*row) - value(*twin->second));
  }
  return to_strata(std::move(values));
}

Interval mean_over_questions(const Rows& rows, const std::function<double(const Row&)>& value) {
  std::map<std::string, std::vector<double>> values;
  for (const Row* row : rows) values[row->key.question].push_back(value(*row));
  Stratum stratum;
  for (auto& [question, cluster] : values) stratum.clusters.push_back(std::move(cluster));
  return stratified_mean(std::span(&stratum, 1));
}

Summary summarise(const Rows& rows, const Rows& baseline) {
  Summary summary;
  if (rows.empty()) return summary;
  const auto score = [](const Row& row) { return row.score; };
  const RowKey& key = rows.front()->key;
  summary.model = key.model;
  summary.dataset = key.dataset;
  summary.method = key.method;
  summary.rows = rows.size();
  std::set<std::string> questions;
  std::set<std::uint64_t> seeds;
  Rows finished;
  double ended = 0;
  double exhausted = 0;
  for (const Row* row : rows) {
    questions.insert(row->key.question);
    seeds.insert(row->key.seed);
    if (row->finished) finished.push_back(row);
    ended += row->votes + row->exhausted;
    exhausted += row->exhausted;
  }
  summary.questions = questions.size();
  summary.seeds = seeds.size();

  summary.accuracy = stratified_mean(strata_of(rows, score));
  if (key.method != kBaseline) {
    const std::vector<Stratum> gains = paired_strata(rows, baseline, score);
    if (!gains.empty()) summary.difference = stratified_mean(gains);
  }
  summary.majority = stratified_mean(strata_by_question(rows, [](const Rows& samples) {
    std::vector<TraceResult> votes;
    for (const Row* row : samples) votes.push_back(as_sample(*row));
    return majority_score(votes);
  }));
  summary.pass = stratified_mean(strata_by_question(rows, [](const Rows& samples) {
    const int n = static_cast<int>(samples.size());
    return pass_at_k(n, right_ones(samples), n);
  }));
  summary.any_right = stratified_mean(strata_of(rows, [](const Row& row) {
    return std::any_of(row.traces.begin(), row.traces.end(), [](const TraceResult& t) { return t.score >= 1; }) ? 1.0
                                                                                                                : 0.0;
  }));
  summary.flops = mean_over_questions(rows, [](const Row& row) { return row.flops; });
  summary.unfinished = mean_over_questions(rows, [](const Row& row) { return row.finished ? 0.0 : 1.0; });

  summary.branch_tokens = mean_over(rows, [](const Row& row) { return static_cast<double>(row.branch_tokens); });
  summary.unique_tokens = mean_over(rows, [](const Row& row) { return static_cast<double>(row.unique_tokens); });
  summary.steps = mean_over(rows, [](const Row& row) { return row.steps; });
  summary.chosen_tokens = mean_over(finished, [](const Row& row) { return row.chosen_tokens; });
  summary.prompt_tokens = mean_over(rows, [](const Row& row) { return static_cast<double>(row.prompt_tokens); });
  summary.branch_events = mean_over(rows, [](const Row& row) { return row.branch_events; });
  summary.seconds = mean_over(rows, [](const Row& row) { return row.seconds; });
  summary.truncated = ended > 0 ? exhausted / ended : 0;
  summary.unextracted = mean_over(finished, [](const Row& row) { return row.extracted ? 0.0 : 1.0; });
  return summary;
}

std::vector<Summary> summarise(std::span<const Row> rows) {
  using Name = std::tuple<std::string, std::string, std::string>;
  const auto name_of = [](const RowKey& key) { return Name{key.model, key.dataset, key.method}; };
  std::vector<Name> order;
  std::map<Name, Rows> groups;
  for (const Row& row : rows) {
    Rows& group = groups[name_of(row.key)];
    if (group.empty()) order.push_back(name_of(row.key));
    group.push_back(&row);
  }
  std::vector<Summary> summaries;
  summaries.reserve(order.size());
  for (const Name& name : order) {
    summaries.push_back(
        summarise(groups[name], groups[{std::get<0>(name), std::get<1>(name), std::string(kBaseline)}]));
  }
  return summaries;
}

}  // namespace dts::eval
