#include "support/scripted_engine.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "dts/error.h"
#include "dts/rng.h"

namespace dts {

ScriptedEngine::ScriptedEngine(const ScriptedEngineOptions& options, LogitsScript script)
    : script_(std::move(script)), predictor_(options.threads) {
  info_.name = "scripted";
  info_.n_vocab = options.n_vocab;
  info_.context_length = options.context_length;
  info_.max_branches = options.max_branches;
  info_.prefill_chunk = options.prefill_chunk;
  info_.kind = "scripted";
  info_.capabilities = options.capabilities;
}

BranchId ScriptedEngine::add(std::vector<Token> tokens) {
  if (open_branches() >= info_.max_branches) throw Error("scripted engine: more branches than max_branches");
  branches_.emplace(next_, std::move(tokens));
  peak_ = std::max(peak_, open_branches());
  return next_++;
}

std::vector<Token>& ScriptedEngine::find(BranchId branch) {
  const auto found = branches_.find(branch);
  if (found == branches_.end()) throw Error("scripted engine: branch " + std::to_string(branch) + " is not open");
  return found->second;
}

const std::vector<Token>& ScriptedEngine::tokens(BranchId branch) const {
  return const_cast<ScriptedEngine*>(this)->find(branch);
}

BranchId ScriptedEngine::open() { return add({}); }

BranchId ScriptedEngine::fork(BranchId parent) { return add(find(parent)); }

void ScriptedEngine::release(BranchId branch) {
  find(branch);
  branches_.erase(branch);
}

void ScriptedEngine::step(std::span<const Feed> feeds, std::span<Prediction> out) {
  const bool predicts = std::any_of(feeds.begin(), feeds.end(), [](const Feed& feed) { return feed.spec != nullptr; });
  if (predicts && before_step) before_step();
  steps_ += predicts ? 1 : 0;
  const auto n_vocab = static_cast<std::size_t>(info_.n_vocab);
  logits_.resize(feeds.size() * n_vocab);
  rows_.clear();
  std::set<BranchId> seen;
  for (std::size_t i = 0; i < feeds.size(); ++i) {
    const Feed& feed = feeds[i];
    if (!seen.insert(feed.branch).second) throw Error("scripted engine: a branch was fed twice in one step");
    if (feed.tokens.size() > static_cast<std::size_t>(info_.prefill_chunk)) {
      throw Error("scripted engine: chunk too long");
    }
    std::vector<Token>& held = find(feed.branch);
    held.insert(held.end(), feed.tokens.begin(), feed.tokens.end());
    if (held.size() > static_cast<std::size_t>(info_.context_length)) throw Error("scripted engine: context is full");
    if (feed.spec == nullptr) continue;
    const std::span<float> row = std::span(logits_).subspan(i * n_vocab, n_vocab);
    script_(held, row);
    rows_.push_back({row, feed.draw, feed.spec, &out[i]});
  }
  predictor_.predict(rows_);
  for (std::size_t i = 0; after_row && i < feeds.size(); ++i) {
    if (feeds[i].spec != nullptr) after_row(feeds[i], out[i]);
  }
}

void RandomScript::operator()(std::span<const Token> tokens, std::span<float> logits) const {
  std::uint64_t context = seed;
  for (const Token token : tokens) context = child_key(context, static_cast<std::uint64_t>(token), 1);
  const double shape = to_unit(draw_bits(context, 0));
  const auto unit = [&](std::size_t i) { return to_unit(draw_bits(context, i + 1)); };
  // Peaked, a few strong candidates over a tail, or broadly uncertain.
  const double scale = shape < 0.3 ? 12.0 : (shape < 0.8 ? 3.0 : 0.7);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    logits[i] = static_cast<float>(scale * std::log(1.0 / (1.0 - unit(i))));
  }
  logits[static_cast<std::size_t>(end_token)] +=
      static_cast<float>(end_bias + 0.05 * static_cast<double>(tokens.size()));
}

}  // namespace dts
