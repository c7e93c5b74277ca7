#include "eval/report/metrics.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "dts/vote.h"
#include "eval/grade/grade.h"

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

TraceResult as_sample(const Row& row) {
  TraceResult sample{row.chosen_tokens, row.score, row.answer};
  const bool letter = row.answer.size() == 1 && row.answer[0] >= 'A' &&
                      static_cast<std::size_t>(row.answer[0] - 'A') < row.options.size();
  if (letter) sample.answer = row.options.substr(static_cast<std::size_t>(row.answer[0] - 'A'), 1);
  return sample;
}

SameAnswer same_answers_of(std::string_view dataset) {
  const auto all = datasets();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const DatasetInfo& info) { return info.name == dataset; });
  return found == all.end() ? nullptr : same_answers(*found);
}

double majority_score(std::span<const TraceResult> samples, const SameAnswer& same) {
  std::vector<Ballot> ballots;
  AnswerClasses classes(same);
  for (const TraceResult& sample : samples) ballots.push_back({classes.class_of(sample.answer), sample.length});
  const std::vector<AnswerCount> counts = count_votes(ballots);
  return counts.empty() ? 0.0 : samples[static_cast<std::size_t>(counts.front().first)].score;
}

double maj_at_k(std::span<const TraceResult> samples, int k, const SameAnswer& same) {
  const std::size_t groups = samples.size() / static_cast<std::size_t>(k);
  double sum = 0;
  for (std::size_t g = 0; g < groups; ++g) {
    sum += majority_score(samples.subspan(g * static_cast<std::size_t>(k), static_cast<std::size_t>(k)), same);
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

Stratum one_stratum(const Rows& rows, const std::function<double(const Row&)>& value) {
  std::map<std::string, std::vector<double>> values;
  for (const Row* row : rows) values[row->key.question].push_back(value(*row));
  Stratum stratum;
  for (auto& [question, cluster] : values) stratum.clusters.push_back(std::move(cluster));
  return stratum;
}

Interval rate_over_questions(const Rows& rows, const std::function<double(const Row&)>& rate) {
  const Stratum stratum = one_stratum(rows, rate);
  return share_interval(std::span(&stratum, 1));
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

  summary.accuracy = share_interval(strata_of(rows, score));
  if (key.method != kBaseline) {
    const std::vector<Stratum> gains = paired_strata(rows, baseline, score);
    if (!gains.empty()) summary.difference = difference_interval(gains);
  }
  const SameAnswer same = same_answers_of(key.dataset);
  summary.majority = share_interval(strata_by_question(rows, [&](const Rows& samples) {
    std::vector<TraceResult> votes;
    for (const Row* row : samples) votes.push_back(as_sample(*row));
    return majority_score(votes, same);
  }));
  summary.pass = share_interval(strata_by_question(rows, [](const Rows& samples) {
    const int n = static_cast<int>(samples.size());
    return pass_at_k(n, right_ones(samples), n);
  }));
  summary.any_right = share_interval(strata_of(rows, [](const Row& row) {
    return std::any_of(row.traces.begin(), row.traces.end(), [](const TraceResult& t) { return t.score >= 1; }) ? 1.0
                                                                                                                : 0.0;
  }));
  summary.flops = cost_interval(one_stratum(rows, [](const Row& row) { return row.flops; }));
  summary.unfinished = rate_over_questions(rows, [](const Row& row) { return row.finished ? 0.0 : 1.0; });

  summary.branch_tokens = mean_over(rows, [](const Row& row) { return static_cast<double>(row.branch_tokens); });
  summary.unique_tokens = mean_over(rows, [](const Row& row) { return static_cast<double>(row.unique_tokens); });
  summary.steps = mean_over(rows, [](const Row& row) { return row.steps; });
  Rows answered = finished;
  std::erase_if(answered, [](const Row* row) { return row->chosen_tokens == 0; });
  summary.chosen_tokens = mean_over(answered, [](const Row& row) { return row.chosen_tokens; });
  summary.voted = mean_over(rows, [](const Row& row) { return row.voted; });
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
