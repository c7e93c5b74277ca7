// One question being decoded: a state machine that plans the next tokens and absorbs the predictions. It owns a tree
// and a method, emits events, does no input or output and never blocks, so it runs, and is tested, without a model.
//
//   search.begin();                       // after the prompt, all but its last token, is in the engine
//   while (!search.done()) {
//     execute(search.plan());             // release, fork, feed
//     search.absorb(predictions);         // one step of the algorithm
//   }
//   search.outcome();
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dts/confidence.h"
#include "dts/engine.h"
#include "dts/error.h"
#include "dts/method.h"
#include "dts/prediction.h"
#include "dts/rng.h"
#include "dts/tree.h"
#include "dts/vote.h"

namespace dts {

// Text is not the search's business: these functions are all it knows of it.
struct SearchText {
  std::function<bool(Token)> is_end;                             // does this token end a trajectory?
  std::function<std::string(std::span<const Token>)> answer_of;  // normalised answer; empty: none
  // Optional, asked after each token that is no end token: does the trajectory end here all the same (a stop string)?
  // `leaf` is its segment, whose last token is the new one.
  std::function<bool(const Tree&, SegmentId leaf)> ends_here = nullptr;
  // Optional: which answers are one when votes are counted. None: those that are the same text.
  SameAnswer same_answer = nullptr;
  // Optional: what a trajectory may say. As of the prompt's end; each trajectory has a copy of its own.
  std::shared_ptr<const LogitsFilter> filter = nullptr;
};

struct SearchOptions {
  Method method;
  SamplingOptions sampling;
  float stat_temperature = 0.6F;
  std::uint64_t seed = 0;
  int max_tokens = 32768;             // per trajectory, the end token included; >= 1
  std::int64_t max_total_tokens = 0;  // unique tokens over all branches; 0: no limit
  int top_k = 0;                      // candidates to ask the engine for; raised to K where a method needs more
};

// Throws a usage error naming the flag, the value and the range. `n_vocab` 0: not known.
void validate(const SearchOptions& options, int n_vocab);
// And when the method needs more than the engine can do.
void validate(const SearchOptions& options, const EngineInfo& engine);

enum class StopReason : std::uint8_t {
  kRunning,
  kEnoughFinished,  // the stop rule was met
  kAgreement,       // the answers agree: the stop rule's consensus or adaptive was met
  kNothingLive,     // every trajectory finished, exhausted its budget or was given up
  kTokenBudget,     // max_total_tokens
  kTimeBudget,
  kCancelled,
  kFailed,  // see Outcome::error
};
std::string_view to_string(StopReason reason);

// A trajectory that reached an end token, in order of finishing.
struct FinishedTrace {
  SegmentId leaf = kNoSegment;
  int length = 0;  // tokens, the end token included
  int step = 0;    // in which it finished; 1 is the first
  double mean_logprob = 0;
  double mean_confidence = 0;
  double lowest_confidence = 0;  // lowest window mean, when the method has a retire rule; else the lowest token's
  bool warmup = false;           // one of those that set the retire rule's bar
  std::string answer;            // normalised, as the first of its class had it (vote.h); empty: none found

  // As far as its confidence goes; `bar` is the retire rule's, once set.
  bool may_vote(std::optional<double> bar) const { return !bar || lowest_confidence >= *bar; }
};

// What the search cost. Every generated token is counted once, in the segment that holds it.
struct Account {
  int steps = 0;
  std::int64_t branch_events = 0;    // decision tokens that split
  std::int64_t branches = 0;         // trajectories there were: the tree's leaves
  std::int64_t branch_tokens = 0;    // sum of their lengths: what independent decoding would have generated
  std::int64_t unique_tokens = 0;    // tokens in the tree
  std::int64_t fed_tokens = 0;       // tokens the model evaluated after the prefill
  std::int64_t attended_tokens = 0;  // sum over evaluated tokens, prefill included, of the tokens before them
  std::int64_t prompt_tokens = 0;
  // Of those, what an earlier search had left in the engine. All else is counted as if there were none, so that an
  // account does not depend on what ran before.
  std::int64_t cached_tokens = 0;
  int peak_live = 0;
  int exhausted = 0;
  int retired = 0;
  int capped_decisions = 0;  // decision tokens that got fewer than K children, for want of room
  // Tokens whose bounds of H and VE, from an engine that has no exact ones, allow both to be one and not to be one. The
  // middle of the bounds decides.
  std::int64_t undecided = 0;

