#include "eval/report/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "eval/report/figures.h"
#include "eval/report/layout_common.h"

namespace dts::eval::report {
namespace {

std::string joined(const std::vector<std::string>& items) {
  std::string out;
  for (const std::string& item : items) out += (out.empty() ? "" : ", ") + item;
  return out;
}

double value_of(const Cell& cell) {
  if (const auto* interval = std::get_if<Interval>(&cell.value)) return interval->mean;
  if (const auto* number = std::get_if<double>(&cell.value)) return *number;
  return -1e300;
}

// A recorded command without the flags that say which rows to make. Values that have spaces are in quotes there.
std::string without_methods(const std::string& command) {
  constexpr std::array<std::string_view, 4> kValued = {"--methods", "--method", "--length-study", "--seeds"};
  std::vector<std::string> words;
  std::string word;
  bool quoted = false;
  for (const char c : command + " ") {
    if (c == '\'') quoted = !quoted;
    if (c == ' ' && !quoted) {
      if (!word.empty()) words.push_back(std::exchange(word, {}));
    } else {
      word += c;
    }
  }
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--paper" || words[i] == "--timing") continue;
    if (std::find(kValued.begin(), kValued.end(), words[i]) != kValued.end()) {
      ++i;
      continue;
    }
    out += (out.empty() ? "" : " ") + words[i];
  }
  return out;
}

std::vector<Headline> headlines(const Results& results) {
  std::vector<Headline> out;
  for (const Benchmark& benchmark : results.benchmarks()) {
    const MethodResults* method = benchmark.find("dts-stable");
    const MethodResults* baseline = benchmark.find(kBaseline);
    if (method == nullptr || baseline == nullptr) continue;
    const Summary& standard = baseline->summary;
    const Summary& stable = method->summary;
    std::string text = "standard decoding to dts-stable";
    if (stable.difference) {
      text += fmt::format(": {:+.1f} points ({:+.1f} to {:+.1f})", 100 * stable.difference->mean,
                          100 * stable.difference->low, 100 * stable.difference->high);
    }
    if (standard.flops.mean > 0) {
      text += fmt::format(", at {:.1f} times the compute and {:.2f} times the steps",
                          stable.flops.mean / standard.flops.mean, stable.steps / std::max(1.0, standard.steps));
    }
    out.push_back({benchmark.model + ", " + benchmark.dataset, standard.accuracy.mean, stable.accuracy.mean, text});
  }
  return out;
}

}  // namespace

Table place_table(std::string key, std::string caption, const std::vector<Column>& columns) {
  Table table{std::move(key), std::move(caption), {{"model", "model"}, {"dataset", "dataset"}}, {}};
  table.columns.insert(table.columns.end(), columns.begin(), columns.end());
  return table;
}

void add_row(Table& table, const Benchmark& benchmark, std::vector<Cell> cells) {
  std::vector<Cell> row = {Cell::text(benchmark.model), Cell::text(benchmark.dataset)};
  row.insert(row.end(), std::make_move_iterator(cells.begin()), std::make_move_iterator(cells.end()));
  table.rows.push_back(std::move(row));
}

std::string place_name(const Results& results, const Benchmark& benchmark) {
  const bool models = results.models().size() > 1;
  const bool datasets = results.datasets().size() > 1;
  if (models && datasets) return benchmark.model + ", " + benchmark.dataset;
  return models ? benchmark.model : benchmark.dataset;
}

std::string command_for(const Results& results, const std::string& arguments) {
  // As the results were made, but for what is to be made now: the data, the model and the file stay.
  if (!results.runs().empty()) {
    const std::string kept = without_methods(results.runs().back().command);
    if (kept.starts_with("dts eval")) return fmt::format("{} {}", kept, arguments);
  }
  const std::string dataset = results.datasets().empty() ? "nano-bench-mini" : results.datasets().front();
  return fmt::format("dts eval --dataset {} {} -o results.db", dataset, arguments);
}

void mark_best(Table& table, std::size_t first_row, std::size_t column, const std::vector<std::string>& labels,
               const std::vector<const Benchmark*>& benchmarks) {
  double best = -1e300;
  std::size_t winner = 0;
  std::size_t numbers = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const double value = value_of(table.rows[first_row + i][column]);
    if (value <= -1e300) continue;
    ++numbers;
    if (value > best) {
      best = value;
      winner = i;
    }
  }
  if (numbers < 2) return;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    Cell& cell = table.rows[first_row + i][column];
    if (value_of(cell) <= -1e300) continue;
    const std::optional<Interval> behind =
        i == winner ? std::nullopt : paired_difference(benchmarks, labels[i], labels[winner]);
    cell.best = i == winner || (behind && behind->low <= 0);
  }
}

std::string dataset_title(const std::string& dataset) {
  if (dataset == "aime24") return "AIME24";
  if (dataset == "aime25") return "AIME25";
  if (dataset == "gpqa-diamond") return "GPQA-D";
  if (dataset == "livebench-reasoning") return "LiveBench";
  return dataset;
}

Report lay_out(const Results& results, const LayoutOptions& options) {
  Report report;
  report.title = options.title;
  report.note = options.note;
  std::set<std::uint64_t> seeds;
  std::set<std::string> questions;
  for (const Benchmark& benchmark : results.benchmarks()) {
    for (const MethodResults& method : benchmark.methods) {
      for (const Row* row : method.rows) {
        seeds.insert(row->key.seed);
        questions.insert(benchmark.dataset + '\n' + row->key.question);
      }
    }
  }
  report.facts = {{results.models().size() == 1 ? "model" : "models", joined(results.models())},
                  {results.datasets().size() == 1 ? "dataset" : "datasets", joined(results.datasets())},
                  {"questions", fmt::format("{}", questions.size())},
                  {"seeds", fmt::format("{}", seeds.size())},
                  {"results", fmt::format("{}", results.rows())}};
  if (!options.only_cases) {
    report.headlines = headlines(results);
    report.sections = {accuracy_section(results),   compute_section(results),   radar_section(results),
                       repetition_section(results), selection_section(results), criterion_section(results),
                       length_section(results),     samples_section(results)};
  }
  report.sections.push_back(cases_section(results, options));
  if (!options.only_cases) report.sections.push_back(settings_section(results));
  return report;
}

}  // namespace dts::eval::report
