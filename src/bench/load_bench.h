// How long a model file takes from its name to tokens: the native engine on the CPU beside llama.cpp.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace dts::bench {

struct LoadBenchOptions {
  std::string path;
  int threads = 0;  // 0: one per core
  int rounds = 3;   // loads of each
  int tokens = 32;  // that are decoded after each
};

// Seconds since the file was named.
struct LoadTimes {
  double model = 0;  // it is loaded
  double first_token = 0;
  double last_token = 0;
};

// Of all rounds, the median of each.
struct LoadBenchResult {
  LoadTimes llama;
  LoadTimes ours;
};

// In turns, one of each a round. `after_load` is called between them; it may throw to leave.
LoadBenchResult run_load_bench(const LoadBenchOptions& options, const std::function<void()>& after_load);

}  // namespace dts::bench
