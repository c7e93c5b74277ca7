#include "question/answer_filter.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "dts/error.h"
#include "text/ascii.h"

namespace dts {
namespace {

using namespace text;

constexpr std::string_view kOpen = "<think>";
constexpr std::string_view kClose = "</think>";
constexpr float kForbidden = -std::numeric_limits<float>::infinity();

// The end of `text` that may become kClose.
std::string_view begun(std::string_view text) {
  for (std::size_t n = std::min(text.size(), kClose.size() - 1); n > 0; --n) {
    if (text.ends_with(kClose.substr(0, n))) return text.substr(text.size() - n);
  }
  return {};
}

}  // namespace

ThinkingTokens thinking_tokens(const Vocabulary& vocabulary) {
  ThinkingTokens tokens;
  for (Token token = 0; token < vocabulary.size(); ++token) {
    const std::string piece = vocabulary.piece(token, /*special=*/true);
    if (vocabulary.is_end(token)) {
      tokens.ends.push_back(token);
    } else if (trim(piece) == kOpen) {
      tokens.opens.push_back(token);
    }
    if (piece.find(kClose.back()) == std::string::npos) continue;
    for (std::size_t n = 0; n < tokens.straddles.size(); ++n) {
      const std::string text = std::string(kClose.substr(0, n)) + piece;
      const std::size_t close = text.find(kClose);
      if (close == std::string::npos || trim(std::string_view(text).substr(close + kClose.size())).empty()) continue;
      tokens.straddles[n].push_back(token);
    }
  }
  return tokens;
}

AnswerFilter::AnswerFilter(const Vocabulary& vocabulary, const ThinkingTokens& tokens, const std::string& gbnf,
                           Start start)
    : vocabulary_(vocabulary), tokens_(tokens), state_(start) {
  if (start != Start::kThinking) grammar_ = vocabulary.grammar_filter(gbnf, /*spaced=*/false);
  if (start != Start::kAnswer) after_thinking_ = vocabulary.grammar_filter(gbnf, /*spaced=*/true);
}

AnswerFilter::AnswerFilter(const AnswerFilter& other)
    : LogitsFilter(other),
      vocabulary_(other.vocabulary_),
      tokens_(other.tokens_),
      state_(other.state_),
      grammar_(other.grammar_ ? other.grammar_->clone() : nullptr),
      after_thinking_(other.after_thinking_ ? other.after_thinking_->clone() : nullptr),
      tail_(other.tail_) {}

AnswerFilter::~AnswerFilter() = default;

std::unique_ptr<LogitsFilter> AnswerFilter::clone() const {
  return std::unique_ptr<LogitsFilter>(new AnswerFilter(*this));
}

void AnswerFilter::accept(Token token) {
  if (state_ == Start::kEither) {
    const bool thinks = std::find(tokens_.opens.begin(), tokens_.opens.end(), token) != tokens_.opens.end();
    state_ = thinks ? Start::kThinking : Start::kAnswer;
    (thinks ? grammar_ : after_thinking_).reset();
    if (thinks) return;
  }
  if (state_ == Start::kAnswer) {
    try {
      grammar_->accept(token);
    } catch (const Error& error) {
      throw Error(std::string(kGrammarGaveUp) + error.what());
    }
    return;
  }
  tail_ += vocabulary_.piece(token, /*special=*/true);
  if (tail_.find(kClose) != std::string::npos) {
    grammar_ = std::move(after_thinking_);
    state_ = Start::kAnswer;
  }
  tail_ = std::string(begun(tail_));
}

void AnswerFilter::apply(std::span<float> logits) const {
  if (state_ == Start::kAnswer) {
    grammar_->apply(logits);
    return;
  }
  if (state_ == Start::kEither) {
    std::vector<float> opens;
    for (const Token token : tokens_.opens) opens.push_back(logits[static_cast<std::size_t>(token)]);
    grammar_->apply(logits);
    for (std::size_t i = 0; i < opens.size(); ++i) logits[static_cast<std::size_t>(tokens_.opens[i])] = opens[i];
    return;
  }
  for (const Token end : tokens_.ends) logits[static_cast<std::size_t>(end)] = kForbidden;
  for (const Token token : tokens_.straddles[tail_.size()]) logits[static_cast<std::size_t>(token)] = kForbidden;
}

}  // namespace dts
