#include "cli/run_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/skeleton.h"
#include "draw/answer_marks.h"
#include "draw/labels.h"
#include "dts/answer.h"
#include "question/reply_text.h"
#include "text/display.h"
#include "text/glyphs.h"
#include "text/numbers.h"
#include "text/style.h"

namespace dts::cli {
namespace {

using namespace text;

constexpr int kMaxTreeRows = 16;
constexpr int kNameWidth = 11;

std::string best_text(const TreeDocument& document) {
  const SegmentId leaf = document.outcome.best_leaf;
  if (leaf == kNoSegment) return {};
  std::string text = trajectory_text(document, leaf);
  if (document.stop.empty()) return text;
  ReplyText reader({true, document.opens_thinking, document.stop});
  reader.feed(text);
  reader.finish();
  return std::string(reader.kept());
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

// Dims line by line: some pagers and terminals drop attributes at a line end.
std::string dimmed(std::string_view text, bool colour) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out += styled(text.substr(0, end), Style::kDim, colour) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string trace(const TreeDocument& document, bool colour) {
  const std::string text = best_text(document);
  const SplitText parts = split_thinking(text, document.opens_thinking);
  std::string out;
  const std::string_view thinking = trimmed(parts.thinking);
  const std::string_view answer = trimmed(parts.answer);
  if (!thinking.empty()) out += dimmed(printable(thinking), colour);
  if (!thinking.empty() && !answer.empty()) out += "\n";
  if (!answer.empty()) out += printable(answer) + "\n";
  return out;
}

// Where a flag or the user ended it, by that name.
std::string_view why(StopReason reason) {
  switch (reason) {
    case StopReason::kTokenBudget:
      return "--max-total-tokens was spent: the best so far";
    case StopReason::kTimeBudget:
      return "--max-seconds were spent: the best so far";
    case StopReason::kCancelled:
      return "interrupted: the best so far";
    default:
      return draw::reason_sentence(reason);
  }
}

class AccountText {
 public:
  AccountText(int width, bool colour) : width_(width), colour_(colour) {}

  void row(std::string_view name, std::string_view value) {
    for (const std::string& line : wrap(value, width_ - kNameWidth)) {
      text_ += styled(pad(name, kNameWidth), Style::kDim, colour_).append(line).append("\n");
      name = "";
    }
  }
  const std::string& text() const { return text_; }

 private:
  int width_;
  bool colour_;
  std::string text_;
};

std::string account(const TreeDocument& document, const Glyphs& glyphs, int width, bool colour) {
  const Outcome& outcome = document.outcome;
  const Account& a = outcome.account;
  const TreeTimes& t = document.times;
  AccountText out(width, colour);
  out.row("method", fmt::format("{} {} {}", document.options.method.name, glyphs.separator,
                                describe_settings(document.options, glyphs)));
  out.row("model", fmt::format("{} {} {}", one_line(document.model), glyphs.separator,
                               describe_sampling(document.options.sampling, glyphs)));
  if (!document.engine.kind.empty()) {
    out.row("engine", fmt::format("{} {} {}", one_line(document.engine.kind), glyphs.separator,
                                  document.engine.capabilities.to_string()));
  }
  out.row("stopped", fmt::format("{}, step {}", why(outcome.reason), grouped(a.steps)));
  out.row("branches",
          fmt::format("{} ({} finished, {} exhausted{}), at most {} live", grouped(a.branches), outcome.finished.size(),
                      a.exhausted, a.retired > 0 ? fmt::format(", {} given up", a.retired) : "", a.peak_live));
  out.row("decisions", fmt::format("{} split{}", grouped(a.branch_events),
                                   a.capped_decisions > 0 ? fmt::format(", {} had too little room under the cap",
                                                                        grouped(a.capped_decisions))
                                                          : std::string()));
  out.row("tokens", fmt::format("{} over all branches, {} unique: {:.2f}x shared; prompt {}", grouped(a.branch_tokens),
                                grouped(a.unique_tokens), a.sharing_ratio(), grouped(a.prompt_tokens)));
  if (t.decode > 0) {
    out.row("speed", fmt::format("{:.1f} unique tokens/s, {:.1f} steps/s",
                                 static_cast<double>(a.unique_tokens) / t.decode, a.steps / t.decode));
  }
  out.row("time",
          fmt::format("load {}, prefill {}, decode {}", seconds(t.load), seconds(t.prefill), seconds(t.decode)));
  out.row("", fmt::format("of it: model {}, statistics {}, forks {}, bookkeeping {}", seconds(t.model),
                          seconds(t.statistics), seconds(t.forks), seconds(t.bookkeeping)));
  if (document.flops > 0) out.row("compute", fmt::format("{}FLOP, estimated", scaled(document.flops)));
  return out.text();
}

std::string picture(const TreeDocument& document, const Terminal& terminal, int width) {
  Outline outline = outline_of(document.tree, document.outcome.finished);
  if (document.outcome.winner) outline.best = document.outcome.best_leaf;
  std::string out;
  const Skeleton skeleton = draw_skeleton(outline, width - 1, kMaxTreeRows, glyphs(terminal.unicode));
  for (const StyledLine& line : skeleton.lines) out += line.render(terminal.colour, width) + "\n";
  if (skeleton.hidden > 0) {
    out += styled(fmt::format("and {} more branches; --save-tree FILE and dts tree FILE show all", skeleton.hidden),
                  Style::kDim, terminal.colour) +
           "\n";
  }
  return out;
}

}  // namespace

std::string describe_settings(const SearchOptions& options, const Glyphs& glyphs) {
  const Method& method = options.method;
  const BranchRule& rule = method.branch;
  std::string out;
  const auto add = [&](const std::string& part) {
    if (!out.empty()) out += fmt::format(" {} ", glyphs.separator);
    out += part;
  };
  if (rule.enabled) {
    add(fmt::format("splits {} ways", rule.k));
    add(fmt::format("up to {} branches{}", rule.max_branches,
                    rule.freeze == Freeze::kPermanent ? ", then never again" : ""));
  } else if (method.width > 1) {
    add(fmt::format("{} trajectories", method.width));
  }
  if (method.stop.finished != StopRule::kAll && method.stop.finished > 1)
    add(fmt::format("{} votes", method.stop.finished));
  add(fmt::format("seed {}", options.seed));
  if (rule.enabled) {
    if (rule.criterion == Criterion::kHighEntropy) {
      add(fmt::format("H >= {}", rule.tau_h));
    } else {
      add(fmt::format("VE >= {}, H <= {}{}", rule.tau_v, rule.tau_h,
                      rule.criterion == Criterion::kEither ? " or above" : ""));
    }
    add(fmt::format("stat-temp {}", options.stat_temperature));
  }
  return out;
}

std::string describe_sampling(const SamplingOptions& sampling, const Glyphs& glyphs) {
  std::string out = fmt::format("temp {}", sampling.temperature);
  const std::string gap = fmt::format(" {} ", glyphs.separator);
  if (sampling.top_k > 0) out += gap + fmt::format("top-k {}", sampling.top_k);
  if (sampling.top_p < 1) out += gap + fmt::format("top-p {}", sampling.top_p);
  if (sampling.min_p > 0) out += gap + fmt::format("min-p {}", sampling.min_p);
  return out;
}

std::string answer_text(const TreeDocument& document) {
  const Outcome& outcome = document.outcome;
  const std::string text = best_text(document);
  std::string_view answer = trimmed(split_thinking(text, document.opens_thinking).answer);
  if (answer.empty() && outcome.winner) answer = outcome.finished[*outcome.winner].answer;
  return printable(answer.empty() ? trimmed(text) : answer);
}

std::string bare_answer(const TreeDocument& document) {
  const std::string text = best_text(document);
  const std::string_view boxed = last_boxed(split_thinking(text, document.opens_thinking).answer);
  return boxed.empty() ? answer_text(document) : printable(boxed);
}

std::string report_text(const TreeDocument& document, const Terminal& terminal) {
  const Outcome& outcome = document.outcome;
  const Glyphs& g = glyphs(terminal.unicode);
  const int width = terminal.interactive ? terminal.size().columns : 100;
  std::string out = trace(document, terminal.colour);
  const auto heading = [&](std::string_view text) { out += "\n" + styled(text, Style::kBold, terminal.colour) + "\n"; };

  if (!outcome.winner) {
    heading(outcome.finished.empty() ? "no trajectory finished" : "no trajectory may vote: all are below the bar");
    if (!out.empty() && outcome.best_leaf != kNoSegment) {
      out +=
          outcome.finished.empty() ? "above is the most probable one, unfinished\n" : "above is the first to finish\n";
    }
  } else {
    const FinishedTrace& winner = outcome.finished[*outcome.winner];
    heading("answer");
    const std::string answer = one_line(winner.answer);
    draw::AnswerColours colours(outcome.finished);
    const draw::AnswerColour& colour = colours.of(winner.answer);
    out += styled(answer.empty() ? "(none was found in the trajectory)"
                                 : draw::answer_mark(colour, terminal.unicode) + " " + answer,
                  draw::answer_style(colour), terminal.colour);
    out += styled(fmt::format("  from trajectory {} of {}, {}, mean log-probability {:.3f}", *outcome.winner + 1,
                              outcome.finished.size(), counted(winner.length, "token"), winner.mean_logprob),
                  Style::kDim, terminal.colour) +
           "\n";
    if (outcome.finished.size() > 1) {
      heading("votes");
      std::vector<AnswerCount> votes = outcome.votes;
      for (AnswerCount& count : votes) count.answer = one_line(count.answer);
      const auto silent = std::count_if(outcome.finished.begin(), outcome.finished.end(),
                                        [](const FinishedTrace& f) { return f.answer.empty(); });
      if (const std::string tie = draw::disagreement(document); !tie.empty()) out += tie + "\n";
      for (const StyledLine& line : vote_lines(votes, static_cast<int>(silent), width, 12, g, colours)) {
        out += line.render(terminal.colour, width) + "\n";
      }
    }
  }
  if (document.tree.segments().size() > 1) {
    heading("tree");
    out += picture(document, terminal, width);
  }
  heading("account");
  return out + account(document, g, width, terminal.colour);
}

}  // namespace dts::cli
