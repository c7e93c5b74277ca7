// Every method is one loop with five small rules: how many trajectories start, when a branch splits, when one is given
// up, when the search stops, and which finished trajectory wins. A method is a value made of those rules; search.h is
// the loop.
#pragma once

#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "dts/prediction.h"

namespace dts {

// Which distributions make a decision token. kDecision is the paper's; the others are its ablation.
enum class Criterion {
  kDecision,     // VE >= tau_v and H <= tau_h
  kHighEntropy,  // H >= tau_h
  kEither,       // one of the two above
};

// What happens once the cap has been reached.
enum class Freeze {
  kTemporary,  // branching resumes when a branch ends (the paper)
  kPermanent,  // never again in this search (the released reference code)
};

struct BranchRule {
  bool enabled = false;  // false: never branch
  Criterion criterion = Criterion::kDecision;
  double tau_v = 1.5;     // nats^2, >= 0; infinity never branches
  double tau_h = 2.5;     // nats,   >= 0
  int k = 3;              // children of a decision token
  int max_branches = 48;  // A: live branches never exceed it
  Freeze freeze = Freeze::kTemporary;
  // A child needs this share of the first child's probability, at temperature 1; 0: every one of the K is a child (the
  // paper). A decision token that is left with one child does not split.
  double min_p = 0;

  bool is_decision(double entropy, double varentropy) const;
};

// DeepConf, online: the first `warmup` trajectories run to their end and set a bar; the others start then, and are
// given up once the mean confidence of their last `window` tokens falls below it. The bar is the (1 - keep) quantile of
// the warm-up's lowest window means. Whose lowest window mean is below the bar does not vote, warm-up or not.
struct RetireRule {
  bool enabled = false;
  int warmup = 4;     // of the method's width; >= 1
  double keep = 0.1;  // DeepConf-low 0.1 (a high bar), DeepConf-high 0.9
  int window = 0;  // tokens; 0: an eighth of the token budget, at most 2048. A shorter trajectory counts with its mean
};

struct StopRule {
  static constexpr int kAll = std::numeric_limits<int>::max();
  int finished = kAll;   // stop after the step in which this many trajectories have finished; kAll: when none is live
  double consensus = 0;  // stop when the leading answer has this share of two votes' weight or more; 0: never
  double adaptive = 0;   // stop when the majority is this certain to stand (vote.h); 0: never
};

enum class SelectRule {
  kFirst,             // the first to finish; in one step, visiting order
  kMajority,          // majority over normalised answers; a tie goes to the answer that finished first
  kWeightedMajority,  // the same, each vote weighted by its trajectory's lowest window confidence; nobody: no winner
  kMaxLogprob,        // the highest log-probability, divided by a penalty of length (vote.h)
  kMaxConfidence,     // the highest mean confidence
};

struct Method {
  std::string name;
  int width = 1;  // trajectories that start at the prompt
  BranchRule branch;
  RetireRule retire;
  StopRule stop;
  SelectRule select = SelectRule::kFirst;
  double length_alpha = 0.6;  // kMaxLogprob: exponent of the length penalty; 0: none, 1: nearly the mean per token

  // The most branches the engine ever holds for it: what a scheduler reserves. A method with a warm-up keeps the prompt
  // in one more, for the trajectories that start later.
  int max_live() const;
};

// The numbers a user may set; each method takes those that concern it.
struct MethodOptions {
  BranchRule branch;  // `enabled` is the method's own business; `min_p` 0: dts-lean has its own
  int votes = 8;      // B for dts-stable and short-m@k, N for self-consistency and first-finish
  int samples = 48;   // k of short-m@k: trajectories that start
  // DeepConf; 0: chosen from the budgets, as docs/methods.md says.
  int warmup = 0;
  int window = 0;
  double consensus = 0;       // stop once the leading answer has this share of the votes; 0: never
  double adaptive = 0;        // stop once the majority is this certain; 0: never, but for dts-lean, which has its own
  double length_alpha = 0.6;  // max-logit; Wu et al. found 0.6 to 0.7 to be best
};

struct MethodInfo {
  std::string_view name;
  std::string_view summary;  // what it does, one line
  std::string_view source;   // where it was published, one line
};

// All methods, in the order a person should read them.
std::span<const MethodInfo> methods();

// Throws a usage error for an unknown name (listing those there are) and for options outside their range.
Method make_method(std::string_view name, const MethodOptions& options = {});

// Throws a usage error that names the flag, the value and the range. `n_vocab` bounds K.
void validate(const Method& method, int n_vocab);
void validate(const SamplingOptions& sampling);

}  // namespace dts