  double sharing_ratio() const {
    return unique_tokens > 0 ? static_cast<double>(branch_tokens) / static_cast<double>(unique_tokens) : 1.0;
  }
};

struct Outcome {
  StopReason reason = StopReason::kRunning;
  std::string error;                    // kFailed only
  std::vector<FinishedTrace> finished;  // in order of finishing
  std::vector<AnswerCount> votes;       // over `finished`, winner first
  std::optional<std::size_t> winner;    // index into `finished`; none when nothing finished, or nobody may vote
  // The winner's leaf; without one the first that finished, or the most probable trajectory when none has.
  SegmentId best_leaf = kNoSegment;
  std::optional<double> confidence_bar;  // the retire rule's, once set
  Account account;

  // Ended as the method intends, rather than by a budget, a cancellation or a failure.
  bool complete() const {
    return reason == StopReason::kEnoughFinished || reason == StopReason::kAgreement ||
           reason == StopReason::kNothingLive;
  }
};

struct SearchEvent {
  enum class Type : std::uint8_t { kStep, kBranch, kFinish, kExhaust, kRetire, kDone };
  Type type = Type::kStep;
  int step = 0;
  SegmentId segment = kNoSegment;  // kBranch: the segment that split; kFinish, kExhaust, kRetire: the leaf
};

// What the engine must do next, in this order. Branches are named by the search's own slots, dense from 0; whoever
// drives the search maps them to the engine's.
struct Plan {
  struct Fork {
    int parent = 0;
    int child = 0;
  };
  struct SlotFeed {
    int slot = 0;
    Token token = 0;
    std::uint64_t draw = 0;
    const LogitsFilter* filter = nullptr;  // the search's own, until it absorbs the step
  };
  std::vector<int> releases;
  std::vector<Fork> forks;
  std::vector<SlotFeed> feeds;  // in visiting order: older branches first

  void clear();
};

class Search {
 public:
  // `prompt` must not be empty; `n_vocab` 0: not known. Throws a usage error when the options are out of range.
  Search(std::vector<Token> prompt, SearchOptions options, SearchText text, int n_vocab);

  std::span<const Token> prompt() const { return prompt_; }
  const SearchOptions& options() const { return options_; }
  const PredictionSpec& spec() const { return spec_; }  // stable address: engines keep pointers to it
  int max_live() const { return options_.method.max_live(); }
  bool filters_logits() const { return text_.filter != nullptr; }
  // Before begin(): so many prompt tokens need not be evaluated.
  void reuse(int prompt_tokens) { account_.cached_tokens = prompt_tokens; }

  // Slot 0 holds the prompt but for its last token. Makes the first plan: the last prompt token for each trajectory.
  void begin();
  const Plan& plan() const { return plan_; }
  // predictions[i] belongs to plan().feeds[i]. Afterwards either done() or plan() holds the next step.
  void absorb(std::span<const Prediction> predictions);

  // Ends the search at once with what it has. Does nothing when it is done.
  void stop(StopReason reason, std::string error = {});
  // The same as a failure, also when a step broke off in the middle (for want of memory, say).
  void abandon(std::string error);
  // Why it failed, for whoever spells options in its own way: the error of its outcome.
  Error failure() const { return Error(error_); }

