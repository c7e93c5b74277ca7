// A comparison as JSON, as a report, and as a picture.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/comparison.h"
#include "draw/facts.h"
#include "draw/svg.h"
#include "dts/answer.h"
#include "text/ascii.h"
#include "text/display.h"
#include "text/markup.h"
#include "text/numbers.h"

namespace dts::cli {
namespace {

using namespace text;
namespace report = eval::report;
using report::Cell;
using report::Unit;

constexpr int kTitle = 200;  // cells of a report's title: a question may be a book

std::string verdict_of(const Comparison& comparison, const ComparedRun& run) {
  std::string answer = one_line(answer_of(run));
  if (run.document.outcome.finished.empty()) return "no trajectory ended";
  if (answer.empty()) return "no answer found";
  const std::optional<bool> right = is_right(comparison, run);
  if (!right) return answer;
  return fmt::format("{} {}: {}", *right ? draw::kRightSign : draw::kWrongSign, *right ? "right" : "wrong", answer);
}

std::string cost_of(const ComparedRun& run) {
  const Account& account = run.document.outcome.account;
  std::string out =
      fmt::format("{} decoded in {}", counted(account.unique_tokens, "token"), counted(account.steps, "step"));
  if (run.document.outcome.finished.size() > 1) out += fmt::format("; {} votes", votes_of(run));
  return out;
}

report::CaseTrace trace_of(const Comparison& comparison, const ComparedRun& run) {
  report::CaseTrace trace;
  trace.method = run.document.options.method.name;
  trace.heading = fmt::format("{}, seed {}", run.label, run.seed);
  trace.right = is_right(comparison, run).value_or(false);
  trace.verdict = verdict_of(comparison, run);
  trace.cost = cost_of(run);
  if (const SegmentId leaf = run.document.outcome.best_leaf; leaf != kNoSegment) {
    const std::string text = trajectory_text(run.document, leaf);
    const SplitText parts = split_thinking(text, run.document.opens_thinking);
    trace.thinking = std::string(trim(parts.thinking));
    trace.answer = std::string(trim(parts.answer));
  }
  trace.tree = draw::svg_picture(run.document, draw::Facts(run.document),
                                 {.heading = false, .decisions = false, .colours = colours_of(comparison)});
  return trace;
}

}  // namespace

nlohmann::json comparison_json(const Comparison& comparison) {
  nlohmann::json out = {
      {"model", comparison.model}, {"question", comparison.question}, {"complete", comparison.complete}};
  if (!comparison.expected.empty()) out["expected"] = comparison.expected;
  out["runs"] = nlohmann::json::array();
  for (const ComparedRun& run : comparison.runs) {
    const Outcome& outcome = run.document.outcome;
    const Account& account = outcome.account;
    nlohmann::json one = {{"method", run.label},
                          {"seed", run.seed},
                          {"answer", answer_of(run)},
                          {"finished", outcome.finished.size()},
                          {"unique_tokens", account.unique_tokens},
                          {"branch_tokens", account.branch_tokens},
                          {"prompt_tokens", account.prompt_tokens},
                          {"steps", account.steps},
                          {"branch_events", account.branch_events},
                          {"branches", account.branches},
                          {"seconds", run.document.times.prefill + run.document.times.decode}};
    if (const std::optional<bool> right = is_right(comparison, run)) one["right"] = *right;
    if (run.document.flops > 0) one["flops"] = run.document.flops;
    if (!outcome.error.empty()) one["error"] = outcome.error;
    one["votes"] = nlohmann::json::array();
    for (const AnswerCount& count : outcome.votes) {
      one["votes"].push_back({{"answer", count.answer}, {"votes", count.votes}});
    }
    out["runs"].push_back(std::move(one));
  }
  return out;
}

report::Report comparison_report(const Comparison& comparison) {
  report::Report out;
  out.title = shorten(one_line(comparison.question), kTitle);
  out.facts = {{"model", comparison.model}};
  if (!comparison.expected.empty()) out.facts.emplace_back("the right answer", comparison.expected);
  report::Section result{"comparison", "The result", "", "", {}, {}, {}, ""};
  result.text =
      "Tokens are those that were decoded, over all branches, shared ones once. Steps are what one waits for: all "
      "branches of a step are evaluated together. The methods ran one after another, so that their seconds can be "
      "compared with each other.";
  report::Section traces{"traces", "Side by side", "", "", {}, {}, {}, ""};
  report::Table table{"comparison",
                      "What each method came to",
                      {{"method", "method"},
                       {"seed", "seed", Unit::kCount, true},
                       {"answer", "answer"},
                       {"votes", "votes"},
                       {"unique_tokens", "tokens", Unit::kCount},
                       {"steps", "steps", Unit::kCount},
                       {"branch_events", "decisions", Unit::kCount},
                       {"flops", "compute", Unit::kFlops},
                       {"seconds", "seconds", Unit::kSeconds}},
                      {}};
  report::Case one{comparison.model, "", "", comparison.question, comparison.expected, {}, true};
  for (const ComparedRun& run : comparison.runs) {
    const Account& account = run.document.outcome.account;
    table.rows.push_back(
        {Cell::text(run.label), Cell::number(static_cast<double>(run.seed)), Cell::text(verdict_of(comparison, run)),
         Cell::text(votes_of(run)), Cell::number(static_cast<double>(account.unique_tokens)),
         Cell::number(static_cast<double>(account.steps)), Cell::number(static_cast<double>(account.branch_events)),
         Cell::number(run.document.flops), Cell::number(run.document.times.prefill + run.document.times.decode)});
    if (run.seed == comparison.runs.front().seed) one.traces.push_back(trace_of(comparison, run));
  }
  result.tables.push_back(std::move(table));
  traces.cases.push_back(std::move(one));
  out.sections.push_back(std::move(result));
  out.sections.push_back(std::move(traces));
  return out;
}

std::string comparison_svg(const Comparison& comparison) {
  std::vector<draw::SvgLane> lanes;
  for (const ComparedRun& run : comparison.runs) {
    if (run.seed != comparison.runs.front().seed) continue;
    lanes.push_back({run.label, verdict_of(comparison, run), cost_of(run), &run.document});
  }
  return draw::svg_lanes(comparison.question, lanes, colours_of(comparison));
}

}  // namespace dts::cli
