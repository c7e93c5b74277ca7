#include "engine/llama/grammar_filter.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace dts {
namespace {

constexpr float kForbidden = -std::numeric_limits<float>::infinity();

}  // namespace

GrammarFilter::GrammarFilter(std::shared_ptr<GrammarMatcher> matcher)
    : matcher_(std::move(matcher)), position_(matcher_->start()) {}

GrammarFilter::GrammarFilter(const GrammarFilter& other)
    : LogitsFilter(other), matcher_(other.matcher_), position_(other.position_) {
  matcher_->hold(position_);
}

GrammarFilter::~GrammarFilter() { matcher_->drop(position_); }

std::unique_ptr<LogitsFilter> GrammarFilter::clone() const {
  return std::unique_ptr<LogitsFilter>(new GrammarFilter(*this));
}

void GrammarFilter::accept(Token token) {
  GrammarMatcher::Position next = matcher_->after(position_, token);
  matcher_->drop(position_);
  position_ = std::move(next);
}

void GrammarFilter::apply(std::span<float> logits) const {
  const TokenMask& mask = *position_.mask;
  for (std::size_t begin = 0; begin < logits.size(); begin += 64) {
    const std::span<float> word = logits.subspan(begin, std::min<std::size_t>(64, logits.size() - begin));
    const std::uint64_t bits = begin / 64 < mask.size() ? mask[begin / 64] : 0;
    if (bits == 0) {
      std::fill(word.begin(), word.end(), kForbidden);
      continue;
    }
    for (std::size_t i = 0; i < word.size(); ++i) {
      if ((bits >> i & 1U) == 0 || !(word[i] > kForbidden)) word[i] = kForbidden;
    }
  }
}

}  // namespace dts
