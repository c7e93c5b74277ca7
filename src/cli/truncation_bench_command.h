// `dts bench --truncation`: what a server's few log-probabilities would decide on this model.
#pragma once

#include <functional>
#include <vector>

#include "cli/model_options.h"

namespace dts::cli {

struct TruncationFlags {
  bool chosen = false;
  std::vector<int> candidates = {5, 20, 50, 100};
};

// The exit code. `stop_if_interrupted` may throw to leave.
int bench_truncation(const ModelFlags& model, const TruncationFlags& flags, bool json,
                     const std::function<void()>& stop_if_interrupted);

}  // namespace dts::cli
