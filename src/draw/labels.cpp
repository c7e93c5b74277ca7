#include "draw/labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/words.h"
#include "text/display.h"
#include "text/numbers.h"

namespace dts::draw {
namespace {

using namespace text;

std::string plain(double value) { return std::isfinite(value) ? fmt::format("{:g}", value) : fmt::format("{}", value); }

std::string counted(std::size_t n, std::string_view noun) {
  return grouped(static_cast<std::int64_t>(n)) + " " + std::string(noun);
}

std::string criterion_label(const BranchRule& rule) {
  std::string decision = fmt::format("varentropy ≥ {}, entropy ≤ {}", plain(rule.tau_v), plain(rule.tau_h));
  std::string high_entropy = fmt::format("entropy ≥ {}", plain(rule.tau_h));
  switch (rule.criterion) {
    case Criterion::kHighEntropy:
      return high_entropy;
    case Criterion::kEither:
      return decision + " or " + high_entropy;
    case Criterion::kDecision:
      break;
  }
  return decision;
}

}  // namespace

std::string_view reason_sentence(StopReason reason) {
  switch (reason) {
    case StopReason::kRunning:
      return "still running";
    case StopReason::kEnoughFinished:
      return "enough trajectories finished";
    case StopReason::kAgreement:
      return "the answers agreed";
    case StopReason::kNothingLive:
      return "every trajectory ended";
    case StopReason::kTokenBudget:
      return "stopped by the token budget";
    case StopReason::kTimeBudget:
      return "stopped by the time budget";
    case StopReason::kCancelled:
      return "cancelled";
    case StopReason::kFailed:
      return "failed";
  }
  return "";
}

std::string statistic(double value) {
  return std::isfinite(value) ? fmt::format("{:.2f}", value) : fmt::format("{}", value);
}

std::string percent(double logprob) {
  if (std::isnan(logprob)) return "?";
  const double share = 100 * std::exp(std::min(logprob, 0.0));
  return share >= 0.95 ? fmt::format("{:.0f}%", share) : fmt::format("{:.1f}%", share);
}

std::string token_label(std::string_view piece, Token token) {
  if (piece.empty()) return "#" + std::to_string(token);
  std::string out;
  if (piece.size() > 1 && piece.front() == ' ' && piece[1] != ' ') piece.remove_prefix(1);
  for (const char c : piece) {
    if (c == '\n') {
      out += "⏎";
    } else if (c == '\t') {
      out += "⇥";
    } else if (c == ' ') {
      out += "␣";
    } else {
      out += c;
    }
  }
  return printable(out);
}

std::string first_token_label(const TreeDocument& document, SegmentId id) {
  const Segment& segment = document.tree.segment(id);
  if (segment.tokens.empty()) return "";
  return token_label(document.texts[static_cast<std::size_t>(id)].piece(0), segment.tokens.front().token);
}

std::string snippet(std::string_view text, int width) {
  // More than enough to fill the width from either end, so that the cost does not grow with the text.
  const std::size_t reach = static_cast<std::size_t>(std::max(width, 0)) * 8 + 64;
  if (text.size() <= 2 * reach) {
    std::string line = one_line(text);
    if (display_width(line) <= width) return line;
  }
  const std::string head = one_line(text.substr(0, reach));
  std::size_t tail_begin = text.size() > reach ? text.size() - reach : 0;
  while (tail_begin < text.size() && (static_cast<unsigned char>(text[tail_begin]) & 0xC0U) == 0x80U) ++tail_begin;
  const std::string tail = one_line(text.substr(tail_begin));
  const int tail_width = width >= 24 ? (width - 3) / 3 : 0;  // cells
  if (tail_width == 0) return shorten(head, width);
  std::string_view start = fit(head, width - tail_width - 3);
  const std::size_t space = start.rfind(' ');
  if (space != std::string_view::npos && space > start.size() / 2) start = start.substr(0, space);
  // One cell more than there is room for: when that holds a space, a whole word follows.
  std::string_view end = fit_end(tail, tail_width + 1);
  const std::size_t word = end.find(' ');
  end = word == std::string_view::npos ? fit_end(end, tail_width) : end.substr(word + 1);
  return std::string(start) + " … " + std::string(end);
}

std::string_view state_label(SegmentState state) { return name_of(kSegmentStates, state); }

std::string leaf_label(const TreeDocument& document, const Facts& facts, SegmentId leaf) {
  const auto& trace = facts.trace[static_cast<std::size_t>(leaf)];
  if (!trace) return std::string(state_label(document.tree.segment(leaf).state));
  const std::string answer = one_line(document.outcome.finished[*trace].answer);
  return answer.empty() ? "no answer" : answer;
}

std::string question_line(const TreeDocument& document) {
  return one_line(document.question.empty() ? document.prompt : document.question);
}

std::vector<std::string> setting_labels(const TreeDocument& document) {
  const Method& method = document.options.method;
  std::vector<std::string> labels;
  if (!document.model.empty()) labels.push_back(one_line(document.model));
  labels.push_back(one_line(method.name));
  if (method.width > 1) labels.push_back(fmt::format("{} trajectories", method.width));
  if (method.branch.enabled) {
    labels.push_back(fmt::format("splits {} ways", method.branch.k));
    labels.push_back(criterion_label(method.branch));
    labels.push_back(fmt::format("up to {} branches", method.branch.max_branches));
  }
  if (method.stop.finished != StopRule::kAll && method.stop.finished > 1) {
    labels.push_back(fmt::format("{} votes", method.stop.finished));
  }
  labels.push_back(fmt::format("temperature {}", plain(document.options.sampling.temperature)));
  labels.push_back(fmt::format("seed {}", document.options.seed));
  return labels;
}

std::vector<std::string> size_labels(const TreeDocument& document, const Facts& facts) {
  std::vector<std::string> labels;
  labels.push_back(counted(facts.trajectories(), facts.trajectories() == 1 ? "trajectory" : "trajectories"));
  if (facts.finished > 0) labels.push_back(counted(facts.finished, "finished"));
  if (facts.exhausted > 0) labels.push_back(counted(facts.exhausted, "exhausted"));
  if (facts.retired > 0) labels.push_back(counted(facts.retired, "given up"));
  if (facts.cut > 0) labels.push_back(counted(facts.cut, "cut"));
  if (facts.live > 0) labels.push_back(counted(facts.live, "live"));
  labels.push_back(counted(document.tree.decisions(), document.tree.decisions() == 1 ? "decision" : "decisions"));
  const Account& account = document.outcome.account;
  labels.push_back(fmt::format("{} unique of {} tokens ({:.2f}× shared)", grouped(account.unique_tokens),
                               grouped(account.branch_tokens), account.sharing_ratio()));
  return labels;
}

std::string verdict(const TreeDocument& document) {
  const Outcome& outcome = document.outcome;
  std::string why(reason_sentence(outcome.reason));
  if (!outcome.error.empty()) why += ": " + one_line(outcome.error);
  if (!outcome.winner) return why + (outcome.finished.empty() ? "; nothing finished" : "; nobody may vote");
  const std::string& answer = outcome.finished[*outcome.winner].answer;
  std::string how;
  switch (document.options.method.select) {
    case SelectRule::kFirst:
      how = "first to finish";
      break;
    case SelectRule::kMaxLogprob:
      how = "highest log-probability for its length";
      break;
    case SelectRule::kMaxConfidence:
      how = "highest mean confidence";
      break;
    case SelectRule::kWeightedMajority:
    case SelectRule::kMajority: {
      int votes = 0;
      int all = 0;
      for (const AnswerCount& count : outcome.votes) {
        all += count.votes;
        if (count.answer == answer) votes = count.votes;
      }
      how = all == 0 ? "nobody voted; first to finish" : fmt::format("{} of {} votes", votes, all);
      break;
    }
  }
  return how + "; " + why;
}

namespace {

// Who wins where every answer has one vote.
const char* tie_rule(SelectRule rule) {
  switch (rule) {
    case SelectRule::kWeightedMajority:
    case SelectRule::kMaxConfidence:
      return "the most confident";
    case SelectRule::kMaxLogprob:
      return "the most probable for its length";
    default:
      return "the first to finish";
  }
}

}  // namespace

std::string disagreement(const TreeDocument& document) {
  const Outcome& outcome = document.outcome;
  // The winner's is the first of them, which need not be the one with the most.
  const bool all_alone = std::all_of(outcome.votes.begin(), outcome.votes.end(),
                                     [](const AnswerCount& count) { return count.votes == 1; });
  if (!outcome.winner || outcome.votes.size() < 2 || !all_alone) return "";
  return fmt::format("no two agree: {} was taken", tie_rule(document.options.method.select));
}

std::vector<Row> setting_rows(const TreeDocument& document) {
  const SearchOptions& options = document.options;
  const Method& method = options.method;
  const BranchRule& branch = method.branch;
  std::vector<Row> rows = {{"model", one_line(document.model)},
                           {"method", one_line(method.name)},
                           {"trajectories at the start", grouped(method.width)}};
  if (branch.enabled) {
    rows.insert(rows.end(), {{"criterion", std::string(name_of(kCriteria, branch.criterion))},
                             {"tau_v (varentropy)", plain(branch.tau_v)},
                             {"tau_h (entropy)", plain(branch.tau_h)},
                             {"children of a decision, K", grouped(branch.k)},
                             {"live branches, at most", grouped(branch.max_branches)},
                             {"freeze", std::string(name_of(kFreezes, branch.freeze))}});
  }
  rows.insert(rows.end(),
              {{"stop after finished", method.stop.finished == StopRule::kAll ? "all" : grouped(method.stop.finished)},
               {"select", std::string(name_of(kSelectRules, method.select))},
               {"temperature", plain(options.sampling.temperature)},
               {"top-k", options.sampling.top_k == 0 ? "off" : grouped(options.sampling.top_k)},
               {"top-p", plain(options.sampling.top_p)},
               {"min-p", plain(options.sampling.min_p)},
               {"statistics' temperature", plain(options.stat_temperature)},
               {"seed", std::to_string(options.seed)},
               {"tokens a trajectory, at most", grouped(options.max_tokens)}});
  if (options.max_total_tokens > 0) rows.emplace_back("unique tokens, at most", grouped(options.max_total_tokens));
  return rows;
}

std::vector<Row> account_rows(const TreeDocument& document) {
  const Account& account = document.outcome.account;
  const TreeTimes& times = document.times;
  std::vector<Row> rows = {{"steps", grouped(account.steps)},
                           {"branch events", grouped(account.branch_events)},
                           {"trajectories", grouped(account.branches)},
                           {"live at once, at most", grouped(account.peak_live)},
                           {"exhausted", grouped(account.exhausted)},
                           {"given up", grouped(account.retired)},
                           {"decisions cut by the cap", grouped(account.capped_decisions)},
                           {"prompt tokens", grouped(account.prompt_tokens)},
                           {"tokens over all trajectories", grouped(account.branch_tokens)},
                           {"unique tokens", grouped(account.unique_tokens)},
                           {"sharing", fmt::format("{:.2f}×", account.sharing_ratio())}};
  if (account.undecided > 0) rows.emplace_back("tokens that bounds left undecided", grouped(account.undecided));
  if (!document.engine.kind.empty()) {
    rows.emplace_back("engine", one_line(document.engine.kind) + ": " + document.engine.capabilities.to_string());
  }
  if (times.decode > 0) {
    rows.emplace_back("tokens a second", scaled(static_cast<double>(account.unique_tokens) / times.decode));
    rows.emplace_back("prefill", seconds(times.prefill));
    rows.emplace_back("decode", seconds(times.decode));
    rows.emplace_back("statistics", seconds(times.statistics));
  }
  if (document.flops > 0) rows.emplace_back("estimated FLOPs", scaled(document.flops));
  return rows;
}

}  // namespace dts::draw
