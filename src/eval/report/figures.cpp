#include "eval/report/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "eval/report/metrics.h"

namespace dts::eval::report {
namespace {

double score_of(const Row& row) { return row.score; }

std::vector<const Benchmark*> of_model(const Results& results, const std::string& model) {
  std::vector<const Benchmark*> out;
  for (const Benchmark& benchmark : results.benchmarks()) {
    if (benchmark.model == model) out.push_back(&benchmark);
  }
  return out;
}

// Strata of several datasets under one roof: each dataset weighs the same, and so do the tasks within one.
void append(std::vector<Stratum>& all, std::vector<Stratum> dataset) {
  for (Stratum& stratum : dataset) {
    stratum.weight = 1.0 / static_cast<double>(dataset.size());
    all.push_back(std::move(stratum));
  }
}

// --- length ---

struct LengthSample {
  int length = 0;
  double score = 0;
  const std::string* question = nullptr;
};

LengthSample length_sample(const Row& row) {
  return {row.finished ? row.chosen_tokens : row.steps, row.score, &row.key.question};
}

const Rows& samples_of(const Benchmark& benchmark) {
  return benchmark.samples.rows.empty() ? benchmark.baseline() : benchmark.samples.rows;
}

LengthBin bin_of(const std::vector<LengthSample>& samples) {
  LengthBin bin;
  bin.samples = samples.size();
  std::map<std::string, std::vector<double>> scores;
  double sum = 0;
  for (const LengthSample& sample : samples) {
    if (&sample == &samples.front() || sample.length < bin.shortest) bin.shortest = sample.length;
    bin.longest = std::max(bin.longest, sample.length);
    sum += sample.length;
    scores[*sample.question].push_back(sample.score);
  }
  bin.mean_length = samples.empty() ? 0 : sum / static_cast<double>(samples.size());
  Stratum stratum;
  stratum.clusters.reserve(scores.size());
  for (auto& [question, values] : scores) stratum.clusters.push_back(std::move(values));
  bin.accuracy = share_interval(std::span(&stratum, 1));
  return bin;
}

// Sorted by length, cut into `bins` parts of equal size, as nearly as can be.
std::vector<std::vector<LengthSample>> cut(std::vector<LengthSample> samples, std::size_t bins) {
  std::stable_sort(samples.begin(), samples.end(),
                   [](const LengthSample& a, const LengthSample& b) { return a.length < b.length; });
  std::vector<std::vector<LengthSample>> parts(bins);
  for (std::size_t i = 0; i < samples.size(); ++i) parts[i * bins / samples.size()].push_back(samples[i]);
  return parts;
}

double mean_score(const std::vector<LengthSample>& samples) {
  double sum = 0;
  for (const LengthSample& sample : samples) sum += sample.score;
  return sum / static_cast<double>(samples.size());
}

// --- radar ---

using Axes = std::vector<std::pair<std::string, std::map<std::string, Rows>>>;  // with the methods' rows of each

Radar radar_of(std::string model, std::string by, const Axes& axes, const Benchmark& names) {
  Radar radar{std::move(model), std::move(by), {}, {}};
  for (const auto& [axis, rows] : axes) radar.axes.push_back(axis);
  for (const MethodResults& results : names.methods) {
    if (results.ablation) continue;
    Radar::Series series{results.method, results.name, {}};
    for (const auto& [axis, methods] : axes) {
      const auto rows = methods.find(results.label);
      if (rows == methods.end()) break;
      series.accuracy.push_back(mean_of(strata_of(rows->second, score_of)));
    }
    if (series.accuracy.size() == axes.size()) radar.series.push_back(std::move(series));
  }
  return radar;
}

// The parts of a dataset that rows name, with the methods' rows of each; `first` come in that order.
Axes parts_of(const Benchmark& benchmark, const std::function<const std::string&(const Row&)>& part,
              const std::vector<std::string>& first) {
  std::map<std::string, std::map<std::string, Rows>> found;
  for (const MethodResults& results : benchmark.methods) {
    for (const Row* row : results.rows) found[part(*row)][results.label].push_back(row);
  }
  found.erase("");
  Axes axes;
  if (found.size() < 3 || found.size() > 12) return axes;
  for (const std::string& name : first) {
    if (found.count(name) > 0) axes.emplace_back(name, std::move(found[name]));
    found.erase(name);
  }
  for (auto& [name, rows] : found) axes.emplace_back(name, std::move(rows));
  return axes;
}

}  // namespace

std::vector<Average> averages(const Results& results, const std::vector<std::string>& only) {
  std::vector<Average> out;
  for (const std::string& model : results.models()) {
    std::vector<const Benchmark*> benchmarks = of_model(results, model);
    if (!only.empty()) {
      std::erase_if(benchmarks, [&](const Benchmark* benchmark) {
        return std::find(only.begin(), only.end(), benchmark->dataset) == only.end();
      });
      if (benchmarks.size() < only.size()) continue;
    }
    if (benchmarks.size() < 2) continue;
    for (const MethodResults& method : benchmarks.front()->methods) {
      std::vector<Stratum> scores;
      std::vector<Stratum> gains;
      bool everywhere = !method.ablation;
      bool paired = method.label != kBaseline;
      for (const Benchmark* benchmark : benchmarks) {
        const MethodResults* here = benchmark->find(method.label);
        everywhere = everywhere && here != nullptr;
        if (!everywhere) break;
        append(scores, strata_of(here->rows, score_of));
        std::vector<Stratum> gained = paired_strata(here->rows, benchmark->baseline(), score_of);
        paired = paired && !gained.empty();
        append(gains, std::move(gained));
      }
      if (!everywhere) continue;
      Average average{model, method.label, method.name, benchmarks.size(), share_interval(scores), std::nullopt, {}};
      for (const Benchmark* benchmark : benchmarks) {
        const Interval& flops = benchmark->find(method.label)->summary.flops;
        const auto share = 1.0 / static_cast<double>(benchmarks.size());
        average.flops.mean += share * flops.mean;
        average.flops.low += share * flops.low;
        average.flops.high += share * flops.high;
      }
      if (paired) average.difference = difference_interval(gains);
      out.push_back(std::move(average));
    }
  }
  return out;
}

std::optional<Versus> versus(const Benchmark& benchmark, const std::string& first, const std::string& second,
                             const std::function<double(const Row&)>& value, bool by_task) {
  const MethodResults* a = benchmark.find(first);
  const MethodResults* b = benchmark.find(second);
  if (a == nullptr || b == nullptr) return std::nullopt;
  const auto mean = [&](const Rows& rows) {
    return by_task ? share_interval(strata_of(rows, value)) : rate_over_questions(rows, value);
  };
  Versus out{mean(a->rows), mean(b->rows), std::nullopt};
  std::vector<Stratum> gains = paired_strata(b->rows, a->rows, value);
  if (gains.empty()) return out;
  if (!by_task) {
    for (std::size_t i = 1; i < gains.size(); ++i) {
      std::move(gains[i].clusters.begin(), gains[i].clusters.end(), std::back_inserter(gains.front().clusters));
    }
    gains.resize(1);
  }
  out.difference = difference_interval(gains);
  return out;
}

std::optional<Interval> paired_difference(const std::vector<const Benchmark*>& benchmarks, const std::string& first,
                                          const std::string& second) {
  std::vector<Stratum> gains;
  for (const Benchmark* benchmark : benchmarks) {
    const MethodResults* a = benchmark->find(first);
    const MethodResults* b = benchmark->find(second);
    if (a == nullptr || b == nullptr) return std::nullopt;
    std::vector<Stratum> here = paired_strata(b->rows, a->rows, score_of);
    if (here.empty()) return std::nullopt;
    append(gains, std::move(here));
  }
  if (gains.empty()) return std::nullopt;
  return difference_interval(gains);
}

std::optional<Versus> average_versus(const std::vector<const Benchmark*>& benchmarks, const std::string& first,
                                     const std::string& second, const std::function<double(const Row&)>& rate) {
  std::vector<Stratum> firsts;
  std::vector<Stratum> seconds;
  std::vector<Stratum> gains;
  for (const Benchmark* benchmark : benchmarks) {
    const MethodResults* a = benchmark->find(first);
    const MethodResults* b = benchmark->find(second);
    if (a == nullptr || b == nullptr) continue;
    firsts.push_back(one_stratum(a->rows, rate));
    seconds.push_back(one_stratum(b->rows, rate));
    Stratum gained;
    for (const Stratum& part : paired_strata(b->rows, a->rows, rate)) {
      gained.clusters.insert(gained.clusters.end(), part.clusters.begin(), part.clusters.end());
    }
    if (!gained.clusters.empty()) gains.push_back(std::move(gained));
  }
  if (firsts.size() < 2) return std::nullopt;
  Versus out{share_interval(firsts), share_interval(seconds), std::nullopt};
  if (gains.size() == firsts.size()) out.difference = difference_interval(gains);
  return out;
}

std::vector<AlphaRow> alpha_sensitivity(const Benchmark& benchmark) {
  const MethodResults* method = benchmark.find("max-logit");
  if (method == nullptr) return {};
  for (const Row* row : method->rows) {
    for (const TraceResult& trace : row->traces) {
      if (!trace.mean_logprob) return {};
    }
  }
  using Measure = std::function<double(const TraceResult&)>;
  const auto accuracy = [&](const Measure& measure) {
    return share_interval(strata_of(method->rows, [&](const Row& row) {
      const TraceResult* best = nullptr;
      for (const TraceResult& trace : row.traces) {
        if (best == nullptr || measure(trace) > measure(*best)) best = &trace;
      }
      return best == nullptr ? 0.0 : best->score;
    }));
  };
  const std::string used = method->setting("length_alpha");
  std::vector<AlphaRow> out;
  for (const double alpha : {0.0, 0.2, 0.4, 0.6, 0.8, 1.0}) {
    const Measure measure = [alpha](const TraceResult& trace) {
      return length_penalised(*trace.mean_logprob * trace.length, trace.length, alpha);
    };
    const std::string text = fmt::format("{}", alpha);
    out.push_back({alpha == 0 ? "0: not normalised" : text, text == used, accuracy(measure)});
  }
  out.push_back({"mean per token", false, accuracy([](const TraceResult& trace) { return *trace.mean_logprob; })});
  return out;
}

std::vector<CriterionRow> criteria(const Benchmark& benchmark) {
  std::vector<CriterionRow> out;
  // As the paper lists them: high entropy, either, the decision rule; the highest threshold first.
  const std::vector<std::string> order = {"high-entropy", "either", "decision"};
  for (const MethodResults& results : benchmark.methods) {
    if (results.method != "dts-greedy" && results.method != "dts-stable") continue;
    if (results.label != results.method && !results.ablation) continue;  // varies something else
    const auto same = [&](const CriterionRow& row) {
      return row.criterion == results.setting("criterion") && row.tau_v == results.setting("tau_v") &&
             row.tau_h == results.setting("tau_h");
    };
    auto row = std::find_if(out.begin(), out.end(), same);
    if (row == out.end()) {
      out.push_back({results.setting("criterion"), results.setting("tau_v"), results.setting("tau_h"), {}, {}});
      row = std::prev(out.end());
    }
    (results.method == "dts-greedy" ? row->greedy : row->stable) = results.summary;
  }
  std::stable_sort(out.begin(), out.end(), [&](const CriterionRow& a, const CriterionRow& b) {
    const auto key = [&](const CriterionRow& row) {
      const auto at = std::find(order.begin(), order.end(), row.criterion);
      return std::tuple(at - order.begin(), -std::atof(row.tau_v.c_str()), -std::atof(row.tau_h.c_str()));
    };
    return key(a) < key(b);
  });
  if (out.size() < 2) out.clear();
  return out;
}

std::optional<LengthStudy> length_study(const Benchmark& benchmark) {
  constexpr std::size_t kBins = 10;
  const Rows& rows = samples_of(benchmark);
  if (rows.empty()) return std::nullopt;
  std::vector<LengthSample> all;
  std::map<std::string, std::vector<LengthSample>> by_question;
  for (const Row* row : rows) {
    all.push_back(length_sample(*row));
    by_question[row->key.question].push_back(all.back());
  }
  LengthStudy study;
  study.questions = by_question.size();
  study.samples = all.size();
  for (const auto& part : cut(all, std::min(kBins, all.size()))) study.pooled.push_back(bin_of(part));

  std::size_t bins = kBins;
  for (const auto& [question, samples] : by_question) bins = std::min(bins, samples.size());
  if (bins < 2) return study;
  std::vector<std::vector<LengthSample>> together(bins);
  Stratum gains;
  for (const auto& [question, samples] : by_question) {
    const auto parts = cut(samples, bins);
    for (std::size_t i = 0; i < bins; ++i) together[i].insert(together[i].end(), parts[i].begin(), parts[i].end());
    gains.clusters.push_back({mean_score(parts.front()) - mean_score(parts.back())});
  }
  for (const auto& part : together) study.within.push_back(bin_of(part));
  study.shortest_less_longest = difference_interval(std::span(&gains, 1));
  return study;
}

std::optional<SamplingCurve> sampling_curve(const Benchmark& benchmark) {
  const Rows& rows = samples_of(benchmark);
  std::map<std::string, std::size_t> counts;
  for (const Row* row : rows) ++counts[row->key.question];
  if (counts.empty()) return std::nullopt;
  std::size_t n = rows.size();
  for (const auto& [question, count] : counts) n = std::min(n, count);
  if (n < 2) return std::nullopt;

  SamplingCurve curve;
  curve.n = static_cast<int>(n);
  curve.average = share_interval(strata_of(rows, score_of));
  std::set<int> sizes = {curve.n};
  for (int k = 1; k < curve.n; k *= 2) sizes.insert(k);
  const SameAnswer same = same_answers_of(benchmark.dataset);
  for (const int k : sizes) {
    SamplingCurve::Point point{k, {}, {}};
    point.majority = share_interval(strata_by_question(rows, [k, &same](const Rows& samples) {
      std::vector<TraceResult> votes;
      for (const Row* row : samples) votes.push_back(as_sample(*row));
      return maj_at_k(votes, k, same);
    }));
    point.pass = share_interval(strata_by_question(rows, [k](const Rows& samples) {
      const auto right = std::count_if(samples.begin(), samples.end(), [](const Row* row) { return row->score >= 1; });
      return pass_at_k(static_cast<int>(samples.size()), static_cast<int>(right), k);
    }));
    curve.points.push_back(point);
  }
  return curve;
}

std::vector<Radar> radars(const Results& results) {
  std::vector<Radar> out;
  for (const std::string& model : results.models()) {
    const std::vector<const Benchmark*> benchmarks = of_model(results, model);
    if (benchmarks.size() >= 3) {
      Axes axes;
      for (const Benchmark* benchmark : benchmarks) {
        std::map<std::string, Rows> rows;
        for (const MethodResults& method : benchmark->methods) rows[method.label] = method.rows;
        axes.emplace_back(benchmark->dataset, std::move(rows));
      }
      out.push_back(radar_of(model, "dataset", axes, *benchmarks.front()));
      continue;
    }
    for (const Benchmark* benchmark : benchmarks) {
      const std::string name = benchmarks.size() > 1 ? model + ", " + benchmark->dataset : model;
      const Axes tasks = parts_of(*benchmark, [](const Row& row) -> const std::string& { return row.task; }, {});
      if (!tasks.empty()) out.push_back(radar_of(name, "task", tasks, *benchmark));
      const Axes levels = parts_of(*benchmark, [](const Row& row) -> const std::string& { return row.difficulty; },
                                   {"easy", "medium", "hard"});
      if (!levels.empty()) out.push_back(radar_of(name, "difficulty", levels, *benchmark));
    }
  }
  return out;
}

}  // namespace dts::eval::report
