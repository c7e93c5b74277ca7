#include "cli/frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "cli/skeleton.h"
#include "draw/answer_marks.h"
#include "text/display.h"
#include "text/glyphs.h"
#include "text/numbers.h"
#include "text/style.h"

namespace dts::cli {
namespace {

using namespace text;

constexpr int kMargin = 1;
constexpr int kMaxDecisions = 6;
constexpr int kMaxVotes = 6;

using Lines = std::vector<StyledLine>;

StyledLine indented() {
  StyledLine line;
  line.add(std::string(kMargin, ' '));
  return line;
}

void append(Lines& to, Lines from) {
  for (StyledLine& line : from) to.push_back(std::move(line));
}

Lines with_margin(Lines lines) {
  for (StyledLine& line : lines) line.prefix(std::string(kMargin, ' '));
  return lines;
}

// A section's name, and something at the right end of its line.
StyledLine section(std::string_view name, std::string_view right, int width) {
  StyledLine line = indented().add(name, Style::kBold);
  if (!right.empty()) line.fill_to(width - kMargin - display_width(right)).add(right, Style::kDim);
  return line;
}

Lines title_lines(const FrameTitle& title, const FrameState& state, int width, const Glyphs& glyphs) {
  const std::string clock = state.stopping ? "stopping" : seconds(state.elapsed);
  const int room = width - 2 * kMargin - display_width(clock) - 2;
  const std::string separator = fmt::format(" {} ", glyphs.separator);
  StyledLine first = indented().add(shorten(title.method, room), Style::kCyan);
  first.add(shorten(separator + title.settings, room - display_width(title.method)));
  first.fill_to(width - kMargin - display_width(clock)).add(clock, state.stopping ? Style::kYellow : Style::kBold);
  Lines lines = {first};
  lines.push_back(indented().add(shorten(title.model + separator + title.sampling, width - 2 * kMargin), Style::kDim));
  lines.push_back(indented().add(shorten("? " + title.question, width - 2 * kMargin), Style::kYellow));
  return lines;
}

Lines count_lines(const FrameTitle& title, const FrameState& state, int width, const Glyphs& glyphs) {
  const Snapshot& s = state.snapshot;
  const Account& a = s.account;
  const std::string progress = fmt::format("step {}, {}", grouped(s.step), counted(a.branch_events, "decision"));
  const std::string lost = fmt::format("{} exhausted", a.exhausted);
  const auto name = [](std::string_view text) { return indented().add(pad(text, 9), Style::kDim); };
  const auto counter = [&](std::string_view what, int value, int total, Style style, const std::string& after) {
    StyledLine line = name(what).add(fmt::format("{:>4} ", value), Style::kBold);
    const int cells = std::clamp(width - line.width() - 7 - display_width(progress) - kMargin, 4, 48);
    line.add(bar(value, total, cells, glyphs), style);
    return line.add(fmt::format(" {:<5} {}", total, after), Style::kDim);
  };
  StyledLine tokens = name("tokens").add(fmt::format("{:>4}", grouped(a.unique_tokens)), Style::kBold);
  tokens.add(" unique, ", Style::kDim).add(fmt::format("{:.0f}/s", state.rate), Style::kBold);
  const std::string shared = fmt::format(", {:.2f}x shared", a.sharing_ratio());
  for (const std::string& part : {shared, fmt::format(", {} over all branches", grouped(a.branch_tokens))}) {
    if (tokens.width() + display_width(part) + kMargin <= width) tokens.add(part, Style::kDim);
  }
  return {counter("live", s.live, title.max_live, Style::kGreen, progress),
          counter("finished", s.finished, title.wanted, Style::kCyan, lost), tokens};
}

// "@112 …and then we → take 48% · use 22% · try 9%      0.93  1.71"
StyledLine decision_line(const DecisionLine& decision, int width, const Glyphs& glyphs) {
  const std::string numbers = fmt::format("{:>6.2f}{:>6.2f}", decision.entropy, decision.varentropy);
  StyledLine line = indented().add(pad(fmt::format("@{}", decision.position), 7), Style::kDim);
  const int end = width - kMargin - display_width(numbers) - 1;
  const int room = end - line.width();
  const int before = std::clamp(room * 2 / 5, 0, 40);
  line.add(pad(shorten_left(decision.before, before), before), Style::kDim);
  line.add(fmt::format(" {} ", glyphs.arrow), Style::kDim);
  for (std::size_t i = 0; i < decision.children.size(); ++i) {
    const DecisionLine::Child& child = decision.children[i];
    const std::string share = fmt::format(" {:.0f}%", 100 * child.probability);
    const std::string gap = i == 0 ? "" : fmt::format(" {} ", glyphs.separator);
    const int left = end - line.width() - display_width(gap) - display_width(share);
    if (left < 3) break;
    line.add(gap, Style::kDim);
    line.add(shorten(child.text, left), i == 0 ? Style::kGreen : Style::kYellow);
    line.add(share, Style::kDim);
  }
  return line.fill_to(end + 1).add(numbers, Style::kPlain);
}

Lines decision_lines(const Snapshot& snapshot, int width, int rows, const Glyphs& glyphs) {
  Lines lines = {section("latest decisions", "     H    VE", width)};
  for (const DecisionLine& decision : snapshot.decisions) {
    if (static_cast<int>(lines.size()) > rows) break;
    lines.push_back(decision_line(decision, width, glyphs));
  }
  return lines;
}

Lines tail_lines(const Snapshot& snapshot, int width, int rows) {
  Lines lines = {section("oldest branch", counted(snapshot.leader_length, "token"), width)};
  std::string text =
      snapshot.leader_tail.substr(std::min(snapshot.leader_tail.find_first_not_of(" \n"), snapshot.leader_tail.size()));
  std::replace(text.begin(), text.end(), '\t', ' ');
  std::vector<std::string> wrapped = wrap(text, width - 2 * kMargin);
  std::erase_if(wrapped, [](const std::string& line) { return line.find_first_not_of(' ') == std::string::npos; });
  const std::size_t first = wrapped.size() - std::min(wrapped.size(), static_cast<std::size_t>(std::max(0, rows)));
  for (std::size_t i = first; i < wrapped.size(); ++i) lines.push_back(indented().add(wrapped[i], Style::kDim));
  return lines;
}

Lines tree_lines(const Outline& outline, int width, int rows, const Glyphs& glyphs) {
  Skeleton skeleton = draw_skeleton(outline, width - 2 * kMargin, rows, glyphs);
  Lines lines = {section("tree", skeleton.hidden > 0 ? fmt::format("{} more", skeleton.hidden) : "", width)};
  append(lines, with_margin(std::move(skeleton.lines)));
  return lines;
}

StyledLine prefill_line(const FrameState& state, int width, const Glyphs& glyphs) {
  StyledLine line = indented().add("reading the prompt ", Style::kDim);
  line.add(bar(state.prefilled, state.prompt, std::clamp(width - line.width() - 24, 4, 48), glyphs), Style::kGreen);
  return line.add(fmt::format(" {} of {} tokens", grouped(state.prefilled), grouped(state.prompt)), Style::kDim);
}

}  // namespace

std::string bar(double value, double total, int width, const Glyphs& glyphs) {
  const double share = total > 0 ? std::clamp(value / total, 0.0, 1.0) : 0.0;
  int full = static_cast<int>(std::lround(share * width));
  if (value > 0 && full == 0) full = 1;  // something is not nothing
  std::string out;
  for (int i = 0; i < width; ++i) out += i < full ? glyphs.bar_full : glyphs.bar_empty;
  return out;
}

std::vector<StyledLine> vote_lines(const std::vector<AnswerCount>& votes, int without_answer, int width, int max_rows,
                                   const Glyphs& glyphs, draw::AnswerColours colours) {
  constexpr std::string_view kNone = "(no answer)";
  Lines lines;
  if (max_rows < 1) return lines;
  int total = without_answer;
  int name_width = without_answer > 0 ? display_width(kNone) : 1;
  for (const AnswerCount& count : votes) {
    total += count.votes;
    name_width = std::max(name_width, display_width(count.answer));
  }
  name_width = std::min(name_width, std::max(8, width / 3));
  const int bar_width = std::clamp(width - name_width - 10, 4, 32);
  const std::size_t all = votes.size() + (without_answer > 0 ? 1 : 0);
  const auto rows = static_cast<std::size_t>(max_rows);
  const std::size_t shown = all <= rows ? all : rows - 1;
  for (std::size_t i = 0; i < shown; ++i) {
    const bool silent = i == votes.size();
    const draw::AnswerColour& colour = silent ? draw::kOtherAnswer : colours.of(votes[i].answer);
    const Style style = draw::answer_style(colour);
    const int count = silent ? without_answer : votes[i].votes;
    StyledLine line;
    line.add(draw::answer_mark(colour, glyphs.unicode), style).add(" ");
    line.add(pad(shorten(silent ? kNone : votes[i].answer, name_width), name_width), style).add(" ");
    line.add(bar(count, total, bar_width, glyphs), style);
    lines.push_back(line.add(fmt::format(" {}", count), Style::kBold));
  }
  if (all > shown) {
    lines.push_back(StyledLine().add(fmt::format("and {} more", all - shown), Style::kDim));
  }
  return lines;
}

std::vector<StyledLine> compose_frame(const FrameTitle& title, const FrameState& state, TerminalSize size,
                                      const Glyphs& glyphs) {
  const int width = size.columns;
  Lines lines = title_lines(title, state, width, glyphs);
  if (!state.decoding) {
    lines.push_back({});
    lines.push_back(prefill_line(state, width, glyphs));
  } else {
    const Snapshot& snapshot = state.snapshot;
    const bool roomy = size.rows >= 30;
    const auto gap = [&] {
      if (roomy) lines.push_back({});
    };
    gap();
    append(lines, count_lines(title, state, width, glyphs));
    gap();

    // The sections share what is left: each of the small ones a sixth at most, the tree the rest, and what the tree
    // does not need goes to the text.
    const int rest = size.rows - static_cast<int>(lines.size()) - (roomy ? 3 : 0);
    const int share = std::max(1, rest / 6);
    draw::AnswerColours colours;
    for (const std::string& answer : snapshot.outline.labels) colours.of(answer);
    const Lines votes = with_margin(vote_lines(snapshot.votes, snapshot.without_answer, width - 2 * kMargin,
                                               std::min(std::max(share, 2), kMaxVotes), glyphs, std::move(colours)));
    const int decision_rows = std::min({share, kMaxDecisions, static_cast<int>(snapshot.decisions.size())});
    const int small = (votes.empty() ? 0 : 1 + static_cast<int>(votes.size())) +
                      (decision_rows > 0 ? 1 + decision_rows : 0) + 1 + share;
    append(lines, tree_lines(snapshot.outline, width, std::max(1, rest - small - 1), glyphs));
    if (decision_rows > 0) {
      gap();
      append(lines, decision_lines(snapshot, width, decision_rows, glyphs));
    }
    if (!votes.empty()) {
      gap();
      lines.push_back(section("votes", "", width));
      append(lines, votes);
    }
    gap();
    append(lines, tail_lines(snapshot, width, size.rows - static_cast<int>(lines.size()) - 1));
  }
  if (static_cast<int>(lines.size()) > size.rows) lines.resize(static_cast<std::size_t>(std::max(0, size.rows)));
  return lines;
}

}  // namespace dts::cli
