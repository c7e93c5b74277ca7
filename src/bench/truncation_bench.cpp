#include "bench/truncation_bench.h"

#include <algorithm>

#include "base/check.h"
#include "dts/error.h"
#include "dts/rng.h"
#include "engine/remote/truncated_statistics.h"

namespace dts::bench {
namespace {

// Every candidate count sees the same step.
void count(const Prediction& whole, const TruncationOptions& options, std::span<const double> logprobs, int n_vocab,
           TruncationRow& row) {
  const bool truth =
      options.rule.is_decision(static_cast<double>(whole.entropy), static_cast<double>(whole.varentropy));
  const std::size_t seen = std::min(logprobs.size(), static_cast<std::size_t>(row.candidates));
  const remote::TruncatedDistribution known{.logprobs = logprobs.first(seen), .ranked = seen, .n_vocab = n_vocab};
  const remote::StatisticsBounds bounds =
      remote::bound_statistics(known, static_cast<double>(options.stat_temperature));
  const remote::Statistics taken =
      remote::estimate_statistics(known, bounds, static_cast<double>(options.stat_temperature));
  const bool decision = options.rule.is_decision(taken.entropy, taken.varentropy);
  const auto alike = [&](double entropy, double varentropy) {
    return options.rule.is_decision(entropy, varentropy) == decision;
  };
  // The rule is monotone in each: its corners decide.
  const bool decided =
      alike(bounds.entropy.low, bounds.varentropy.low) && alike(bounds.entropy.low, bounds.varentropy.high) &&
      alike(bounds.entropy.high, bounds.varentropy.low) && alike(bounds.entropy.high, bounds.varentropy.high);
  ++row.steps;
  row.decisions += truth ? 1 : 0;
  row.undecided += decided ? 0 : 1;
  row.undecided_decisions += truth && !decided ? 1 : 0;
  row.wrong += decision != truth ? 1 : 0;
  row.missed += truth && !decision ? 1 : 0;
  row.entropy_width += bounds.entropy.high - bounds.entropy.low;
  row.varentropy_width += bounds.varentropy.high - bounds.varentropy.low;
}

}  // namespace

std::vector<TruncationRow> run_truncation_bench(Engine& engine, std::span<const std::vector<Token>> prompts,
                                                const std::function<bool(Token)>& is_end,
                                                const TruncationOptions& options,
                                                const std::function<void()>& after_token) {
  const EngineInfo& info = engine.info();
  if (!info.capabilities.exact_statistics || info.n_vocab < 1) {
    throw usage_error("the truncation is measured on an engine that sees the whole distribution: " + info.kind +
                      " does not");
  }
  const PredictionSpec spec{
      .stat_temperature = options.stat_temperature, .top_k = info.n_vocab, .sampling = options.sampling};
  std::vector<TruncationRow> rows;
  for (const int candidates : options.candidates) rows.push_back({.candidates = candidates});
  std::vector<double> logprobs;
  Prediction prediction;
  for (std::size_t p = 0; p < prompts.size(); ++p) {
    const std::span<const Token> prompt = prompts[p];
    check(!prompt.empty(), "a prompt has tokens");
    const BranchId branch = engine.open();
    for (std::size_t at = 0; at + 1 < prompt.size();) {
      const std::size_t n = std::min(prompt.size() - 1 - at, static_cast<std::size_t>(info.prefill_chunk));
      engine.prefill(branch, prompt.subspan(at, n));
      at += n;
    }
    const PathKey key = root_key(options.seed, p);
    Token token = prompt.back();
    for (int t = 0; t < options.max_tokens && !(t > 0 && is_end(token)); ++t) {
      const Feed feed{.branch = branch,
                      .tokens = {&token, 1},
                      .draw = draw_bits(key, static_cast<std::uint64_t>(t)),
                      .spec = &spec};
      engine.step({&feed, 1}, {&prediction, 1});
      if (prediction.status != Prediction::Status::kOk) throw Error("the model's logits are not numbers");
      logprobs.clear();
      for (const Candidate& candidate : prediction.top) logprobs.push_back(static_cast<double>(candidate.logprob));
      for (TruncationRow& row : rows) count(prediction, options, logprobs, info.n_vocab, row);
      token = prediction.sampled;
      after_token();
    }
    engine.release(branch);
  }
  for (TruncationRow& row : rows) {
    const double steps = static_cast<double>(std::max<std::int64_t>(1, row.steps));
    row.entropy_width /= steps;
    row.varentropy_width /= steps;
  }
  return rows;
}

}  // namespace dts::bench
