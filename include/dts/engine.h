// The model's side of decoding. An engine knows tokens, KV and distributions; it knows nothing of trees.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>

#include "dts/interruption.h"
#include "dts/logits_filter.h"
#include "dts/prediction.h"

namespace dts {

// A sequence of tokens whose KV the engine holds. Valid from open() or fork() until release().
using BranchId = std::int32_t;

// Tokens to append to one branch, and what the prediction after the last of them should be computed with.
struct Feed {
  BranchId branch = 0;
  std::span<const Token> tokens;         // at least one; not owned; outlives the step
  std::uint64_t draw = 0;                // random bits for the sample: uniform over 64 bits (rng.h)
  const PredictionSpec* spec = nullptr;  // not owned; outlives the step. Null: a stretch of a prompt, no prediction
  // Not owned; outlives the step. What it makes of the logits is what all of the prediction is computed from. Null:
  // they are taken as they are.
  const LogitsFilter* filter = nullptr;
};

// What a branch held when it was kept, outside of the engine's branches and of info().kv_tokens.
class KeptBranch {
 public:
  KeptBranch() = default;
  KeptBranch(const KeptBranch&) = delete;
  KeptBranch& operator=(const KeptBranch&) = delete;
  virtual ~KeptBranch() = default;

  virtual int tokens() const = 0;
  virtual std::int64_t bytes() const = 0;  // of memory that it takes
};

// What can be relied on. A method that needs more than an engine has is refused before anything is decoded.
struct EngineCapabilities {
  bool honours_draws = true;     // samples by Feed::draw; else by random numbers of its own: seeds do not reproduce
  bool exact_statistics = true;  // H and VE of the whole distribution; else bounds of them (Prediction)
  // A search's predictions do not depend on the other searches in the step, to the last bit: trees are reproducible
  // whatever else is decoded. (They may depend on whether the search has one row in the step or several, which is a
  // fact of its tree. A search's rows are those of one spec.)
  bool batch_invariant = true;
  bool mixes_prompts = false;  // a step may have stretches of prompts beside single tokens; else each comes alone
  // Rows need not wait for one another: a step may leave out searches whose predictions are not there yet (kPending),
  // and a prompt costs nothing by itself, so that all that wait may join at once.
  bool steps_apart = false;
  bool keeps_branches = false;                      // keep() and reopen()
  bool suspends_branches = false;                   // suspend() and resume()
  bool filters_logits = false;                      // honours Feed::filter
  int max_top_k = std::numeric_limits<int>::max();  // candidates that a prediction can have

  // "exact statistics, reproducible whatever else is decoded": for people, one line.
  std::string to_string() const;

  friend bool operator==(const EngineCapabilities&, const EngineCapabilities&) = default;
};

struct EngineInfo {
  std::string name;            // the model, as a person would name it
  std::string kind;            // the engine: "llama.cpp"
  int n_vocab = 0;             // 0: not known
  int context_length = 0;      // tokens a branch can hold: prompt and generated together
  int max_branches = 0;        // branches that can be open at once
  std::int64_t kv_tokens = 0;  // tokens that all branches can hold together, in units of kv_tokens_of(); 0: no limit
  int prefill_chunk = 512;     // how many prompt tokens one feed should carry
  // A kept prompt can be taken over in multiples of so many tokens; 0: of prefill_chunk, for where a prompt is cut into
  // feeds shows in its bits.
  int prompt_grain = 0;
  EngineCapabilities capabilities;
  // Estimated floating-point operations of one fed token: flops_per_token + flops_per_attended * (tokens before it).
  double flops_per_token = 0;     // 2 x parameters
  double flops_per_attended = 0;  // 4 x layers x heads x head dimension
};

// The most that a search can ask of an engine.
struct Footprint {
  int branches = 1;  // at once
  int prompt_tokens = 0;
  int max_tokens = 0;  // of a trajectory, beside the prompt
};

// Seconds spent since the engine was made, split by what they were spent on. Their sum is the engine's busy time.
struct EngineTimes {
  double prefill = 0;     // model evaluation of prompts
  double model = 0;       // model evaluation of steps
  double statistics = 0;  // logits -> predictions
  double forks = 0;       // copying, moving and growing KV
};

// Not thread-safe: one caller at a time (the scheduler), but for interruption().
class Engine {
 public:
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  virtual ~Engine() = default;

  virtual const EngineInfo& info() const = 0;
  virtual EngineTimes times() const = 0;

  // What a search takes of info().kv_tokens while it runs. An engine whose branches share what they have in common
  // counts that once, and one that can suspend them may count what is likely rather than the most there can be.
  // Default: every branch at its full length.
  virtual std::int64_t kv_tokens_of(const Footprint& footprint) const;

  // A new, empty branch. Throws when max_branches are open.
  virtual BranchId open() = 0;

  // A new branch with the same tokens as `parent`. Cost: at most one copy of the parent's KV, done by the next step.
  virtual BranchId fork(BranchId parent) = 0;

  // Frees the branch. Cost: at most the move of one other branch's KV, done by the next step.
  virtual void release(BranchId branch) = 0;

  // Copies what a branch holds out of the engine, and makes a new branch of the first `tokens` of it, which is to the
  // last bit what feeding those would have made, had the feeds ended there. Cost: at most a copy of the KV each; what
  // is kept may take room that has_room() then misses. An engine that cannot (capabilities) throws.
  virtual std::unique_ptr<KeptBranch> keep(BranchId branch);
  virtual BranchId reopen(KeptBranch& kept, int tokens);

  // Is there memory for what step() of these would append? Where there is not, that step throws. Default: always, for
  // the reservation by kv_tokens_of() is the most a search can take.
  virtual bool has_room(std::span<const Feed> feeds) const;

  // Takes what these branches hold out of the device's memory, and puts it back as it was, to the last bit. In between
  // they stay open, and release() is all that may be done with them. resume() is given the same branches, less those
  // released; false: there is no room for them yet, and for a while of what will be appended. Where no other branch is
  // in the device's memory, nor kept, there always is. Cost: a copy of their KV each, of what they share once. An
  // engine that cannot (capabilities) throws; so does one that has no memory to put it.
  virtual void suspend(std::span<const BranchId> branches);
  virtual bool resume(std::span<const BranchId> branches);

  // Appends the tokens of each feed to its branch (each branch at most once) and predicts what follows where a spec
  // says so: out[i] belongs to feeds[i]; the others are left as they are. A branch's predictions depend only on its own
  // tokens and draws, never on the other feeds, as far as capabilities promise. To be reproducible a prompt must be cut
  // at the same places every time.
  //
  // An engine that steps apart may leave rows out, all of a spec together (kPending): nothing has changed for their
  // branches, and the same feeds come again. At least one row with a spec is not left out.
  //
  // A row that fails alone says so in its prediction's status. What fails the whole step (the device) throws
  // dts::Error. When the interruption is due it throws Interrupted, soon, and every branch is as it was before.
  virtual void step(std::span<const Feed> feeds, std::span<Prediction> out) = 0;

  // One stretch of a prompt, of at most info().prefill_chunk tokens.
  void prefill(BranchId branch, std::span<const Token> tokens);

  // Ends a step that takes too long; an engine whose steps are short need not heed it. Whoever steps clears it before.
  Interruption& interruption() { return interruption_; }

 private:
  Interruption interruption_;
};

}  // namespace dts
