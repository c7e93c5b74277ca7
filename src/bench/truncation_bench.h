// What an engine that sees only the most probable tokens would decide, beside what is true: on a model whose whole
// distribution is at hand.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "dts/engine.h"
#include "dts/method.h"

namespace dts::bench {

struct TruncationOptions {
  std::vector<int> candidates = {5, 20, 100};  // most probable tokens that are seen
  int max_tokens = 400;                        // of a trajectory
  float stat_temperature = 0.6F;
  SamplingOptions sampling;
  BranchRule rule;         // tau_v and tau_h
  std::uint64_t seed = 0;  // of the trajectories
};

struct TruncationRow {
  int candidates = 0;
  std::int64_t steps = 0;
  std::int64_t decisions = 0;            // steps that are decision tokens by the whole distribution
  std::int64_t undecided = 0;            // steps whose bounds allow both
  std::int64_t undecided_decisions = 0;  // of the decisions
  std::int64_t wrong = 0;       // steps that the remote engine's rule gets wrong: of the undecided, all of them
  std::int64_t missed = 0;      // of those, decisions that it takes for none
  double entropy_width = 0;     // mean over steps, nats
  double varentropy_width = 0;  // mean over steps, nats^2
};

// One trajectory a prompt. `is_end` tells end tokens. `after_token` is called now and then; it may throw to leave.
std::vector<TruncationRow> run_truncation_bench(Engine& engine, std::span<const std::vector<Token>> prompts,
                                                const std::function<bool(Token)>& is_end,
                                                const TruncationOptions& options,
                                                const std::function<void()>& after_token);

}  // namespace dts::bench
