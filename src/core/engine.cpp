#include "dts/engine.h"

namespace dts {

std::int64_t Engine::kv_tokens_of(const Footprint& footprint) const {
  return std::int64_t{footprint.branches} * (std::int64_t{footprint.prompt_tokens} + footprint.max_tokens);
}

void Engine::prefill(BranchId branch, std::span<const Token> tokens) {
  if (tokens.empty()) return;
  const Feed feed{.branch = branch, .tokens = tokens};
  Prediction none;
  step({&feed, 1}, {&none, 1});
}

}  // namespace dts
