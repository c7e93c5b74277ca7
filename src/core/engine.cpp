#include "dts/engine.h"

#include "dts/error.h"

namespace dts {

std::int64_t Engine::kv_tokens_of(const Footprint& footprint) const {
  return std::int64_t{footprint.branches} * (std::int64_t{footprint.prompt_tokens} + footprint.max_tokens);
}

std::unique_ptr<KeptBranch> Engine::keep(BranchId) { throw Error(info().kind + " does not keep branches"); }

BranchId Engine::reopen(KeptBranch&, int) { throw Error(info().kind + " does not keep branches"); }

void Engine::prefill(BranchId branch, std::span<const Token> tokens) {
  if (tokens.empty()) return;
  const Feed feed{.branch = branch, .tokens = tokens};
  Prediction none;
  step({&feed, 1}, {&none, 1});
}

}  // namespace dts
