// `dts bench --remote`: what a tree costs over a server.
#pragma once

#include <functional>

#include "cli/model_options.h"

namespace dts::cli {

struct RemoteBenchFlags {
  bool chosen = false;
  int branches = 8;    // of a tree
  int questions = 10;  // of the built-in model's own problems
  int rounds = 3;
  int max_tokens = 300;
};

int bench_remote(const ModelFlags& flags, const RemoteBenchFlags& remote, bool json,
                 const std::function<void()>& stop_if_interrupted);

}  // namespace dts::cli
