#include "support/synthetic_tree.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "dts/vote.h"

namespace dts::test {
namespace {

const std::vector<std::string> kWords = {
    " let",   " us",    " first", " write", " the",     " sum",   " as",    " a",       " product", " of",   " two",
    " parts", ",",      " then",  " check", " whether", " it",    " holds", " for",     " small",   " n",    ".",
    " Wait",  ",",      " that",  " gives", " 12",      " times", " 34",    " which",   " is",      " 408",  " so",
    " we",    " carry", " one",   " and",   " add",     " both",  " again", " because", " each",    " term", " must",
    " be",    " even",  ".\n",    " But",   " suppose", " not",   ";",      " the",     " other",   " case", " fails"};
const std::vector<std::string> kAnswers = {"408", "408", "408", "408", "398", "418", "408", "1/2", ""};

constexpr Token kEnd = 999;

class Grower {
 public:
  explicit Grower(const SyntheticShape& shape) : shape_(shape), random_(shape.seed) {}

  TreeDocument grow() {
    for (int i = 0; i < shape_.roots; ++i) live_.push_back({tree_.add_root(), 0, true});
    int step = 0;
    while (!live_.empty() && step < shape_.steps && static_cast<int>(finished_.size()) < shape_.stop_after)
      take_step(++step);
    for (const Branch& branch : live_) tree_.close(branch.leaf, SegmentState::kCut);
    return document(step);
  }

 private:
  struct Branch {
    SegmentId leaf;
    double logprob;
    bool may_split;
  };

  bool one_in(int n) { return random_() % static_cast<std::uint64_t>(std::max(n, 1)) == 0; }
  double unit() { return static_cast<double>(random_() >> 11U) * 0x1.0p-53; }

  TokenRecord record(Token token, double logprob, double entropy, double varentropy) {
    return {token, static_cast<float>(logprob), static_cast<float>(entropy), static_cast<float>(varentropy),
            static_cast<float>(8 + 6 * unit())};
  }
  Token word() { return static_cast<Token>(random_() % kWords.size()); }

  void take_step(int step) {
    std::vector<Branch> next;
    std::vector<Branch> born;
    auto room = shape_.branches - static_cast<int>(live_.size());
    for (Branch branch : live_) {
      const int position = tree_.segment(branch.leaf).end();
      const bool decides = branch.may_split && room > 0 && position >= shape_.first_decision &&
                           position < shape_.last_decision && shape_.k > 1 && one_in(shape_.decision_every);
      if (!decides) {
        if (extend(branch, step)) next.push_back(branch);
        continue;
      }
      const int children = std::min(shape_.k, room + 1);
      room -= children - 1;
      const SegmentId first = tree_.split(branch.leaf, children);
      const double entropy = 0.6 + 1.8 * unit();
      const double varentropy = 1.5 + 2.5 * unit();
      double left = 1;
      for (int i = 0; i < children; ++i) {
        const double share = left * (0.45 + 0.25 * unit());
        left -= share;
        Branch child{first + i, branch.logprob + std::log(share), i == 0 || unit() >= shape_.trunk};
        tree_.append(child.leaf, record(word(), std::log(share), entropy, varentropy));
        (i == 0 ? next : born).push_back(child);
      }
    }
    live_ = std::move(next);
    live_.insert(live_.end(), born.begin(), born.end());
  }

  // Whether the branch never left its root's place.
  bool is_trunk(SegmentId leaf) const {
    for (const SegmentId id : tree_.path_to(leaf)) {
      if (tree_.segment(id).child_index != 0) return false;
    }
    return true;
  }

  // False when the branch ended.
  bool extend(Branch& branch, int step) {
    const int position = tree_.segment(branch.leaf).end();
    const bool straggles = shape_.straggler && is_trunk(branch.leaf);
    const bool ends = shape_.finishes && !straggles && position + 1 >= shape_.shortest && one_in(shape_.finish_every);
    const double logprob = -0.8 * unit() * unit();
    branch.logprob += logprob;
    tree_.append(branch.leaf, record(ends ? kEnd : word(), logprob, 0.9 * unit() * unit(), 1.2 * unit() * unit()));
    if (ends) {
      const int length = tree_.segment(branch.leaf).end();
      tree_.close(branch.leaf, SegmentState::kFinished);
      std::string answer = kAnswers[random_() % kAnswers.size()];
      if (!shape_.hostile.empty() && one_in(2)) answer = shape_.hostile;
      FinishedTrace trace;
      trace.leaf = branch.leaf;
      trace.length = length;
      trace.step = step;
      trace.mean_logprob = branch.logprob / length;
      trace.answer = answer;
      finished_.push_back(std::move(trace));
      return false;
    }
    if (tree_.segment(branch.leaf).end() >= shape_.max_tokens) {
      tree_.close(branch.leaf, SegmentState::kExhausted);
      return false;
    }
    return true;
  }

