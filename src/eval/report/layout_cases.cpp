// Case studies: one question as several methods answered it.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "dts/answer.h"
#include "dts/draw.h"
#include "dts/error.h"
#include "eval/report/layout.h"
#include "eval/report/layout_common.h"
#include "text/ascii.h"
#include "text/numbers.h"
#include "text/quote.h"

namespace dts::eval::report {
namespace {

using namespace text;

const Row* find_row(const Benchmark& benchmark, std::string_view label, const std::string& question,
                    std::uint64_t seed) {
  const MethodResults* results = benchmark.find(label);
  if (results == nullptr) return nullptr;
  const auto found = std::find_if(results->rows.begin(), results->rows.end(), [&](const Row* row) {
    return row->key.question == question && row->key.seed == seed;
  });
  return found == results->rows.end() ? nullptr : *found;
}

// The method whose difference from standard decoding a case shows.
const MethodResults* shown_method(const Benchmark& benchmark) {
  for (const char* label : {"dts-stable", "dts-greedy"}) {
    if (const MethodResults* results = benchmark.find(label)) return results;
  }
  return nullptr;
}

// How well a question and seed show it: standard decoding never ends, or is wrong, where the other is right; the
// longer it goes astray the better.
double shows(const Row& standard, const Row& other) {
  if (other.score < 1 || standard.score >= 1) return 0;
  return (standard.finished ? 1e6 : 2e6) + standard.steps;
}

struct Choice {
  std::string question;
  std::uint64_t seed = 0;
  std::string label;  // of the method whose row it is
};

// Of one method's rows. `question` empty: any.
std::optional<Choice> choose_from(const Benchmark& benchmark, const MethodResults& method, const std::string& question,
                                  std::optional<std::uint64_t> seed) {
  std::optional<Choice> best;
  double most = -1;
  for (const Row* row : method.rows) {
    if ((!question.empty() && row->key.question != question) || (seed && row->key.seed != *seed)) continue;
    const Row* standard = find_row(benchmark, kBaseline, row->key.question, row->key.seed);
    const double value = standard == nullptr ? 0 : shows(*standard, *row);
    if (value > most) best = Choice{row->key.question, row->key.seed, method.label};
    most = std::max(most, value);
  }
  return !question.empty() || most > 0 ? best : std::nullopt;
}

// A question that was asked for is shown whichever method has it.
std::optional<Choice> choose(const Benchmark& benchmark, const std::string& question,
                             std::optional<std::uint64_t> seed) {
  if (const MethodResults* method = shown_method(benchmark)) {
    if (auto choice = choose_from(benchmark, *method, question, seed)) return choice;
  }
  if (question.empty()) return std::nullopt;
  for (const MethodResults& method : benchmark.methods) {
    if (auto choice = choose_from(benchmark, method, question, seed)) return choice;
  }
  return std::nullopt;
}

CaseTrace trace_of(const MethodResults& method, const Row& row, const TreeDocument& document, bool& drawn) {
  CaseTrace trace;
  trace.method = method.method;
  trace.heading = fmt::format("{}, seed {}", method.name, row.key.seed);
  trace.right = row.score >= 1;
  trace.verdict = !row.finished    ? "no trajectory ended"
                  : !row.extracted ? "no answer found"
                  : row.score >= 1 ? "✓ right: " + row.answer
                  : row.score > 0  ? fmt::format("{:.0f}% right: {}", 100 * row.score, row.answer)
                                   : "✗ wrong: " + row.answer;
  trace.cost = fmt::format("{} decoded in {}", counted(row.unique_tokens, "token"), counted(row.steps, "step"));
  if (row.votes > 1) trace.cost += fmt::format("; {} trajectories finished", row.votes);
  if (row.finished) trace.cost += fmt::format("; this one has {}", row.chosen_tokens);
  const SegmentId leaf = document.outcome.best_leaf;
  if (leaf != kNoSegment) {
    const std::string text = trajectory_text(document, leaf);
    const SplitText parts = split_thinking(text, document.opens_thinking);
    trace.thinking = std::string(trim(parts.thinking));
    trace.answer = std::string(trim(parts.answer));
  }
  if (row.branch_events > 0 && !drawn) {
    trace.tree = draw_svg(document);
    drawn = true;  // one tree a case: two of the same would hide the text
  }
  return trace;
}

void add_case(Section& section, const Results& results, const Benchmark& benchmark, const Choice& choice,
              const std::vector<std::string>& labels) {
  Case one{benchmark.model, benchmark.dataset, choice.question, "", "", {}};
  bool drawn = false;
  for (const std::string& label : labels) {
    const Row* row = find_row(benchmark, label, choice.question, choice.seed);
    if (row == nullptr) continue;
    const TreeDocument document = results.document(*row);
    one.question = document.question;
    one.gold = row->gold;
    one.traces.push_back(trace_of(*benchmark.find(label), *row, document, drawn));
  }
  if (!one.traces.empty()) section.cases.push_back(std::move(one));
}

// How every method fared on the question, over all seeds.
Table all_methods(const Benchmark& benchmark, const std::string& question) {
  Table table = place_table("case-" + question, fmt::format("Every method on {}", question),
                            {{"question", "question"},
                             {"method", "method"},
                             {"seeds", "seeds", Unit::kCount},
                             {"accuracy", "right (%)", Unit::kPercent},
                             {"answers", "answers, by seed"}});
  for (const MethodResults& method : benchmark.methods) {
    double score = 0;
    double rows = 0;
    std::string answers;
    for (const Row* row : method.rows) {
      if (row->key.question != question) continue;
      score += row->score;
      ++rows;
      answers += (answers.empty() ? "" : ", ") + (row->answer.empty() ? "none" : row->answer);
    }
    if (rows == 0) continue;
    add_row(table, benchmark,
            {Cell::text(question), Cell::text(method.name), Cell::number(rows), Cell::number(score / rows),
             Cell::text(std::move(answers))});
  }
  return table;
}

}  // namespace

Section cases_section(const Results& results, const LayoutOptions& options) {
  Section section{"cases", "Case studies", "Figure 6 of the paper", "", {}, {}, {}, ""};
  section.text =
      "One question, side by side. Sentences that a trace repeats word for word are marked. `dts report --case "
      "QUESTION` shows any other.";
  constexpr std::size_t kMostCases = 4;
  if (options.cases.empty()) {
    for (const Benchmark& benchmark : results.benchmarks()) {
      const std::optional<Choice> choice = choose(benchmark, "", options.seed);
      if (!choice || section.cases.size() >= kMostCases) continue;
      add_case(section, results, benchmark, *choice, {std::string(kBaseline), shown_method(benchmark)->label});
    }
    if (section.cases.empty()) {
      section.missing = "A question that standard decoding gets wrong and DTS right: " +
                        command_for(results, "--methods standard,dts-stable");
    }
    return section;
  }
  for (const std::string& question : options.cases) {
    bool found = false;
    for (const Benchmark& benchmark : results.benchmarks()) {
      const std::optional<Choice> choice = choose(benchmark, question, options.seed);
      if (!choice) continue;
      found = true;
      std::vector<std::string> labels;
      for (const char* label : {"standard", "self-consistency", "dts-greedy", "dts-stable"}) labels.emplace_back(label);
      if (std::find(labels.begin(), labels.end(), choice->label) == labels.end()) labels.push_back(choice->label);
      add_case(section, results, benchmark, *choice, labels);
      section.tables.push_back(all_methods(benchmark, question));
    }
    if (!found) {
      throw usage_error(fmt::format("{} is {}: there is no such question in the results{}", option_name("case"),
                                    in_quotes(question),
                                    options.seed ? fmt::format(" with seed {}", *options.seed) : ""));
    }
  }
  return section;
}

}  // namespace dts::eval::report
