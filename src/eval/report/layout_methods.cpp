// The sections that compare methods: accuracy, compute, radar.
#include <fmt/format.h>

#include <algorithm>

#include "eval/report/figures.h"
#include "eval/report/layout.h"
#include "eval/report/layout_common.h"

namespace dts::eval::report {
namespace {

constexpr const char* kEveryMethod =
    "--methods standard,self-consistency,deepconf-low,deepconf-high,dts-greedy,dts-stable";

const Benchmark* find(const Results& results, const std::string& model, const std::string& dataset) {
  const auto& all = results.benchmarks();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Benchmark& b) { return b.model == model && b.dataset == dataset; });
  return found == all.end() ? nullptr : &*found;
}

// The methods that a model was run with, each once.
std::vector<const MethodResults*> methods_of(const Results& results, const std::string& model) {
  std::vector<const MethodResults*> out;
  for (const Benchmark& benchmark : results.benchmarks()) {
    if (benchmark.model != model) continue;
    for (const MethodResults& method : benchmark.methods) {
      const bool known =
          std::any_of(out.begin(), out.end(), [&](const MethodResults* other) { return other->label == method.label; });
      if (!method.ablation && !known) out.push_back(&method);
    }
  }
  return out;
}

// The paper's Table 1: a row for each method, accuracy and improvement for each dataset and on average. For one dataset
// the table by method says it already.
Table wide_table(const Results& results) {
  Table table{"table-1", "Accuracy (%) and improvement on standard decoding (points), by dataset", {}, {}};
  table.columns = {{"model", "model"}, {"method", "method"}};
  const auto add_columns = [&table](const std::string& name) {
    table.columns.push_back({name + "_accuracy", name, Unit::kPercent});
    table.columns.push_back({name + "_improvement", "improve", Unit::kPoints});
  };
  const std::vector<std::string> datasets = results.datasets();
  for (const std::string& dataset : datasets) add_columns(dataset);
  add_columns("average");
  const std::vector<Average> all = averages(results);
  for (const std::string& model : results.models()) {
    const std::size_t first = table.rows.size();
    for (const MethodResults* method : methods_of(results, model)) {
      std::vector<Cell> row = {Cell::text(model), Cell::text(method->name)};
      for (const std::string& dataset : datasets) {
        const Benchmark* benchmark = find(results, model, dataset);
        const MethodResults* here = benchmark == nullptr ? nullptr : benchmark->find(method->label);
        row.push_back(here == nullptr ? Cell{} : Cell::interval(here->summary.accuracy));
        row.push_back(here == nullptr ? Cell{} : Cell::interval(here->summary.difference));
      }
      const auto average = std::find_if(all.begin(), all.end(), [&](const Average& one) {
        return one.model == model && one.method == method->label;
      });
      row.push_back(average == all.end() ? Cell{} : Cell::interval(average->accuracy));
      row.push_back(average == all.end() ? Cell{} : Cell::interval(average->difference));
      table.rows.push_back(std::move(row));
    }
    std::vector<std::string> labels;
    for (const MethodResults* method : methods_of(results, model)) labels.push_back(method->label);
    std::vector<const Benchmark*> together;
    for (std::size_t d = 0; d < datasets.size(); ++d) {
      const Benchmark* benchmark = find(results, model, datasets[d]);
      if (benchmark == nullptr) continue;
      mark_best(table, first, 2 + 2 * d, labels, {benchmark});
      together.push_back(benchmark);
    }
    mark_best(table, first, 2 + 2 * datasets.size(), labels, together);
  }
  table.note = kBestNote;
  return table;
}

}  // namespace

