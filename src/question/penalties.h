// What makes tokens less or more likely than the model says: penalties for what was said already, and biases.
#pragma once

#include <map>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "dts/logits_filter.h"

namespace dts {

struct Penalties {
  float presence = 0;             // taken from the logit of a token that the trajectory has generated
  float frequency = 0;            // the same, times how often it has
  float repetition = 1;           // divides the logit of what prompt or trajectory have said, multiplies one below 0
  std::map<Token, float> biases;  // added

  bool none() const { return presence == 0 && frequency == 0 && repetition == 1 && biases.empty(); }
};

// In the order of the fields above, repetition first.
class PenaltyFilter final : public LogitsFilter {
 public:
  PenaltyFilter(Penalties penalties, std::span<const Token> prompt);

  std::unique_ptr<LogitsFilter> clone() const override;
  void accept(Token token) override { ++said_[token]; }
  void apply(std::span<float> logits) const override;

 private:
  std::shared_ptr<const Penalties> penalties_;
  std::shared_ptr<const std::unordered_set<Token>> prompt_;  // where repetition counts
  std::unordered_map<Token, int> said_;
};

// One after the other.
class FilterChain final : public LogitsFilter {
 public:
  explicit FilterChain(std::vector<std::unique_ptr<LogitsFilter>> filters) : filters_(std::move(filters)) {}

  std::unique_ptr<LogitsFilter> clone() const override;
  void accept(Token token) override;
  void apply(std::span<float> logits) const override;

 private:
  std::vector<std::unique_ptr<LogitsFilter>> filters_;
};

}  // namespace dts
