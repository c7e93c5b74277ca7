#include "question/penalties.h"

#include <utility>

namespace dts {

PenaltyFilter::PenaltyFilter(Penalties penalties, std::span<const Token> prompt)
    : penalties_(std::make_shared<Penalties>(std::move(penalties))) {
  std::unordered_set<Token> tokens;
  if (penalties_->repetition != 1) tokens.insert(prompt.begin(), prompt.end());
  prompt_ = std::make_shared<const std::unordered_set<Token>>(std::move(tokens));
}

std::unique_ptr<LogitsFilter> PenaltyFilter::clone() const { return std::make_unique<PenaltyFilter>(*this); }

void PenaltyFilter::apply(std::span<float> logits) const {
  const auto at = [&](Token token) -> float& { return logits[static_cast<std::size_t>(token)]; };
  const float repetition = penalties_->repetition;
  const auto repeat = [&](Token token) { at(token) = at(token) > 0 ? at(token) / repetition : at(token) * repetition; };
  if (repetition != 1) {
    for (const Token token : *prompt_) repeat(token);
    for (const auto& [token, count] : said_) {
      if (!prompt_->contains(token)) repeat(token);
    }
  }
  for (const auto& [token, count] : said_) {
    at(token) -= penalties_->presence + penalties_->frequency * static_cast<float>(count);
  }
  for (const auto& [token, bias] : penalties_->biases) at(token) += bias;
}

std::unique_ptr<LogitsFilter> FilterChain::clone() const {
  std::vector<std::unique_ptr<LogitsFilter>> copies;
  copies.reserve(filters_.size());
  for (const auto& filter : filters_) copies.push_back(filter->clone());
  return std::make_unique<FilterChain>(std::move(copies));
}

void FilterChain::accept(Token token) {
  for (const auto& filter : filters_) filter->accept(token);
}

void FilterChain::apply(std::span<float> logits) const {
  for (const auto& filter : filters_) filter->apply(logits);
}

}  // namespace dts