Section accuracy_section(const Results& results) {
  Section section{"accuracy", "Accuracy", "Table 1 of the paper", "", {}, {}, {}, ""};
  section.text =
      "Right answers, as the mean over questions and seeds (avg@n, n being the seeds). Brackets are 95% intervals; "
      "the seeds of one question do not count as questions. Differences are against standard decoding on the same "
      "question with the same seed. maj@n: the seeds' answers vote. pass@n: at least one seed is right. Any right: "
      "a trajectory that finished, chosen or not, is right.";
  Table table = place_table("methods", "Accuracy by method",
                            {{"method", "method"},
                             {"accuracy", "accuracy, avg@n (%)", Unit::kPercent},
                             {"difference", "against standard", Unit::kPoints},
                             {"majority", "maj@n (%)", Unit::kPercent},
                             {"pass", "pass@n (%)", Unit::kPercent},
                             {"any_right", "any right (%)", Unit::kPercent},
                             {"questions", "questions", Unit::kCount},
                             {"seeds", "n", Unit::kCount}});
  bool compared = false;
  for (const Benchmark& benchmark : results.benchmarks()) {
    const std::size_t first = table.rows.size();
    std::vector<std::string> labels;
    DotChart chart{place_name(results, benchmark), "accuracy, %", {}, std::nullopt};
    for (const MethodResults& method : benchmark.methods) {
      if (method.ablation) continue;
      const Summary& s = method.summary;
      if (method.label == kBaseline) chart.reference = s.accuracy.mean;
      labels.push_back(method.label);
      chart.dots.push_back({method.method, method.name, s.accuracy});
      add_row(table, benchmark,
              {Cell::text(method.name), Cell::interval(s.accuracy), Cell::interval(s.difference),
               Cell::interval(s.majority), Cell::interval(s.pass), Cell::interval(s.any_right),
               Cell::number(static_cast<double>(s.questions)), Cell::number(static_cast<double>(s.seeds))});
      compared = compared || s.difference.has_value();
    }
    mark_best(table, first, 3, labels, {&benchmark});
    if (!chart.dots.empty()) section.charts.emplace_back(std::move(chart));
  }
  table.note = kBestNote;
  if (results.datasets().size() > 1) section.tables.push_back(wide_table(results));
  section.tables.push_back(std::move(table));
  if (!compared) {
    section.missing = "There is nothing to compare with standard decoding: " + command_for(results, kEveryMethod);
  }
  return section;
}

