// An engine without a model, for tests: the next-token logits are a function of the branch's tokens, written by hand or
// drawn from a seed, and, where asked for, of how its prompt was cut. It holds every branch as a plain copy of its
// tokens and checks that it is driven properly.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "dts/distribution.h"
#include "dts/engine.h"

namespace dts {

// Fills logits [n_vocab] for the token after `tokens` (prompt and generated). Must be a pure function of them.
using LogitsScript = std::function<void(std::span<const Token> tokens, std::span<float> logits)>;

struct ScriptedEngineOptions {
  int n_vocab = 16;
  int context_length = 4096;
  int max_branches = 48;
  int prefill_chunk = 4;
  int threads = 1;
  bool cuts_matter = false;  // a prompt cut at other places gives other logits, as a real model's rounding does
  EngineCapabilities capabilities = {.keeps_branches = true, .filters_logits = true};
};

class ScriptedEngine final : public Engine {
 public:
  ScriptedEngine(const ScriptedEngineOptions& options, LogitsScript script);

  const EngineInfo& info() const override { return info_; }
  EngineTimes times() const override { return {}; }
  BranchId open() override;
  BranchId fork(BranchId parent) override;
  void release(BranchId branch) override;
  std::unique_ptr<KeptBranch> keep(BranchId branch) override;
  BranchId reopen(KeptBranch& kept, int tokens) override;
  void step(std::span<const Feed> feeds, std::span<Prediction> out) override;

  // For the tests.
  int open_branches() const { return static_cast<int>(branches_.size()); }
  int peak_branches() const { return peak_; }
  int steps() const { return steps_; }
  int prompt_tokens_fed() const { return prompt_tokens_fed_; }
  const std::vector<Token>& tokens(BranchId branch) const;
  std::function<void()> before_step;                        // e.g. throws, to play a failing device
  std::function<void(const Feed&, Prediction&)> after_row;  // e.g. spoils one row

 private:
  struct Branch {
    std::vector<Token> tokens;
    std::vector<std::size_t> cuts;  // lengths at which a stretch of the prompt ended
  };
  class Kept;

  BranchId add(Branch branch);
  Branch& find(BranchId branch);

  EngineInfo info_;
  LogitsScript script_;
  Predictor predictor_;
  bool cuts_matter_;
  std::map<BranchId, Branch> branches_;
  BranchId next_ = 0;
  int peak_ = 0;
  int steps_ = 0;
  int prompt_tokens_fed_ = 0;
  std::vector<float> logits_;  // [feeds, n_vocab]
  std::vector<LogitsRow> rows_;
};

// A script drawn from a seed: each context gets its own distribution, some flat, some peaked, some with a few strong
// candidates over a long tail (which is what makes decision tokens). `end_token` grows more likely with length.
struct RandomScript {
  std::uint64_t seed = 0;
  int n_vocab = 16;
  Token end_token = 0;
  double end_bias = 0.0;  // added to the end token's logit
  void operator()(std::span<const Token> tokens, std::span<float> logits) const;
};

}  // namespace dts
