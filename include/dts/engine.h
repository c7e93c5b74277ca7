// The model's side of decoding. An engine knows tokens, KV and distributions; it knows nothing of trees.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "dts/prediction.h"

namespace dts {

// A sequence of tokens whose KV the engine holds. Valid from open() or fork() until release().
using BranchId = std::int32_t;

// One token to append to one branch, and what the prediction after it should be computed with.
struct Feed {
  BranchId branch = 0;
  Token token = 0;
  std::uint64_t draw = 0;                // random bits for the sample: uniform over 64 bits (rng.h)
  const PredictionSpec* spec = nullptr;  // not owned; outlives the step
};

struct EngineInfo {
  std::string name;  // the model, as a person would name it
  int n_vocab = 0;
  int context_length = 0;   // tokens a branch can hold: prompt and generated together
  int max_branches = 0;     // branches that can be open at once
  int prefill_chunk = 512;  // how many prompt tokens one prefill call should carry (cancellation granularity)
  // Estimated floating-point operations of one fed token: flops_per_token + flops_per_attended * (tokens before it).
  double flops_per_token = 0;     // 2 x parameters
  double flops_per_attended = 0;  // 4 x layers x heads x head dimension
};

// Seconds spent since the engine was made, split by what they were spent on. Their sum is the engine's busy time.
struct EngineTimes {
  double prefill = 0;     // model evaluation of prompts
  double model = 0;       // model evaluation of steps
  double statistics = 0;  // logits -> predictions
  double forks = 0;       // copying, moving and growing KV
};

// Not thread-safe: one caller at a time (the scheduler). Failures of the device throw dts::Error.
class Engine {
 public:
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  virtual ~Engine() = default;

  virtual const EngineInfo& info() const = 0;
  virtual EngineTimes times() const = 0;

  // A new, empty branch. Throws when max_branches are open.
  virtual BranchId open() = 0;

  // Appends tokens without predicting. Blocks for the time of one model evaluation; callers pass at most
  // info().prefill_chunk tokens so that they can report progress and cancel in between. To be reproducible a prompt
  // must be cut at the same places every time.
  virtual void prefill(BranchId branch, std::span<const Token> tokens) = 0;

  // A new branch with the same tokens as `parent`. Cost: at most one copy of the parent's KV, done by the next step.
  virtual BranchId fork(BranchId parent) = 0;

  // Frees the branch. Cost: at most the move of one other branch's KV, done by the next step.
  virtual void release(BranchId branch) = 0;

  // Appends one token to each branch named in `feeds` (each at most once) and predicts what follows: out[i] belongs
  // to feeds[i]. A branch's predictions depend only on its own tokens and draws, never on the other feeds.
  virtual void step(std::span<const Feed> feeds, std::span<Prediction> out) = 0;
};

}  // namespace dts
