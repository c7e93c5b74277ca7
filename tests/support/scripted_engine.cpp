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
    : script_(std::move(script)), predictor_(options.threads), cuts_matter_(options.cuts_matter) {
  info_.name = "scripted";
  info_.n_vocab = options.n_vocab;
  info_.context_length = options.context_length;
  info_.max_branches = options.max_branches;
  info_.prefill_chunk = options.prefill_chunk;
  info_.kind = "scripted";
  info_.capabilities = options.capabilities;
}

class ScriptedEngine::Kept final : public KeptBranch {
 public:
  explicit Kept(Branch kept) : branch(std::move(kept)) {}
  int tokens() const override { return static_cast<int>(branch.tokens.size()); }
  std::int64_t bytes() const override { return static_cast<std::int64_t>(branch.tokens.size() * sizeof(Token)); }

  Branch branch;
};

std::unique_ptr<KeptBranch> ScriptedEngine::keep(BranchId branch) { return std::make_unique<Kept>(find(branch)); }

BranchId ScriptedEngine::reopen(KeptBranch& kept, int tokens) {
  Branch branch = dynamic_cast<Kept&>(kept).branch;
  const auto n = static_cast<std::size_t>(tokens);
  if (tokens < 1 || n > branch.tokens.size()) throw Error("scripted engine: more tokens than were kept");
  branch.tokens.resize(n);
  std::erase_if(branch.cuts, [&](std::size_t cut) { return cut > n; });
  if (branch.cuts.empty() || branch.cuts.back() != n) throw Error("scripted engine: no stretch ended there");
  return add(std::move(branch));
}

BranchId ScriptedEngine::add(Branch branch) {
  if (open_branches() >= info_.max_branches) throw Error("scripted engine: more branches than max_branches");
  branches_.emplace(next_, std::move(branch));
  peak_ = std::max(peak_, open_branches());
  return next_++;
}

ScriptedEngine::Branch& ScriptedEngine::find(BranchId branch) {
  const auto found = branches_.find(branch);
  if (found == branches_.end()) throw Error("scripted engine: branch " + std::to_string(branch) + " is not open");
  return found->second;
}

const std::vector<Token>& ScriptedEngine::tokens(BranchId branch) const {
  return const_cast<ScriptedEngine*>(this)->find(branch).tokens;
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
    Branch& branch = find(feed.branch);
    std::vector<Token>& held = branch.tokens;
    held.insert(held.end(), feed.tokens.begin(), feed.tokens.end());
    if (held.size() > static_cast<std::size_t>(info_.context_length)) throw Error("scripted engine: context is full");
    if (feed.spec == nullptr) {
      branch.cuts.push_back(held.size());
      prompt_tokens_fed_ += static_cast<int>(feed.tokens.size());
      continue;
    }
    const std::span<float> row = std::span(logits_).subspan(i * n_vocab, n_vocab);
    script_(held, row);
    if (cuts_matter_) {
      std::uint64_t key = 1;
      for (const std::size_t cut : branch.cuts) key = child_key(key, cut, 1);
      for (std::size_t t = 0; t < n_vocab; ++t) row[t] += static_cast<float>(to_unit(draw_bits(key, t)));
    }
    if (feed.filter != nullptr) feed.filter->apply(row);
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
