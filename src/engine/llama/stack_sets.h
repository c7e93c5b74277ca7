// Sets of stacks of places in a grammar: every way to have read a text is a stack of the places to go on from when what
// is above is done. There can be exponentially many; a set shares what they have in common. It has each place at most
// once at its top, with the set of all that may be below, and equal sets are one set.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/llama/grammar_budget.h"

namespace dts {

class StackSets {
 public:
  using Id = std::uint32_t;
  struct Top {
    std::uint32_t place;
    Id below;
    bool operator==(const Top&) const = default;
  };

  static constexpr Id kNone = ~Id{0};  // the set of no stack: nothing may follow, not even the end
  static constexpr Id kDone = 0;       // the set of the empty stack alone: the end may follow

  // Work is paid for before it is done: when `budget`, which must outlive this, throws, sweep() takes away what was
  // made.
  explicit StackSets(GrammarBudget& budget);
  StackSets(const StackSets&) = delete;
  StackSets& operator=(const StackSets&) = delete;

  // The set with these at the top, any order, and with the empty stack when `ends`. Places may come more than once.
  Id make(std::vector<Top> tops, bool ends);
  Id make_one(std::uint32_t place, Id below) { return intern({{place, below}}, false); }
  Id merge(Id a, Id b);

  std::span<const Top> tops(Id id) const { return nodes_[id].tops; }  // in order of their places
  bool ends(Id id) const { return nodes_[id].ends; }

  // What is not held, or below what is held, is gone with the next sweep().
  void hold(Id id) { ++nodes_[id].holds; }
  void drop(Id id);
  void sweep();

  std::size_t size() const { return size_; }  // tops of all sets there are

 private:
  struct Node {
    std::vector<Top> tops;
    bool ends = false;
    bool live = true;
    std::uint32_t holds = 0;  // from outside, and from the sets that are above
  };
  struct View {
    std::span<const Top> tops;
    bool ends;
  };
  struct Hash {
    using is_transparent = void;
    const std::vector<Node>* nodes;
    std::size_t operator()(const View& view) const;
    std::size_t operator()(Id id) const { return (*this)(View{(*nodes)[id].tops, (*nodes)[id].ends}); }
  };
  struct Equal {
    using is_transparent = void;
    const std::vector<Node>* nodes;
    bool operator()(Id a, Id b) const { return a == b; }
    bool operator()(const View& view, Id id) const;
    bool operator()(Id id, const View& view) const { return (*this)(view, id); }
  };

  Id intern(std::vector<Top> tops, bool ends);
  Id merge_deep(Id a, Id b, int depth);
  void remove(Id id);

  GrammarBudget& budget_;
  std::vector<Node> nodes_;
  std::vector<Id> free_;
  std::vector<Id> fresh_;    // made since the last sweep
  std::vector<Id> falling_;  // whose last hold went
  std::unordered_set<Id, Hash, Equal> known_;
  std::unordered_map<std::uint64_t, Id> merged_;  // pairs of sets, since the last sweep
  std::size_t size_ = 0;
};

}  // namespace dts
