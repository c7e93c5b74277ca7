// A grammar for the answer and not for the thinking: while a trajectory thinks it may say anything but its end.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dts/logits_filter.h"
#include "dts/vocabulary.h"

namespace dts {

// What a vocabulary has to do with thinking. Takes a pass over all tokens: make it once.
struct ThinkingTokens {
  std::vector<Token> ends;   // end a trajectory
  std::vector<Token> opens;  // are all of <think>, but for white space
  // [bytes of </think> that have been said] close the tag and begin the answer, too: that must not be
  std::array<std::vector<Token>, 8> straddles;
};
ThinkingTokens thinking_tokens(const Vocabulary& vocabulary);

// How the error of a grammar that the request itself is to blame for begins.
inline constexpr std::string_view kGrammarGaveUp = "the answer cannot be constrained any further: ";

// A trajectory thinks from its start where the prompt opened it, or when its first token is <think>; until </think>.
class AnswerFilter final : public LogitsFilter {
 public:
  enum class Start { kAnswer, kEither, kThinking };

  // `vocabulary` and `tokens` must outlive it and its clones. Throws a usage error when the grammar is wrong.
  AnswerFilter(const Vocabulary& vocabulary, const ThinkingTokens& tokens, const std::string& gbnf, Start start);
  ~AnswerFilter() override;

  std::unique_ptr<LogitsFilter> clone() const override;
  // Throws an Error that begins with kGrammarGaveUp when the grammar costs too much.
  void accept(Token token) override;
  void apply(std::span<float> logits) const override;

 private:
  AnswerFilter(const AnswerFilter& other);

  const Vocabulary& vocabulary_;
  const ThinkingTokens& tokens_;
  Start state_;
  std::unique_ptr<LogitsFilter> grammar_;         // of the answer
  std::unique_ptr<LogitsFilter> after_thinking_;  // the same, for an answer that comes after thinking
  std::string tail_;                              // of the thinking: what may be the beginning of </think>
};

}  // namespace dts
