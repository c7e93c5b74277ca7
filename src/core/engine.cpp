#include "dts/engine.h"

#include <string>

#include "dts/error.h"

namespace dts {

std::string EngineCapabilities::to_string() const {
  std::string words = exact_statistics ? "exact statistics" : "bounds of the statistics";
  words += !honours_draws     ? ", random numbers of its own: seeds do not reproduce"
           : !batch_invariant ? ", reproducible only for the same questions at once"
                              : ", reproducible whatever else is decoded";
  if (max_top_k < EngineCapabilities().max_top_k) words += ", at most " + std::to_string(max_top_k) + " candidates";
  return words;
}

std::int64_t Engine::kv_tokens_of(const Footprint& footprint) const {
  return std::int64_t{footprint.branches} * (std::int64_t{footprint.prompt_tokens} + footprint.max_tokens);
}

std::unique_ptr<KeptBranch> Engine::keep(BranchId) { throw Error(info().kind + " does not keep branches"); }

BranchId Engine::reopen(KeptBranch&, int) { throw Error(info().kind + " does not keep branches"); }

bool Engine::has_room(std::span<const Feed>) const { return true; }

void Engine::suspend(std::span<const BranchId>) { throw Error(info().kind + " does not suspend branches"); }

bool Engine::resume(std::span<const BranchId>) { throw Error(info().kind + " does not suspend branches"); }

void Engine::prefill(BranchId branch, std::span<const Token> tokens) {
  if (tokens.empty()) return;
  const Feed feed{.branch = branch, .tokens = tokens};
  Prediction none;
  step({&feed, 1}, {&none, 1});
}

}  // namespace dts