Section compute_section(const Results& results) {
  Section section{"compute", "Accuracy against compute", "Figure 5 of the paper", "", {}, {}, {}, ""};
  section.text =
      "Compute is estimated from the model's size and from every token that it evaluated, prompt included, over all "
      "branches. Tokens are means a question: over all branches as if each had been decoded alone; unique, which is "
      "what was decoded; on the critical path, which is the number of steps; of the trajectory that was chosen. "
      "Voted: trajectories that finished with an answer and, in DeepConf, not below its bar. "
      "No end: no trajectory of the question ended "
      "within the token budget. Truncated: trajectories, of those that ran to an end, that reached the budget. No "
      "answer: finished, but no answer was found.";
  Table table = place_table("cost", "What an answer costs",
                            {{"method", "method"},
                             {"accuracy", "accuracy (%)", Unit::kPercent},
                             {"flops", "compute", Unit::kFlops},
                             {"branch_tokens", "tokens, all branches", Unit::kCount},
                             {"unique_tokens", "unique", Unit::kCount},
                             {"steps", "critical path", Unit::kCount},
                             {"chosen_tokens", "chosen", Unit::kCount},
                             {"branch_events", "decisions", Unit::kMean},
                             {"voted", "voted", Unit::kMean},
                             {"unfinished", "no end (%)", Unit::kPercent},
                             {"truncated", "truncated (%)", Unit::kPercent},
                             {"unextracted", "no answer (%)", Unit::kPercent}});
  // Seconds that a question saw while others shared the engine say nothing about a method.
  const bool timed = std::any_of(results.benchmarks().begin(), results.benchmarks().end(), [](const Benchmark& b) {
    return std::any_of(b.methods.begin(), b.methods.end(), [](const MethodResults& m) { return m.timed(); });
  });
  if (timed) {
    section.text += " Seconds: of methods whose questions were decoded one at a time (dts eval --timing).";
    table.columns.push_back({"seconds", "seconds", Unit::kSeconds});
  }
  const std::vector<std::string> models = results.models();
  // The paper's figure: both years of AIME together.
  const std::vector<std::string> years = {"aime24", "aime25"};
  ScatterChart both{"average of AIME24 and AIME25", "compute a question", "average accuracy, %", models, {}};
  for (const Average& average : averages(results, years)) {
    const auto group =
        static_cast<std::size_t>(std::find(models.begin(), models.end(), average.model) - models.begin());
    const MethodResults* method = find(results, average.model, years.front())->find(average.method);
    if (average.flops.low > 0) {
      both.points.push_back({method->method, average.name, group, average.flops, average.accuracy});
    }
  }
  if (!both.points.empty()) section.charts.emplace_back(std::move(both));
  for (const std::string& dataset : results.datasets()) {
    ScatterChart chart{
        results.datasets().size() > 1 ? dataset_title(dataset) : "", "compute a question", "accuracy, %", models, {}};
    for (const Benchmark& benchmark : results.benchmarks()) {
      if (benchmark.dataset != dataset) continue;
      const auto group =
          static_cast<std::size_t>(std::find(models.begin(), models.end(), benchmark.model) - models.begin());
      for (const MethodResults& method : benchmark.methods) {
        if (method.ablation) continue;
        const Summary& s = method.summary;
        if (s.flops.low > 0) {
          chart.points.push_back({method.method, method.name, group, s.flops, s.accuracy});
        }
        add_row(table, benchmark,
                {Cell::text(method.name), Cell::interval(s.accuracy), Cell::interval(s.flops),
                 Cell::number(s.branch_tokens), Cell::number(s.unique_tokens), Cell::number(s.steps),
                 Cell::number(s.chosen_tokens), Cell::number(s.branch_events), Cell::number(s.voted),
                 Cell::number(s.unfinished.mean), Cell::number(s.truncated), Cell::number(s.unextracted)});
        if (timed) table.rows.back().push_back(method.timed() ? Cell::number(s.seconds) : Cell{});
      }
    }
    if (!chart.points.empty()) section.charts.emplace_back(std::move(chart));
  }
  section.tables.push_back(std::move(table));
  return section;
}

Section radar_section(const Results& results) {
  Section section{"radar", "Comprehensive performance", "Figure 1 of the paper", "", {}, {}, {}, ""};
  section.text = results.datasets().size() >= 3
                     ? "Accuracy of the methods on the datasets."
                     : "Accuracy of the methods on the parts of a dataset: its tasks in one figure, its difficulties "
                       "in another. With three datasets or more the axes are those, as in the paper.";
  for (const Radar& radar : radars(results)) {
    const std::string title =
        fmt::format("{}by {}", results.benchmarks().size() > 1 ? radar.model + ", " : "", radar.by);
    RadarChart chart{title, {}, {}};
    Table table{"radar-by-" + radar.by,
                fmt::format("Accuracy (%) by {}, {}", radar.by, radar.model),
                {{"model", "model"}, {"method", "method"}},
                {}};
    for (const std::string& axis : radar.axes) {
      const std::string shown = radar.by == "dataset" ? dataset_title(axis) : axis;
      chart.axes.push_back(shown);
      table.columns.push_back({axis, shown, Unit::kPercent});
    }
    for (const Radar::Series& series : radar.series) {
      chart.series.push_back({series.method, series.name, series.accuracy});
      std::vector<Cell> row = {Cell::text(radar.model), Cell::text(series.name)};
      for (const double accuracy : series.accuracy) row.push_back(Cell::number(accuracy));
      table.rows.push_back(std::move(row));
    }
    section.charts.emplace_back(std::move(chart));
    section.tables.push_back(std::move(table));
  }
  if (section.charts.empty()) {
    section.missing =
        "It needs three datasets, or one with at least three tasks or difficulties: dts eval --paper --dataset "
        "aime24=aime24.parquet,aime25=aime25.jsonl,gpqa-diamond=gpqa_diamond.csv -o results.db";
  }
  return section;
}

}  // namespace dts::eval::report
