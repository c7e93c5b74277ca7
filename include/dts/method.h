// Every method is one loop with a few small rules: how many trajectories start, when a branch splits, when the search
// stops, and which finished trajectory wins. A method is a value made of those rules; search.h is the loop.
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

  bool is_decision(double entropy, double varentropy) const;
};

struct StopRule {
  static constexpr int kAll = std::numeric_limits<int>::max();
  int finished = kAll;  // stop after the step in which this many trajectories have finished; kAll: when none is live
};

enum class SelectRule {
  kFirst,           // the first to finish; in one step, visiting order
  kMajority,        // majority over normalised answers; a tie goes to the answer that finished first
  kMaxMeanLogprob,  // the highest log-probability per token
};

struct Method {
  std::string name;
  int width = 1;  // trajectories that start at the prompt
  BranchRule branch;
  StopRule stop;
  SelectRule select = SelectRule::kFirst;

  // The most branches that can ever be live: what a scheduler reserves.
  int max_live() const { return branch.enabled && branch.max_branches > width ? branch.max_branches : width; }
};

// The numbers a user may set; each method takes those that concern it.
struct MethodOptions {
  BranchRule branch;  // `enabled` is the method's own business
  int votes = 8;      // B for dts-stable and short-m@k, N for self-consistency and first-finish
  int samples = 48;   // k of short-m@k: trajectories that start
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
