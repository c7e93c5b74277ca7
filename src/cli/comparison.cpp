#include "cli/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>

#include "cli/skeleton.h"
#include "cli/snapshot.h"
#include "draw/answer_marks.h"
#include "dts/answer.h"
#include "text/display.h"
#include "text/glyphs.h"
#include "text/numbers.h"
#include "text/style.h"

namespace dts::cli {
namespace {

using namespace text;

constexpr int kMaxTreeRows = 12;

// All runs of one method.
struct Group {
  std::string label;
  std::vector<const ComparedRun*> runs;

  double mean(double (*value)(const ComparedRun&)) const {
    double sum = 0;
    for (const ComparedRun* run : runs) sum += value(*run);
    return sum / static_cast<double>(runs.size());
  }
  double tokens() const {
    return mean([](const ComparedRun& run) { return static_cast<double>(run.document.outcome.account.unique_tokens); });
  }
  double steps() const {
    return mean([](const ComparedRun& run) { return static_cast<double>(run.document.outcome.account.steps); });
  }
  double seconds() const {
    return mean([](const ComparedRun& run) { return run.document.times.prefill + run.document.times.decode; });
  }
};

std::vector<Group> groups_of(const Comparison& comparison) {
  std::vector<Group> groups;
  for (const ComparedRun& run : comparison.runs) {
    if (groups.empty() || groups.back().label != run.label) groups.push_back({run.label, {}});
    groups.back().runs.push_back(&run);
  }
  return groups;
}

std::string sign(bool right, bool unicode) {
  if (unicode) return std::string(right ? draw::kRightSign : draw::kWrongSign);
  return right ? "+" : "x";
}

int right_runs(const Comparison& comparison, const Group& group) {
  return static_cast<int>(std::count_if(group.runs.begin(), group.runs.end(), [&](const ComparedRun* run) {
    return is_right(comparison, *run).value_or(false);
  }));
}

// "■ 234 ✗ wrong"; of several seeds "■ 234 3x, ● 244 2x".
StyledLine answers_cell(const Comparison& comparison, const Group& group, draw::AnswerColours& colours, bool unicode,
                        int width) {
  StyledLine line;
  std::vector<std::pair<std::string, int>> answers;
  for (const ComparedRun* run : group.runs) {
    const std::string answer = answer_of(*run);
    auto known = std::find_if(answers.begin(), answers.end(), [&](const auto& one) { return one.first == answer; });
    if (known == answers.end()) known = answers.insert(answers.end(), {answer, 0});
    ++known->second;
  }
  std::stable_sort(answers.begin(), answers.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto& [answer, count] = answers[i];
    const std::string gap = i == 0 ? "" : ", ";
    if (answers.size() - i > 1 && line.width() > width - 16) {
      line.add(fmt::format("{}and {} more", gap, answers.size() - i), Style::kDim);
      break;
    }
    const draw::AnswerColour& colour = colours.of(answer);
    const Style style = answer.empty() ? Style::kDim : draw::answer_style(colour);
    const std::string shown = answer.empty() ? "no answer" : shorten(one_line(answer), std::max(8, width / 2));
    line.add(gap).add(answer.empty() ? shown : draw::answer_mark(colour, unicode) + " " + shown, style);
    if (comparison.several_seeds()) line.add(fmt::format(" {}x", count), Style::kDim);
  }
  if (comparison.several_seeds()) return line;
  if (const std::optional<bool> right = is_right(comparison, *group.runs.front())) {
    line.add(fmt::format(" {} {}", sign(*right, unicode), *right ? "right" : "wrong"), Style::kBold);
  }
  return line;
}

std::string times(double value) { return value < 10 ? fmt::format("{:.2g}", value) : fmt::format("{:.0f}", value); }

// "dts-stable is right where standard is wrong, for 3.4 times the tokens in 0.54 times the steps."
std::string sentence(const Comparison& comparison, const std::vector<Group>& groups) {
  if (groups.size() < 2 || comparison.expected.empty()) return {};
  const Group& first = groups.front();
  const auto first_right = static_cast<std::size_t>(right_runs(comparison, first));
  std::string out;
  for (std::size_t i = 1; i < groups.size(); ++i) {
    const Group& other = groups[i];
    const auto right = static_cast<std::size_t>(right_runs(comparison, other));
    const bool one = first.runs.size() == 1 && other.runs.size() == 1;
    std::string claim;
    if (one && right == first_right) {
      claim = fmt::format("{} and {} are both {}", other.label, first.label, right > 0 ? "right" : "wrong");
    } else if (one) {
      claim = fmt::format("{} is {} where {} is {}", other.label, right > 0 ? "right" : "wrong", first.label,
                          right > 0 ? "wrong" : "right");
    } else {
      claim = fmt::format("{} is right for {} of {} seeds ({}: {} of {})", other.label, right, other.runs.size(),
                          first.label, first_right, first.runs.size());
    }
    out += fmt::format("{}, for {} times the tokens in {} times the steps.\n", claim,
                       times(other.tokens() / std::max(1.0, first.tokens())),
                       times(other.steps() / std::max(1.0, first.steps())));
  }
  return out;
}

std::string right_answer(const Comparison& comparison) {
  return fmt::format("The right answer is {}.\n", one_line(comparison.expected));
}

void add_question(std::string& out, const Comparison& comparison, const Terminal& terminal, int width) {
  for (const std::string& line : wrap(printable(comparison.question), width)) {
    out += styled(line, Style::kBold, terminal.colour) + "\n";
  }
}

void add_tree(std::string& out, const Comparison& comparison, const ComparedRun& run, const Terminal& terminal,
              int width) {
  Outline outline = outline_of(run.document.tree, run.document.outcome.finished);
  if (run.document.outcome.winner) outline.best = run.document.outcome.best_leaf;
  const Skeleton skeleton =
      draw_skeleton(outline, width - 1, kMaxTreeRows, glyphs(terminal.unicode), colours_of(comparison));
  out += "\n" + styled(run.label, Style::kBold, terminal.colour) + "\n";
  for (const StyledLine& line : skeleton.lines) out += line.render(terminal.colour, width) + "\n";
  if (skeleton.hidden > 0) {
    const char* noun = skeleton.hidden == 1 ? "branch" : "branches";
    out += styled(fmt::format("and {} more {}", skeleton.hidden, noun), Style::kDim, terminal.colour) + "\n";
  }
}

int width_of(const Terminal& terminal) { return terminal.interactive ? terminal.size().columns : 100; }

}  // namespace

bool Comparison::several_seeds() const {
  return std::any_of(runs.begin(), runs.end(),
                     [this](const ComparedRun& run) { return run.seed != runs.front().seed; });
}

std::string answer_of(const ComparedRun& run) {
  const Outcome& outcome = run.document.outcome;
  return outcome.winner ? outcome.finished[*outcome.winner].answer : std::string();
}

std::optional<bool> is_right(const Comparison& comparison, const ComparedRun& run) {
  if (comparison.expected.empty()) return std::nullopt;
  const std::string answer = answer_of(run);
  return !answer.empty() && equivalent(answer, comparison.expected);
}

std::string votes_of(const ComparedRun& run) {
  const Outcome& outcome = run.document.outcome;
  const std::string answer = answer_of(run);
  const auto same = std::count_if(outcome.finished.begin(), outcome.finished.end(), [&](const FinishedTrace& trace) {
    return !answer.empty() && trace.answer == answer;
  });
  return fmt::format("{} of {}", same, outcome.finished.size());
}

draw::AnswerColours colours_of(const Comparison& comparison) {
  const auto& runs = comparison.runs;
  const auto found = std::find_if(
      runs.begin(), runs.end(), [](const ComparedRun& run) { return run.document.options.method.name != "standard"; });
  const std::size_t main =
      comparison.colours_from.value_or(found == runs.end() ? 0 : static_cast<std::size_t>(found - runs.begin()));
  if (main >= runs.size()) return {};
  draw::AnswerColours colours(runs[main].document.outcome.finished);
  for (const ComparedRun& run : runs) {
    for (const FinishedTrace& trace : run.document.outcome.finished) colours.beside(trace.answer);
  }
  return colours;
}

std::string comparison_table(const Comparison& comparison, const Terminal& terminal) {
  const std::vector<Group> groups = groups_of(comparison);
  const int width = width_of(terminal);
  draw::AnswerColours colours = colours_of(comparison);
  const bool several = comparison.several_seeds();
  const bool known = several && !comparison.expected.empty();
  int label_width = 6;
  for (const Group& group : groups) label_width = std::max(label_width, display_width(one_line(group.label)));
  label_width = std::min(label_width, std::max(10, width / 3));
  const int room = std::max(16, width - label_width - (known ? 50 : 38));
  int answer_width = 7;
  std::vector<StyledLine> cells;
  for (const Group& group : groups) {
    cells.push_back(answers_cell(comparison, group, colours, terminal.unicode, room));
    answer_width = std::max(answer_width, cells.back().width());
  }
  const std::string head = fmt::format(
      "{}  {}  {}{:>9}{:>8}{:>8}{:>9}", pad("", label_width), pad(several ? "answers" : "answer", answer_width),
      known ? fmt::format("{:<10}", "right") : "", several ? "" : "votes", "tokens", "steps", "time");
  std::string out = styled(std::string(fit(head, width)), Style::kDim, terminal.colour) + "\n";
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const Group& group = groups[i];
    StyledLine line;
    line.add(pad(shorten(one_line(group.label), label_width), label_width), Style::kBold).add("  ");
    line.append(cells[i]).fill_to(label_width + 2 + answer_width + 2);
    if (known) {
      line.add(fmt::format("{:<10}", fmt::format("{} of {}", right_runs(comparison, group), group.runs.size())),
               Style::kBold);
    }
    line.add(fmt::format("{:>9}{:>8}{:>8}{:>9}", several ? "" : votes_of(*group.runs.front()),
                         grouped(std::llround(group.tokens())), grouped(std::llround(group.steps())),
                         seconds(group.seconds())));
    out += line.render(terminal.colour, width) + "\n";
  }
  const std::string claims = sentence(comparison, groups);
  if (!claims.empty()) out += "\n";
  for (const std::string& line : wrap(claims, width)) {
    if (!line.empty()) out += line + "\n";
  }
  return out;
}

