// The paper's other tables and figures: repetition, selection, criterion, length, and what samples are good for.
#include <fmt/format.h>

#include <algorithm>

#include "eval/report/figures.h"
#include "eval/report/layout.h"
#include "eval/report/layout_common.h"

namespace dts::eval::report {
namespace {

// A table of two methods side by side, and of their difference.
struct Pair {
  std::string first, second;  // labels
  std::string key, caption;
};

void add_versus(Section& section, const Results& results, const Pair& pair,
                const std::function<double(const Row&)>& value, bool by_task) {
  Table table = place_table(pair.key, pair.caption,
                            {{"first", pair.first, Unit::kPercent},
                             {"second", pair.second, Unit::kPercent},
                             {"difference", "difference", Unit::kPoints}});
  for (const Benchmark& benchmark : results.benchmarks()) {
    const std::optional<Versus> found = versus(benchmark, pair.first, pair.second, value, by_task);
    if (!found) continue;
    add_row(table, benchmark,
            {Cell::interval(found->first), Cell::interval(found->second), Cell::interval(found->difference)});
    // The paper's last row of a model, where it has several datasets.
    std::vector<const Benchmark*> same;
    for (const Benchmark& other : results.benchmarks()) {
      if (other.model == benchmark.model) same.push_back(&other);
    }
    if (by_task || same.back() != &benchmark) continue;
    if (const std::optional<Versus> average = average_versus(same, pair.first, pair.second, value)) {
      table.rows.push_back({Cell::text(benchmark.model), Cell::text("average"), Cell::interval(average->first),
                            Cell::interval(average->second), Cell::interval(average->difference)});
    }
  }
  if (!table.rows.empty()) section.tables.push_back(std::move(table));
}

std::string rule_text(const CriterionRow& row) {
  if (row.criterion == "high-entropy") return fmt::format("H >= {}", row.tau_h);
  if (row.criterion == "either") return fmt::format("(VE >= {}, H <= {}) or H >= {}", row.tau_v, row.tau_h, row.tau_h);
  return fmt::format("VE >= {}, H <= {}", row.tau_v, row.tau_h);
}

// A dataset's chart, with a line for each model: the paper's panels.
void add_to_chart(std::vector<LineChart>& charts, const std::string& title, const std::string& model,
                  const std::vector<LengthBin>& bins) {
  auto chart = std::find_if(charts.begin(), charts.end(), [&](const LineChart& one) { return one.title == title; });
  if (chart == charts.end()) {
    const std::string part = bins.size() == 10 ? "tenth" : fmt::format("of {} parts", bins.size());
    chart = charts.insert(charts.end(),
                          LineChart{title, "length, tokens (mean of each " + part + ")", "accuracy, %", false, {}});
  }
  LineChart::Series series{model, {}};
  for (const LengthBin& bin : bins) series.points.emplace_back(bin.mean_length, bin.accuracy);
  chart->series.push_back(std::move(series));
}

void add_bins(Table& table, const Benchmark& benchmark, const std::string& by, const std::vector<LengthBin>& bins) {
  for (std::size_t i = 0; i < bins.size(); ++i) {
    const LengthBin& bin = bins[i];
    add_row(table, benchmark,
            {Cell::text(by), Cell::text(fmt::format("{} of {}", i + 1, bins.size())),
             Cell::number(static_cast<double>(bin.samples)), Cell::number(bin.mean_length), Cell::number(bin.shortest),
             Cell::number(bin.longest), Cell::interval(bin.accuracy)});
  }
}

}  // namespace

Section repetition_section(const Results& results) {
  Section section{"repetition", "Repetition rate", "Table 2 of the paper", "", {}, {}, {}, ""};
  section.text =
      "Share of questions on which no trajectory ended within the token budget, which is how the paper recognises "
      "endless repetition. Lower is better.";
  const auto unfinished = [](const Row& row) { return row.finished ? 0.0 : 1.0; };
  add_versus(section, results, {"standard", "dts-greedy", "repetition-greedy", "Repetition rate (%), DTS-Greedy"},
             unfinished, false);
  add_versus(section, results, {"standard", "dts-stable", "repetition-stable", "Repetition rate (%), DTS-Stable"},
             unfinished, false);
  if (section.tables.empty()) {
    section.missing = "Rows of standard and dts-greedy: " + command_for(results, "--methods standard,dts-greedy");
  }
  return section;
}

Section selection_section(const Results& results) {
  Section section{"selection", "Max-logit against early stopping", "Table 3 of the paper", "", {}, {}, {}, ""};
  section.text =
      "The same rule for branching, another way to choose: the tree grown to its end and the trajectory with the "
      "highest log-probability taken, divided by ((5 + L) / 6)^alpha for its length L (Wu et al. 2016; alpha 0.6), "
      "against "
      "the first that finished (DTS-Greedy) and the vote of the first eight (DTS-Stable). The result depends on alpha, "
      "so "
      "the last table has others, each choosing among the same trajectories.";
  const auto score = [](const Row& row) { return row.score; };
  add_versus(section, results, {"max-logit", "dts-greedy", "selection-greedy", "Accuracy (%), DTS-Greedy"}, score,
             true);
  add_versus(section, results, {"max-logit", "dts-stable", "selection-stable", "Accuracy (%), DTS-Stable"}, score,
             true);
  Table alphas = place_table("selection-alpha", "Accuracy (%) of max-logit by length penalty",
                             {{"alpha", "alpha"}, {"accuracy", "max-logit (%)", Unit::kPercent}});
  for (const Benchmark& benchmark : results.benchmarks()) {
    for (const AlphaRow& row : alpha_sensitivity(benchmark)) {
      add_row(alphas, benchmark,
              {Cell::text(row.used ? row.rule + " (as above)" : row.rule), Cell::interval(row.accuracy)});
    }
  }
  if (!alphas.rows.empty()) section.tables.push_back(std::move(alphas));
  if (section.tables.empty()) {
    section.missing =
        "Rows of max-logit and dts-greedy: " + command_for(results, "--methods max-logit,dts-greedy,dts-stable");
  }
  return section;
}

Section criterion_section(const Results& results) {
  Section section{"criterion", "What makes a decision token", "Table 4 of the paper", "", {}, {}, {}, ""};
  section.text = "Accuracy with other criteria and thresholds for branching, and what they cost.";
  Table table = place_table("criterion", "Accuracy (%) by criterion",
                            {{"rule", "a token is a decision when"},
                             {"greedy", "dts-greedy (%)", Unit::kPercent},
                             {"stable", "dts-stable (%)", Unit::kPercent},
                             {"stable_events", "decisions", Unit::kMean},
                             {"stable_unique_tokens", "unique tokens", Unit::kCount}});
  for (const Benchmark& benchmark : results.benchmarks()) {
    for (const CriterionRow& one : criteria(benchmark)) {
      add_row(table, benchmark,
              {Cell::text(rule_text(one)), one.greedy ? Cell::interval(one.greedy->accuracy) : Cell{},
               one.stable ? Cell::interval(one.stable->accuracy) : Cell{},
               one.stable ? Cell::number(one.stable->branch_events) : Cell{},
               one.stable ? Cell::number(one.stable->unique_tokens) : Cell{}});
    }
  }
  if (table.rows.empty()) {
    section.missing = "Variants of the criterion: " +
                      command_for(results,
                                  "--methods dts-greedy,dts-greedy:criterion=high-entropy,dts-greedy:criterion=either,"
                                  "dts-greedy:tau-h=1.2,dts-stable,dts-stable:criterion=high-entropy,"
                                  "dts-stable:criterion=either,dts-stable:tau-h=1.2");
  } else {
    section.tables.push_back(std::move(table));
  }
  return section;
}

Section length_section(const Results& results) {
  Section section{"length", "Length and accuracy", "Figure 2 of the paper", "", {}, {}, {}, ""};
  section.text =
      "Independent samples of standard decoding in order of their length, cut into tenths. Pooled: all problems "
      "together, as in the paper. Within: each problem's samples among themselves, so that hard problems having "
      "long traces does not count. A sample that reached the token budget counts as wrong.";
  std::vector<std::pair<const Benchmark*, LengthStudy>> studies;
  bool tenths = true;
  for (const Benchmark& benchmark : results.benchmarks()) {
    std::optional<LengthStudy> study = length_study(benchmark);
    if (!study || study->pooled.size() < 10) continue;  // too few for tenths
    tenths = tenths && (study->within.empty() || study->within.size() == 10);
    studies.emplace_back(&benchmark, *std::move(study));
  }
  if (!tenths)
    section.text += " Where a problem has fewer than ten samples they are cut into as many parts as there are.";
  Table table = place_table("length", "Accuracy (%) by length",
                            {{"by", tenths ? "tenths" : "parts"},
                             {"bin", tenths ? "tenth" : "part"},
                             {"samples", "samples", Unit::kCount},
                             {"mean_length", "mean length", Unit::kCount},
                             {"shortest", "from", Unit::kCount},
                             {"longest", "to", Unit::kCount},
                             {"accuracy", "accuracy (%)", Unit::kPercent}});
  Table gains = place_table(
      "length-difference", fmt::format("Shortest less longest {} of each problem (points)", tenths ? "tenth" : "part"),
      {{"samples", "samples", Unit::kCount}, {"difference", "shortest less longest", Unit::kPoints}});
  std::vector<LineChart> pooled;
  std::vector<LineChart> within;
  for (const auto& [benchmark, study] : studies) {
    add_to_chart(pooled, dataset_title(benchmark->dataset), benchmark->model, study.pooled);
    add_bins(table, *benchmark, "pooled", study.pooled);
    if (study.within.empty()) continue;
    add_to_chart(within, dataset_title(benchmark->dataset) + ", within problems", benchmark->model, study.within);
    add_bins(table, *benchmark, "within", study.within);
    add_row(gains, *benchmark,
            {Cell::number(static_cast<double>(study.samples)), Cell::interval(study.shortest_less_longest)});
  }
  for (const std::vector<LineChart>* charts : {&pooled, &within}) {
    for (const LineChart& chart : *charts) section.charts.emplace_back(chart);
  }
  if (table.rows.empty()) {
    section.missing =
        "Samples of standard decoding, 100 a problem in the paper: " + command_for(results, "--length-study 100");
    return section;
  }
  if (!gains.rows.empty()) section.tables.push_back(std::move(gains));
  section.tables.push_back(std::move(table));
  return section;
}

Section samples_section(const Results& results) {
  Section section{"samples", "What more samples bring", "avg@n, maj@k, pass@k", "", {}, {}, {}, ""};
  section.text =
      "Independent samples of standard decoding. maj@k: k of them vote (the mean over disjoint groups of k). "
      "pass@k: at least one of k is right, estimated without bias. Where there is no partial credit, k = 1 of pass@k "
      "is avg@n.";
  Table table = place_table("samples", "maj@k and pass@k (%)",
                            {{"n", "n", Unit::kCount, true},
                             {"k", "k", Unit::kCount, true},
                             {"majority", "maj@k (%)", Unit::kPercent},
                             {"pass", "pass@k (%)", Unit::kPercent}});
  for (const Benchmark& benchmark : results.benchmarks()) {
    const std::optional<SamplingCurve> curve = sampling_curve(benchmark);
    if (!curve) continue;
    LineChart chart{place_name(results, benchmark), "k", "%", true, {{"maj@k", {}}, {"pass@k", {}}}};
    for (const SamplingCurve::Point& point : curve->points) {
      chart.series[0].points.emplace_back(point.k, point.majority);
      chart.series[1].points.emplace_back(point.k, point.pass);
      add_row(
          table, benchmark,
          {Cell::number(curve->n), Cell::number(point.k), Cell::interval(point.majority), Cell::interval(point.pass)});
    }
    section.charts.emplace_back(std::move(chart));
  }
  if (table.rows.empty()) {
    section.missing = "Several samples a problem: " + command_for(results, "--length-study 100");
  } else {
    section.tables.push_back(std::move(table));
  }
  return section;
}

}  // namespace dts::eval::report
