// Which tokens a grammar allows after what has been said, for all trajectories of one request. What it allows is what
// llama.cpp's grammar engine would; the cost is bounded (GrammarBudget), and a state that comes again costs nothing.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "engine/llama/grammar_budget.h"
#include "engine/llama/grammar_rules.h"
#include "engine/llama/stack_sets.h"
#include "engine/llama/token_trie.h"

namespace dts {

using TokenMask = std::vector<std::uint64_t>;  // [(n_vocab + 63) / 64] a bit is set where a token is allowed

// Thread-safe.
class GrammarMatcher {
 public:
  struct State {
    StackSets::Id set = StackSets::kDone;
    std::uint32_t begun = 0;  // bits of a character of which `missing` bytes are still to be said
    int missing = 0;
    bool operator==(const State&) const = default;
  };
  // Where a trajectory is. Holds its set until it is given to drop().
  struct Position {
    State state;
    std::shared_ptr<const TokenMask> mask;
  };

  // `trie` and `ends`, the tokens that end a trajectory, must outlive it.
  GrammarMatcher(const TokenTrie& trie, const std::vector<Token>& ends, GrammarRules rules);

  // Each throws a usage error when the grammar costs too much.
  Position start();
  // `token` must be allowed at `position`, and end nothing.
  Position after(const Position& position, Token token);

  void hold(const Position& position);
  void drop(const Position& position);

  std::int64_t budget_left() const;
  std::size_t kept() const;  // places of stacks that are held

 private:
  struct KeyHash {
    std::size_t operator()(const State& state) const;
  };
  struct Kept {
    State state;
    std::shared_ptr<const TokenMask> mask;
  };
  // How far a walk has read: one of rows_, and what has been said of a character.
  struct Reading {
    int row = 0;
    std::uint32_t begun = 0;
    int missing = 0;
    bool carried = false;  // the character began in a token before
  };
  class Sweeper;

  std::size_t class_of(std::uint32_t character) const;
  void follow(std::vector<StackSets::Top>& todo, std::vector<StackSets::Top>& tops, bool& ends);
  StackSets::Id after_character(StackSets::Id set, std::uint32_t character);
  bool may_begin(StackSets::Id set, std::uint32_t begun, int missing);
  int row_of(StackSets::Id set);
  int row_after(int row, std::uint32_t character);
  bool read(Reading& reading, unsigned char byte);
  TokenMask make_mask(const State& state);
  std::shared_ptr<const TokenMask> mask_of(const State& state);

  const TokenTrie& trie_;
  const std::vector<Token>& ends_;
  const GrammarRules rules_;
  // Characters between two neighbours are all alike to the grammar.
  std::vector<std::uint32_t> cuts_;
  std::array<std::uint32_t, 128> ascii_class_{};

  mutable std::mutex mutex_;
  GrammarBudget budget_;
  StackSets sets_;
  std::list<Kept> masks_;  // the last used first; each holds its set
  std::unordered_map<State, std::list<Kept>::iterator, KeyHash> mask_at_;

  // Of one walk: the sets it has met, and where each character led to.
  std::vector<StackSets::Id> rows_;
  std::unordered_map<StackSets::Id, int> row_at_;
  std::vector<int> next_;  // [rows_][classes] a row, or one of the two below
  static constexpr int kNowhere = -1;
  static constexpr int kUnknown = -2;
};

}  // namespace dts
