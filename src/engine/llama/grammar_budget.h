// What the grammar of one request may cost. Counted and not timed, so that the same request fails or does not fail
// wherever it runs; the others wait no longer for a hostile grammar than for one that looks at every token.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dts/error.h"

namespace dts {

class GrammarBudget {
 public:
  // A node of the vocabulary's trie that is passed costs one, a place of a stack that is made as much as takes as long.
  static constexpr std::int64_t kTopCost = 64;

  // `trie_nodes`: what a look at all tokens passes.
  explicit GrammarBudget(std::int64_t trie_nodes)
      : each_(2 * trie_nodes + 2'000'000), most_(8 * trie_nodes + 40'000'000), left_(most_) {}

  // Throws when more than there is has been spent.
  void spend(std::int64_t units) {
    left_ -= units;
    if (left_ < 0) throw_too_ambiguous();
  }
  // For one more token of one trajectory.
  void refill() { left_ = std::min(most_, std::max<std::int64_t>(left_, 0) + each_); }
  std::int64_t left() const { return left_; }

  [[noreturn]] static void throw_too_ambiguous() {
    throw usage_error("the grammar is too ambiguous: what has been said can be read in too many ways");
  }

 private:
  std::int64_t each_;
  std::int64_t most_;
  std::int64_t left_;
};

}  // namespace dts