  TreeDocument document(int steps) {
    TreeDocument doc;
    doc.model = "synthetic 1.5B q8_0" + shape_.hostile;
    doc.question =
        "What is 12 × 34? Please reason step by step, and put your final answer within \\boxed{}." + shape_.hostile;
    doc.prompt = "<|user|>" + doc.question + "<|assistant|><think>\n";
    for (Token token = 0; token < 34; ++token) doc.prompt_tokens.push_back(token);
    doc.opens_thinking = true;
    Method& method = doc.options.method;
    method.name = "dts-stable";
    method.width = shape_.roots;
    method.branch.enabled = true;
    method.branch.k = shape_.k;
    method.branch.max_branches = shape_.branches;
    method.stop.finished = shape_.stop_after;
    method.select = SelectRule::kMajority;
    doc.options.max_tokens = shape_.max_tokens;
    doc.options.seed = shape_.seed;
    doc.tree = std::move(tree_);
    doc.texts = segment_texts(doc.tree, [this](Token token) {
      if (token == kEnd) return std::string();
      if (!shape_.hostile.empty() && token % 7 == 0) return shape_.hostile;
      return kWords[static_cast<std::size_t>(token) % kWords.size()];
    });
    Outcome& outcome = doc.outcome;
    outcome.finished = finished_;
    std::vector<Ballot> ballots;
    for (const FinishedTrace& trace : finished_) ballots.push_back({trace.answer, trace.length});
    outcome.votes = count_votes(ballots);
    if (!outcome.votes.empty()) {
      outcome.winner = static_cast<std::size_t>(outcome.votes.front().shortest);
    } else if (!finished_.empty()) {
      outcome.winner = 0;
    }
    if (outcome.winner) {
      outcome.best_leaf = finished_[*outcome.winner].leaf;
    } else {
      outcome.best_leaf = static_cast<SegmentId>(doc.tree.segments().size()) - 1;
    }
    outcome.reason = static_cast<int>(finished_.size()) >= shape_.stop_after ? StopReason::kEnoughFinished
                     : live_.empty()                                         ? StopReason::kNothingLive
                                                                             : StopReason::kCancelled;
    Account& account = outcome.account;
    account.steps = steps;
    account.prompt_tokens = 34;
    account.branch_events = static_cast<std::int64_t>(doc.tree.decisions());
    account.unique_tokens = static_cast<std::int64_t>(doc.tree.unique_tokens());
    account.peak_live = shape_.branches;
    for (const Segment& segment : doc.tree.segments()) {
      if (!segment.children.empty()) continue;
      ++account.branches;
      account.branch_tokens += segment.end();
      account.exhausted += segment.state == SegmentState::kExhausted ? 1 : 0;
    }
    doc.times = {0.41, 0, 0.12, 6.5, 5.9, 0.31, 0.18, 0.02};
    doc.flops = 3.2e9 * static_cast<double>(account.unique_tokens);
    doc.engine = {"synthetic", {.batch_invariant = false, .max_top_k = 20}};
    return doc;
  }

  SyntheticShape shape_;
  std::mt19937_64 random_;
  Tree tree_;
  std::vector<Branch> live_;
  std::vector<FinishedTrace> finished_;
};

}  // namespace

TreeDocument synthetic_tree(const SyntheticShape& shape) { return Grower(shape).grow(); }

TreeDocument small_tree() {
  SyntheticShape shape;
  shape.seed = 782;  // one with every kind of end
  shape.branches = 5;
  shape.decision_every = 8;
  shape.shortest = 16;
  shape.finish_every = 8;
  shape.max_tokens = 30;
  shape.stop_after = 4;
  return synthetic_tree(shape);
}

const std::string kHostileText =
    "</script><script>alert(1)</script>\"><img src=x onerror=alert(2)>' & ]]> --> </title></svg>\x01\x1b[31m\x7f"
    "\xff\xc0\xaf\xed\xa0\x80 \u202egnirts\u202c \u2066x\u2069 \uffff \\ \\N {a|b} <b>\t\r\n`${x}`\u2028";

}  // namespace dts::test
