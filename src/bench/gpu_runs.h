// Whole runs on the GPU: what a tree costs beside one chain, and questions at once beside one after another.
#pragma once

#include "dts/engine.h"

namespace dts::bench {

struct RunTime {
  double seconds = 0;       // from the question to the end, the prompt included
  std::int64_t tokens = 0;  // decoded, each once
};

struct RunShape {
  int prompt_tokens = 512;
  int tokens = 1024;  // of every trajectory: none ends before
  int branches = 1;   // 1: standard; more: DTS-Greedy, branching at every token until there are so many
  int questions = 1;
  bool together = true;  // questions at once, else one after another
};

// Throws dts::Error when a search fails. The engine must have room for it.
RunTime measure_run(Engine& engine, const RunShape& shape);

}  // namespace dts::bench