  bool done() const { return reason_ != StopReason::kRunning; }
  StopReason reason() const { return reason_; }
  int step() const { return account_.steps; }
  int live() const { return static_cast<int>(live_.size()); }
  const Tree& tree() const { return tree_; }
  std::span<const FinishedTrace> finished() const { return finished_; }
  // Leaves that are growing, in visiting order. [live()]
  std::vector<SegmentId> live_leaves() const;
  // What it has cost so far. Takes as long as there are segments.
  Account account() const;
  // Recounts the votes: as cheap as the number of finished trajectories, but for a walk over all tokens while none has
  // finished.
  Outcome outcome() const;

  // What a callback throws fails this search, once its step is complete; nothing of it leaves the search.
  //
  // Called at the end of absorb() and stop(), when the whole search can be read again. May call stop().
  std::function<void(const SearchEvent&)> on_event;
  // Called at the start of absorb(), for who keeps what the tree does not: predictions[i] is what live_leaves()[i] goes
  // on with. Must not change the search.
  std::function<void(std::span<const Prediction>)> on_predictions;

 private:
  struct Branch {
    SegmentId leaf = kNoSegment;
    int slot = 0;
    PathKey key = 0;
    double logprob = 0;  // sum over the trajectory's tokens of which it is known
    int unknown = 0;     // the others, which a server did not tell
    double mean_logprob(int length) const { return logprob / (length - unknown); }
    ConfidenceWindow confidence;
    bool warmup = false;
    std::shared_ptr<LogitsFilter> filter;  // its own: whoever copies a branch to split it clones this, too
  };

  bool frozen_for_good() const;
  // Whether predictions are still looked at for more than the sampled token.
  bool needs_statistics() const;
  // How many children the branch gets: 0 when it does not split.
  int children_of(const Prediction& prediction);
  // One step of one branch that does not split, and of one that splits into its `n` most probable tokens.
  void advance(const Branch& branch, const TokenRecord& record);
  void split(const Branch& branch, const Prediction& prediction, int n);
  // Appends the token and says whether the branch lives on; if not, it is finished, exhausted or retired.
  bool extend(Branch& branch, const TokenRecord& record);
  // Starts `n` more trajectories at the prompt.
  void start(int n);
  // Once the warm-up is over: sets the bar and starts the other trajectories.
  void end_warmup();
  // The finished trajectories' votes, weighted as the method says.
  std::vector<Ballot> ballots() const;
  bool agreed() const;
  void plan_feeds();
  int take_slot();
  // Calls back, and remembers the first failure.
  template <typename Callback>
  void heed(Callback callback);
  void emit(SearchEvent::Type type, SegmentId segment);
  void flush_events();

  std::vector<Token> prompt_;
  SearchOptions options_;
  SearchText text_;
  PredictionSpec spec_;

  Tree tree_;
  Plan plan_;
  std::vector<Branch> live_;  // visiting order: older first
  std::vector<Branch> next_;  // live_ of the step being made
  std::vector<Branch> born_;  // forks of the step being made: visited after every older branch
  bool telling_ = false;      // on_event is being called
  std::optional<std::string> callback_error_;
  bool failed_callback_told_ = false;      // that the search is over
  std::vector<SearchEvent> events_;        // of the step being made: emitted once the search is consistent again
  int waiting_ = 0;                        // trajectories that start after the warm-up
  int prompt_slot_ = -1;                   // holds the prompt for them
  std::vector<double> warmup_confidence_;  // lowest window mean of each warm-up trajectory that has ended
  std::optional<double> bar_;
  std::vector<int> free_slots_;
  int slots_ = 0;
  int room_ = 0;  // forks that still fit under the cap in the step being made
  bool frozen_ = false;
  StopReason reason_ = StopReason::kRunning;
  std::string error_;  // its options named by option_name()
  std::vector<FinishedTrace> finished_;
  AnswerClasses answers_;  // of `finished_`
  Account account_;
};

}  // namespace dts
