// What one step of ours costs, split by what it is spent on, beside the same batch in a bare llama.cpp loop.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "dts/llama.h"

namespace dts::bench {

struct StepBenchOptions {
  std::vector<int> branches = {1, 2, 4, 8, 48};
  std::vector<int> private_tokens = {0, 256, 1024, 2048};  // tokens each branch holds in its own KV
  int steps = 9;                                           // measured steps of each, ours and bare in turn
  LlamaEngineOptions engine;                               // max_branches and context_length are the benchmark's
  const Model* ours = nullptr;  // whose steps are ours, the same weights on another engine; null: llama.cpp's, too
};

// Seconds a step; medians over the measured steps. With one thread and no GPU `bare`, `ours`, `fastest` and `ratio` are
// the CPU's time, which other programs on the machine hardly disturb; what it is split into is wall time.
struct StepTimes {
  int branches = 0;
  int private_tokens = 0;
  double bare = 0;         // the bare loop's step
  double ours = 0;         // our step, all in
  double fastest = 0;      // our fastest step: what other programs on the machine disturb least
  double ratio = 0;        // ours over bare: the median of the pairs measured back to back
  double model = 0;        // of ours: the model
  double statistics = 0;   // of ours: logits -> predictions
  double bookkeeping = 0;  // of ours: scheduler, search, tree
  double fork = 0;         // one fork at this length; 0 with one branch
};

struct StatisticsTimes {
  int rows = 0;
  int n_vocab = 0;
  double oracle = 0;  // seconds for all rows: the scalar oracle
  double fast = 0;    // seconds for all rows: the SIMD pass, same threads as the engine
};

// Fastest step = base + slope * attended tokens, least squares over the private lengths at one number of branches.
struct LinearFit {
  int branches = 0;
  double base = 0;       // seconds
  double slope = 0;      // seconds an attended token
  double r_squared = 0;  // 1: perfectly linear
};

struct StepBenchResult {
  int threads = 0;
  std::vector<StepTimes> steps;
  StatisticsTimes statistics;
  std::vector<LinearFit> fits;  // one for each number of branches with three or more lengths
};

// `on_row` is called after each row is complete, `on_measured` more often: both may throw to leave.
StepBenchResult run_step_bench(const LlamaModel& model, const StepBenchOptions& options,
                               const std::function<void(const StepTimes&)>& on_row = nullptr,
                               const std::function<void()>& on_measured = nullptr);

}  // namespace dts::bench
