// A grammar as a filter of logits: where one trajectory is in it.
#pragma once

#include <memory>

#include "dts/logits_filter.h"
#include "engine/llama/grammar_matcher.h"

namespace dts {

class GrammarFilter final : public LogitsFilter {
 public:
  // At the grammar's beginning. Throws a usage error when the grammar costs too much.
  explicit GrammarFilter(std::shared_ptr<GrammarMatcher> matcher);
  ~GrammarFilter() override;

  std::unique_ptr<LogitsFilter> clone() const override;
  // Finds out what may come next, so that apply() only looks it up. Throws an Error when that costs too much.
  void accept(Token token) override;
  void apply(std::span<float> logits) const override;

 private:
  GrammarFilter(const GrammarFilter& other);

  std::shared_ptr<GrammarMatcher> matcher_;
  GrammarMatcher::Position position_;
};

}  // namespace dts