std::string comparison_text(const Comparison& comparison, const Terminal& terminal) {
  const int width = width_of(terminal);
  std::string out;
  add_question(out, comparison, terminal, width);
  if (!comparison.expected.empty()) out += right_answer(comparison);
  const SamplingOptions& sampling = comparison.runs.front().document.options.sampling;
  out += styled(fmt::format("{}, temperature {}, {}", one_line(comparison.model), sampling.temperature,
                            comparison.several_seeds()
                                ? fmt::format("means over {} seeds", groups_of(comparison).front().runs.size())
                                : fmt::format("seed {}", comparison.runs.front().seed)),
                Style::kDim, terminal.colour) +
         "\n\n";
  out += comparison_table(comparison, terminal);
  if (comparison.several_seeds()) return out;
  for (const ComparedRun& run : comparison.runs) add_tree(out, comparison, run, terminal, width);
  return out;
}

std::string example_text(const Comparison& comparison, const Terminal& terminal, bool trees) {
  const int width = width_of(terminal);
  std::string out;
  add_question(out, comparison, terminal, width);
  for (const ComparedRun& run : comparison.runs) {
    if (trees && run.document.tree.segments().size() > 1) add_tree(out, comparison, run, terminal, width);
  }
  return out + "\n" + right_answer(comparison) + "\n" + comparison_table(comparison, terminal);
}

}  // namespace dts::cli
