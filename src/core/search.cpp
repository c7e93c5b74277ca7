#include "dts/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <utility>

#include "base/check.h"
#include "dts/error.h"
#include "dts/options.h"

namespace dts {

std::string_view to_string(StopReason reason) {
  switch (reason) {
    case StopReason::kRunning:
      return "running";
    case StopReason::kEnoughFinished:
      return "enough-finished";
    case StopReason::kAgreement:
      return "agreement";
    case StopReason::kNothingLive:
      return "nothing-live";
    case StopReason::kTokenBudget:
      return "token-budget";
    case StopReason::kTimeBudget:
      return "time-budget";
    case StopReason::kCancelled:
      return "cancelled";
    case StopReason::kFailed:
      return "failed";
  }
  return "unknown";
}

void validate(const SearchOptions& options, int n_vocab) {
  validate(options.method, n_vocab > 0 ? n_vocab : std::numeric_limits<int>::max());
  validate(options.sampling);
  check_option("stat_temp", static_cast<double>(options.stat_temperature));
  check_option("max_tokens", options.max_tokens);
  if (options.max_total_tokens != 0) check_option("max_total_tokens", static_cast<double>(options.max_total_tokens));
  const RetireRule& retire = options.method.retire;
  if (retire.enabled && retire.window > options.max_tokens) {
    throw out_of_range(
        "window", fmt::format("{}", retire.window),
        fmt::format("at most {}, the tokens of a trajectory ({})", options.max_tokens, option_name("max_tokens")));
  }
}

void validate(const SearchOptions& options, const EngineInfo& engine) {
  validate(options, engine.n_vocab);
  const Method& method = options.method;
  const int most = engine.capabilities.max_top_k;
  // Below 1 the candidates alone bound H and VE; from 1 on the number of the others matters, too.
  if (method.branch.enabled && !engine.capabilities.exact_statistics && engine.n_vocab <= 0 &&
      options.stat_temperature >= 1) {
    throw out_of_range("stat_temperature", fmt::format("{}", options.stat_temperature),
                       fmt::format("below 1 with {}, which gives {} candidates and not the size of its vocabulary",
                                   engine.kind, most));
  }
  if (method.branch.enabled && method.branch.k > most) {
    throw out_of_range("branch_k", fmt::format("{}", method.branch.k),
                       fmt::format("at most {}, the candidates that {} gives", most, engine.kind));
  }
  const bool by_confidence = method.retire.enabled || method.select == SelectRule::kMaxConfidence;
  if (by_confidence && PredictionSpec().confidence_k > most) {
    throw usage_error(fmt::format("{} needs the {} most probable tokens of each step, but {} gives {}", method.name,
                                  PredictionSpec().confidence_k, engine.kind, most));
  }
}

void Plan::clear() {
  releases.clear();
  forks.clear();
  feeds.clear();
}

Search::Search(std::vector<Token> prompt, SearchOptions options, SearchText text, int n_vocab)
    : prompt_(std::move(prompt)), options_(std::move(options)), text_(std::move(text)), answers_(text_.same_answer) {
  validate(options_, n_vocab);
  if (prompt_.empty()) throw usage_error("the prompt is empty: it must be at least one token");
  const BranchRule& rule = options_.method.branch;
  RetireRule& retire = options_.method.retire;
  if (retire.window == 0) retire.window = std::clamp(options_.max_tokens / 8, 1, 2048);
  spec_.stat_temperature = options_.stat_temperature;
  spec_.top_k = std::max({1, options_.top_k, rule.enabled ? rule.k : 1});
  if (n_vocab > 0) spec_.top_k = std::min(n_vocab, spec_.top_k);
  spec_.sampling = options_.sampling;
  spec_.most_tokens =
      static_cast<int>(std::min<std::size_t>(prompt_.size() + static_cast<std::size_t>(options_.max_tokens),
                                             static_cast<std::size_t>(std::numeric_limits<int>::max())));
  spec_.statistics = needs_statistics();
  const bool by_confidence = options_.method.retire.enabled || options_.method.select == SelectRule::kMaxConfidence ||
                             options_.method.select == SelectRule::kWeightedMajority;
  if (rule.enabled && !by_confidence) spec_.decides = &rule;
  account_.prompt_tokens = static_cast<std::int64_t>(prompt_.size());
}

void Search::begin() {
  check(live_.empty() && account_.steps == 0, "begin() comes once, before the first step");
  const Method& method = options_.method;
  const std::int64_t before = account_.prompt_tokens - 1;  // tokens before the last of the prompt
  account_.attended_tokens = before * (before - 1) / 2;    // the prefill
  plan_.clear();
  prompt_slot_ = take_slot();
  const int first = method.retire.enabled ? std::min(method.retire.warmup, method.width) : method.width;
  waiting_ = method.width - first;
  start(first);
  account_.peak_live = live();
  plan_feeds();
}

void Search::start(int n) {
  const RetireRule& retire = options_.method.retire;
  for (int i = 0; i < n; ++i) {
    Branch branch;
    branch.key = root_key(options_.seed, tree_.roots().size());
    branch.leaf = tree_.add_root();
    branch.confidence = ConfidenceWindow(retire.enabled ? retire.window : 1);
    branch.warmup = retire.enabled && !bar_;
    if (text_.filter) branch.filter = text_.filter->clone();
    // The last to start takes over the prompt's slot; only the others cost a copy.
    branch.slot = waiting_ == 0 && i + 1 == n ? prompt_slot_ : take_slot();
    if (branch.slot != prompt_slot_) plan_.forks.push_back({prompt_slot_, branch.slot});
    live_.push_back(std::move(branch));
  }
}

void Search::end_warmup() {
  bar_ = quantile(warmup_confidence_, 1.0 - options_.method.retire.keep);
  start(std::exchange(waiting_, 0));
}

void Search::absorb(std::span<const Prediction> predictions) {
  check(!done() && predictions.size() == live_.size(), "absorb() takes one prediction a live branch");
  if (on_predictions) heed([&] { on_predictions(predictions); });
  for (const Branch& branch : live_) {
    account_.attended_tokens += account_.prompt_tokens - 1 + tree_.segment(branch.leaf).end();
  }
  account_.fed_tokens += live();
  ++account_.steps;
  const std::size_t finished_before = finished_.size();

  // A step is made in two phases, as in the paper's Algorithm 1: first every branch decides, then what ended leaves.
  // So a branch that ends in this step makes room in the next.
  plan_.clear();
  next_.clear();
  born_.clear();
  room_ = options_.method.branch.max_branches - live();
  if (room_ <= 0) frozen_ = true;
  for (std::size_t i = 0; i < live_.size(); ++i) {
    const Prediction& prediction = predictions[i];
    if (prediction.status != Prediction::Status::kOk) {
      // The step ends here: branches that were not visited are cut as they are.
      next_.insert(next_.end(), live_.begin() + static_cast<std::ptrdiff_t>(i), live_.end());
      next_.insert(next_.end(), born_.begin(), born_.end());
      live_.swap(next_);
      stop(StopReason::kFailed,
           prediction.status == Prediction::Status::kFailed
               ? prediction.error
               : fmt::format("the model gave logits that are not numbers (step {})", account_.steps));
      return;
    }
    const int n = children_of(prediction);
    if (n > 1) {
      split(live_[i], prediction, n);
      continue;
    }
    const Candidate taken = n == 1 ? prediction.top.front() : Candidate{prediction.sampled, prediction.sampled_logprob};
    advance(live_[i], {taken.token, taken.logprob, prediction.entropy, prediction.varentropy, prediction.confidence});
  }
  next_.insert(next_.end(), born_.begin(), born_.end());
  live_.swap(next_);
  // Also when nobody waits for the bar: it decides who of the warm-up votes.
  if (live_.empty() && options_.method.retire.enabled && !bar_) end_warmup();
  account_.peak_live = std::max(account_.peak_live, live());
  emit(SearchEvent::Type::kStep, kNoSegment);

  if (callback_error_) {
    stop(StopReason::kFailed, *callback_error_);
  } else if (finished_.size() >= static_cast<std::size_t>(options_.method.stop.finished)) {
    stop(StopReason::kEnoughFinished);
  } else if (finished_.size() > finished_before && agreed()) {
    stop(StopReason::kAgreement);
  } else if (live_.empty()) {
    stop(StopReason::kNothingLive);
  } else if (options_.max_total_tokens > 0 &&
             static_cast<std::int64_t>(tree_.unique_tokens()) >= options_.max_total_tokens) {
    stop(StopReason::kTokenBudget);
  } else {
    plan_feeds();
    flush_events();
  }
}

namespace {

bool is_decision(const BranchRule& rule, const Prediction& prediction) {
  if (prediction.decision != Prediction::Decision::kByStatistics) {
    return prediction.decision == Prediction::Decision::kYes;
  }
  return rule.is_decision(prediction.entropy, prediction.varentropy);
}

// Whether bounds of H and VE leave no doubt. The rules are monotonous in both, so the corners decide.
bool decided(const BranchRule& rule, const Prediction& prediction) {
  if (prediction.decision != Prediction::Decision::kByStatistics) return true;
  if (prediction.entropy_margin <= 0 && prediction.varentropy_margin <= 0) return true;
  const bool first = rule.is_decision(prediction.entropy, prediction.varentropy);
  for (const float h : {-prediction.entropy_margin, prediction.entropy_margin}) {
    for (const float v : {-prediction.varentropy_margin, prediction.varentropy_margin}) {
      if (rule.is_decision(prediction.entropy + h, prediction.varentropy + v) != first) return false;
    }
  }
  return true;
}

// How many of the first K tokens are probable enough to be children. What a filter forbids has no probability.
int worthy_candidates(const BranchRule& rule, const Prediction& prediction) {
  const std::size_t most = std::min<std::size_t>(prediction.top.size(), static_cast<std::size_t>(rule.k));
  const auto worthy = [&](std::size_t i) {
    const auto logprob = static_cast<double>(prediction.top[i].logprob);
    if (std::isinf(logprob)) return false;
    return rule.min_p <= 0 || std::exp(logprob - static_cast<double>(prediction.top[0].logprob)) >= rule.min_p;
  };
  std::size_t n = std::min<std::size_t>(most, 1);
  while (n < most && worthy(n)) ++n;
  return static_cast<int>(n);
}

}  // namespace

// 0: no decision token, sample. 1 with K = 1: a decision token that takes its most probable token. More: split.
int Search::children_of(const Prediction& prediction) {
  const BranchRule& rule = options_.method.branch;
  if (!rule.enabled) return 0;
  if (!decided(rule, prediction)) ++account_.undecided;
  if (!is_decision(rule, prediction)) return 0;
  const int candidates = worthy_candidates(rule, prediction);
  if (rule.k == 1 || candidates == 0) return candidates;
  if (candidates == 1 && rule.min_p > 0) return 0;  // nothing to decide: sample
  const bool closed = room_ <= 0 || (frozen_ && rule.freeze == Freeze::kPermanent);
  const int n = closed ? 0 : std::min(candidates, room_ + 1);
  if (n < candidates) ++account_.capped_decisions;
  return n;
}

void Search::advance(const Branch& branch, const TokenRecord& record) {
  Branch grown = branch;
  if (extend(grown, record)) {
    next_.push_back(std::move(grown));
  } else {
    plan_.releases.push_back(grown.slot);
    free_slots_.push_back(grown.slot);
  }
}

void Search::split(const Branch& branch, const Prediction& prediction, int n) {
  room_ -= n - 1;
  if (room_ <= 0) frozen_ = true;
  ++account_.branch_events;
  const int position = tree_.segment(branch.leaf).end();
  const SegmentId first = tree_.split(branch.leaf, n);
  emit(SearchEvent::Type::kBranch, branch.leaf);

  // The first child that lives on takes over the parent's slot; only the others cost a copy.
  bool slot_taken = false;
  for (int i = 0; i < n; ++i) {
    const Candidate& candidate = prediction.top[static_cast<std::size_t>(i)];
    Branch child = branch;
    child.leaf = first + i;
    if (branch.filter) child.filter = branch.filter->clone();
    if (i > 0) {
      child.key = child_key(branch.key, static_cast<std::uint64_t>(position), static_cast<std::uint64_t>(i));
    }
    const TokenRecord record{candidate.token, candidate.logprob, prediction.entropy, prediction.varentropy,
                             prediction.confidence};
    if (!extend(child, record)) continue;
    if (slot_taken) {
      child.slot = take_slot();
      plan_.forks.push_back({branch.slot, child.slot});
    }
    slot_taken = true;
    // Child 0 goes on in its parent's place; the others are the youngest branches there are.
    (i == 0 ? next_ : born_).push_back(std::move(child));
  }
  if (!slot_taken) {
    plan_.releases.push_back(branch.slot);
    free_slots_.push_back(branch.slot);
  }
}

bool Search::extend(Branch& branch, const TokenRecord& record) {
  tree_.append(branch.leaf, record);
  // A server may not know every token's, an end's above all; the mean is that of the others. Where nobody asked, there
  // is none.
  if (std::isnan(record.logprob) && spec_.statistics) {
    ++branch.unknown;
  } else {
    branch.logprob += static_cast<double>(record.logprob);
  }
  if (!std::isnan(record.confidence) || !spec_.statistics) branch.confidence.add(record.confidence);
  const int length = tree_.segment(branch.leaf).end();
  bool ends = false;
  std::string answer;
  heed([&] {
    ends = text_.is_end(record.token) || (text_.ends_here && text_.ends_here(tree_, branch.leaf));
    if (ends) answer = answers_.class_of(text_.answer_of(tree_.tokens_of(branch.leaf)));
  });
  if (ends) {
    tree_.close(branch.leaf, SegmentState::kFinished);
    finished_.push_back({branch.leaf, length, account_.steps, branch.mean_logprob(length), branch.confidence.mean(),
                         branch.confidence.lowest(), branch.warmup, std::move(answer)});
    if (branch.warmup) warmup_confidence_.push_back(branch.confidence.lowest());
    emit(SearchEvent::Type::kFinish, branch.leaf);
    return false;
  }
  if (length >= options_.max_tokens) {
    tree_.close(branch.leaf, SegmentState::kExhausted);
    ++account_.exhausted;
    if (branch.warmup) warmup_confidence_.push_back(branch.confidence.lowest());
    emit(SearchEvent::Type::kExhaust, branch.leaf);
    return false;
  }
  if (branch.filter) heed([&] { branch.filter->accept(record.token); });
  if (bar_ && branch.confidence.full() && branch.confidence.current() < *bar_) {
    tree_.close(branch.leaf, SegmentState::kRetired);
    ++account_.retired;
    emit(SearchEvent::Type::kRetire, branch.leaf);
    return false;
  }
  return true;
}

// Nothing will ever branch again. Also where the cap is reached and whatever makes room stops the search: branches are
// all of one length, so they reach the token budget together, and without a bar none is given up before.
bool Search::frozen_for_good() const {
  const Method& method = options_.method;
  if (frozen_ && method.branch.freeze == Freeze::kPermanent) return true;
  const std::size_t enough = static_cast<std::size_t>(method.stop.finished);
  return live() >= method.branch.max_branches && finished_.size() + 1 >= enough && !method.retire.enabled;
}

bool Search::needs_statistics() const {
  const Method& method = options_.method;
  if (method.branch.enabled && !frozen_for_good()) return true;
  return options_.top_k > 0 || method.retire.enabled || method.select == SelectRule::kMaxConfidence ||
         method.select == SelectRule::kWeightedMajority || method.select == SelectRule::kMaxLogprob;
}

void Search::plan_feeds() {
  spec_.statistics = needs_statistics();
  for (const Branch& branch : live_) {
    const Segment& leaf = tree_.segment(branch.leaf);
    // A trajectory that starts is fed the last prompt token.
    const Token token = leaf.end() == 0 ? prompt_.back() : leaf.tokens.back().token;
    plan_.feeds.push_back(
        {branch.slot, token, draw_bits(branch.key, static_cast<std::uint64_t>(leaf.end())), branch.filter.get()});
  }
}

int Search::take_slot() {
  if (free_slots_.empty()) return slots_++;
  const int slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

void Search::stop(StopReason reason, std::string error) {
  check(reason != StopReason::kRunning, "a search that stops has a reason");
  if (done()) return;
  reason_ = reason;
  error_ = std::move(error);
  for (const Branch& branch : live_) tree_.close(branch.leaf, SegmentState::kCut);
  live_.clear();
  plan_.clear();
  emit(SearchEvent::Type::kDone, kNoSegment);
  flush_events();
}

void Search::abandon(std::string error) {
  if (done()) return;
  reason_ = StopReason::kFailed;
  error_ = std::move(error);
  // What live_ and the plan say is in doubt; the tree never is.
  for (SegmentId id = 0; id < static_cast<SegmentId>(tree_.segments().size()); ++id) {
    if (tree_.segment(id).state == SegmentState::kLive) tree_.close(id, SegmentState::kCut);
  }
  live_.clear();
  plan_.clear();
  telling_ = false;
  emit(SearchEvent::Type::kDone, kNoSegment);
  flush_events();
}

template <typename Callback>
void Search::heed(Callback callback) {
  try {
    callback();
    return;
  } catch (const std::exception& error) {
    if (!callback_error_) callback_error_ = unspelled(error);
  } catch (...) {
    if (!callback_error_) callback_error_ = "a callback failed";
  }
}

void Search::emit(SearchEvent::Type type, SegmentId segment) {
  if (on_event) events_.push_back({type, account_.steps, segment});
}

void Search::flush_events() {
  if (telling_) return;  // a callback stopped the search: the loop below goes on to what that appended
  telling_ = true;
  for (std::size_t i = 0; i < events_.size(); ++i) {
    const SearchEvent event = events_[i];
    heed([&] { on_event(event); });
    if (!callback_error_ || failed_callback_told_) continue;
    // Who cannot hear is told once more, that it is over, and then no more.
    failed_callback_told_ = true;
    if (done()) {
      reason_ = StopReason::kFailed;
      error_ = *callback_error_;
    } else {
      stop(StopReason::kFailed, *callback_error_);
    }
  }
  events_.clear();
  telling_ = false;
}

std::vector<Ballot> Search::ballots() const {
  const bool weighted = options_.method.select == SelectRule::kWeightedMajority;
  std::vector<Ballot> ballots;
  ballots.reserve(finished_.size());
  for (const FinishedTrace& trace : finished_) {
    // Also where no window ever filled: the mean of a short trajectory is its lowest.
    const double weight = weighted ? trace.lowest_confidence : 1.0;
    ballots.push_back({trace.answer, trace.length, trace.may_vote(bar_) ? weight : 0.0});
  }
  return ballots;
}

bool Search::agreed() const {
  const StopRule& rule = options_.method.stop;
  if (rule.consensus <= 0 && rule.adaptive <= 0) return false;
  if (options_.method.retire.enabled && !bar_) return false;  // the warm-up always runs in full
  const std::vector<AnswerCount> votes = count_votes(ballots());
  if (votes.empty()) return false;
  double total = 0;
  for (const AnswerCount& count : votes) total += count.weight;
  int voters = 0;
  for (const AnswerCount& count : votes) voters += count.votes;
  if (rule.consensus > 0 && voters > 1 && votes.front().weight >= rule.consensus * total) return true;
  const int runner_up = votes.size() > 1 ? votes[1].votes : 0;
  return rule.adaptive > 0 && majority_certainty(votes.front().votes, runner_up) >= rule.adaptive;
}

std::vector<SegmentId> Search::live_leaves() const {
  std::vector<SegmentId> leaves;
  leaves.reserve(live_.size());
  for (const Branch& branch : live_) leaves.push_back(branch.leaf);
  return leaves;
}

namespace {

std::optional<std::size_t> select(const Method& method, std::span<const FinishedTrace> finished,
                                  std::span<const AnswerCount> votes) {
  if (finished.empty()) return std::nullopt;
  const auto best_by = [&](auto score) {
    const auto best = std::max_element(finished.begin(), finished.end(), [&](const auto& a, const auto& b) {
      // What is not known is no reason to win.
      return score(a) < score(b) || (std::isnan(score(a)) && !std::isnan(score(b)));
    });
    return static_cast<std::size_t>(best - finished.begin());
  };
  switch (method.select) {
    case SelectRule::kFirst:
      return 0;
    case SelectRule::kMajority:
      // Nobody voted: no answer was found in any trace. The first to finish is as good as the paper's rule gets.
      return votes.empty() ? 0 : static_cast<std::size_t>(votes.front().shortest);
    case SelectRule::kWeightedMajority:
      // As DeepConf's released code: whoever is below the bar stands for nothing.
      if (votes.empty()) return std::nullopt;
      return static_cast<std::size_t>(votes.front().shortest);
    case SelectRule::kMaxLogprob:
      return best_by([&](const FinishedTrace& trace) {
        return length_penalised(trace.mean_logprob * trace.length, trace.length, method.length_alpha);
      });
    case SelectRule::kMaxConfidence:
      return best_by([](const FinishedTrace& trace) { return trace.mean_confidence; });
  }
  return std::nullopt;
}

// The unfinished leaf whose trajectory is the most probable per token: what there is to show when nothing finished.
SegmentId most_probable_leaf(const Tree& tree) {
  std::vector<double> logprob(tree.segments().size());  // of the trajectory up to the end of each segment
  SegmentId best = kNoSegment;
  double best_mean = 0;
  for (std::size_t id = 0; id < logprob.size(); ++id) {
    const Segment& segment = tree.segments()[id];
    if (segment.parent != kNoSegment) logprob[id] = logprob[static_cast<std::size_t>(segment.parent)];
    for (const TokenRecord& record : segment.tokens) logprob[id] += static_cast<double>(record.logprob);
    if (!segment.children.empty() || segment.end() == 0) continue;
    const double mean = logprob[id] / segment.end();
    if (best == kNoSegment || mean > best_mean) {
      best = static_cast<SegmentId>(id);
      best_mean = mean;
    }
  }
  return best;
}

}  // namespace

Account Search::account() const {
  Account so_far = account_;
  so_far.unique_tokens = static_cast<std::int64_t>(tree_.unique_tokens());
  for (const Segment& segment : tree_.segments()) {
    if (!segment.children.empty()) continue;
    ++so_far.branches;
    so_far.branch_tokens += segment.end();
  }
  return so_far;
}

Outcome Search::outcome() const {
  Outcome outcome;
  outcome.reason = reason_;
  outcome.error = failure().what();
  outcome.finished = finished_;
  outcome.votes = count_votes(ballots());
  outcome.confidence_bar = bar_;
  outcome.winner = select(options_.method, finished_, outcome.votes);
  outcome.best_leaf = outcome.winner       ? finished_[*outcome.winner].leaf
                      : !finished_.empty() ? finished_.front().leaf
                                           : most_probable_leaf(tree_);

  outcome.account = account();
  return outcome;
}

}  // namespace dts
