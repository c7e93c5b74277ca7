// What a tree costs over a server, beside plain streams of as many tokens from the same places, at the same
// concurrency.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dts/model.h"
#include "dts/remote.h"
#include "dts/search.h"

namespace dts::bench {

// One way of getting tokens, over all questions.
struct StreamCost {
  double seconds = 0;      // wall
  double cpu_seconds = 0;  // of this process
  std::int64_t tokens = 0;
  std::int64_t requests = 0;
  std::int64_t bytes = 0;  // received
};

struct RemoteBenchResult {
  // Once nothing can branch any more: the tree's tokens from then on, and plain streams of them.
  StreamCost frozen;
  StreamCost frozen_plain;
  // From the prompt on.
  StreamCost whole;
  StreamCost whole_plain;
  std::int64_t children = 0;
  std::int64_t frozen_questions = 0;  // trees that stopped branching before they ended
  std::int64_t overshoot = 0;         // tokens received and never used
  std::vector<double> frozen_ratios;  // a question each: wall of the tree by wall of the plain streams
  std::vector<double> whole_ratios;
};

struct RemoteBenchOptions {
  RemoteModelOptions model;
  SearchOptions search;  // freezes for good, so that branching can stop
  int rounds = 3;        // over all questions
};

// `after_question` may throw to leave.
RemoteBenchResult run_remote_bench(const Model& model, std::span<const std::string> questions,
                                   const RemoteBenchOptions& options, const std::function<void()>& after_question);

}  // namespace dts::bench
