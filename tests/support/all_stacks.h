// What a grammar allows, slow and obvious: every way to have read a text is a stack of places, written out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/llama/grammar_rules.h"

namespace dts {

class AllStacks {
 public:
  using Stack = std::vector<std::uint32_t>;  // places, the top last

  explicit AllStacks(const GrammarRules& rules) : rules_(rules) {
    for (const std::uint32_t start : rules.rules[rules.root]) enter({start}, stacks_);
  }

  std::size_t size() const { return stacks_.size(); }
  bool ends() const { return begun_.empty() && stacks_.contains(Stack{}); }

  bool accepts(std::string_view piece) const {
    AllStacks copy(*this);
    return copy.read(piece);
  }

  bool read(std::string_view piece) {
    bool carried = !begun_.empty();  // what follows in another token must be a continuation
    for (const char byte : piece) {
      if (carried && (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U) return false;
      begun_ += byte;
      const auto first = static_cast<unsigned char>(begun_[0]);
      if (first >= 0x80 && first < 0xC0) return false;
      const std::size_t length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
      if (begun_.size() < length) continue;
      std::uint32_t character = length == 1 ? first : first & (0xFFU >> length);
      for (std::size_t i = 1; i < length; ++i) {
        character = character << 6U | (static_cast<unsigned char>(begun_[i]) & 0x3FU);
      }
      begun_.clear();
      carried = false;
      if (!read_character(character)) return false;
    }
    if (begun_.empty()) return true;
    // A character that a negated set might or might not have is forbidden: by all that it can become.
    std::set<Stack> left;
    for (const Stack& stack : stacks_) {
      if (!stack.empty()) left.insert(stack);
    }
    stacks_ = left;
    return std::any_of(stacks_.begin(), stacks_.end(), [&](const Stack& stack) {
      const auto first = static_cast<unsigned char>(begun_[0]);
      const int length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
      std::uint32_t bits = first & (0xFFU >> static_cast<unsigned>(length));
      for (std::size_t i = 1; i < begun_.size(); ++i) {
        bits = bits << 6U | (static_cast<unsigned char>(begun_[i]) & 0x3FU);
      }
      return rules_.sets[rules_.places[stack.back()].value].may_contain(bits, length - static_cast<int>(begun_.size()));
    });
  }

 private:
  bool read_character(std::uint32_t character) {
    std::set<Stack> next;
    for (Stack stack : stacks_) {
      if (stack.empty() || !rules_.sets[rules_.places[stack.back()].value].contains(character)) continue;
      ++stack.back();
      enter(stack, next);
    }
    stacks_ = std::move(next);
    return !stacks_.empty();
  }

  void enter(Stack stack, std::set<Stack>& into) {
    std::set<Stack> seen;
    std::vector<Stack> todo{std::move(stack)};
    while (!todo.empty()) {
      Stack at = std::move(todo.back());
      todo.pop_back();
      while (!at.empty() && rules_.places[at.back()].kind == GrammarRules::Kind::kEnd) at.pop_back();
      if (!seen.insert(at).second) continue;
      if (at.empty() || rules_.places[at.back()].kind == GrammarRules::Kind::kSet) {
        into.insert(at);
        continue;
      }
      const std::uint32_t rule = rules_.places[at.back()].value;
      if (rules_.places[++at.back()].kind == GrammarRules::Kind::kEnd) at.pop_back();
      for (const std::uint32_t start : rules_.rules[rule]) {
        todo.push_back(at);
        todo.back().push_back(start);
      }
    }
  }

  const GrammarRules& rules_;
  std::set<Stack> stacks_;
  std::string begun_;  // bytes of a character
};

}  // namespace dts
