// What a step of the native engine costs on the GPU, beside what memory alone would cost.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace dts::bench {

struct GpuBenchOptions {
  std::vector<std::string> geometries = {"1.5b", "7b", "qwen3-0.6b", "phi-4-mini"};  // random_model_presets()
  struct Case {
    int trees = 1;
    int branches = 48;         // of each tree
    int private_tokens = 256;  // of each branch
  };
  std::vector<Case> cases = {{1, 1, 256},   {1, 8, 256},   {1, 48, 256}, {1, 48, 1024},
                             {1, 48, 4096}, {4, 48, 1024}, {8, 48, 1024}};
  int shared_tokens = 512;           // of each tree
  int steps = 20;                    // measured
  std::function<void()> on_measuring;  // before the measured steps: for a profiler
  double bytes_per_second = 4.3e12;  // that the floor is made with: what an H200 copies
};

struct GpuStep {
  std::string geometry;
  GpuBenchOptions::Case shape;
  double step = 0;      // seconds, median, all in: from the engine's call to the predictions
  double floor = 0;     // seconds: every weight and every distinct token's KV read once
  double kv_bytes = 0;  // held, a distinct token of the trees
  double kv_ideal = 0;  // K and V of one token
};

// Throws dts::Error where there is no GPU. `on_step` is called after each; it may throw to leave.
std::vector<GpuStep> run_gpu_bench(const GpuBenchOptions& options, const std::function<void(const GpuStep&)>& on_step);

}  // namespace dts::bench
