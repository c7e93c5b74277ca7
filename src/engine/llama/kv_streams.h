// Which KV stream each branch lives in. Pure bookkeeping, no model: streams are numbers.
//
// Streams want to be dense: a step over streams 0..n-1 is one evaluation of the model, each gap adds another. Nothing
// is copied when branches fork and die; settle() does it all at once, when the streams are next needed, with the fewest
// copies: a fork takes the place of a branch that died, a branch that outlives its fork's parent takes over its stream.
#pragma once

#include <cstdint>
#include <vector>

#include "dts/engine.h"

namespace dts {

class KvStreams {
 public:
  static constexpr int kNone = -1;

  struct Move {
    int from = kNone;  // kNone: the branch has no tokens yet
    int to = kNone;
  };

  // A new branch without tokens. Ids are reused, lowest first.
  BranchId open();
  BranchId fork(BranchId parent);
  void release(BranchId branch);

  bool is_open(BranchId branch) const;
  int live() const { return live_; }
  int longest() const;  // tokens of the longest live branch
  int length(BranchId branch) const { return at(branch).length; }
  // Counts tokens appended to a branch. Its stream must be settled.
  void append(BranchId branch, int tokens);
  // Stream of a branch; kNone before its first settle(). Exclusive after settle().
  int stream(BranchId branch) const { return at(branch).stream; }
  // Tokens in a stream after settle(); 0 for a stream without a branch.
  int tokens_in(int stream) const;

  // Gives every live branch a stream of its own, densely: 0..live()-1. Returns where each branch's tokens are and where
  // they must be, for all live branches, including those that stay. No `to` of a move between different streams is the
  // `from` of any branch, so the moves can be done in any order.
  const std::vector<Move>& settle();
  // Streams that held tokens of a branch that moved or died and that no branch has taken: to be emptied after the
  // moves.
  const std::vector<int>& abandoned() const { return abandoned_; }

 private:
  struct Branch {
    bool open = false;
    int stream = kNone;  // where its tokens are; shared by unsettled forks
    int length = 0;      // tokens
  };

  const Branch& at(BranchId branch) const { return branches_[static_cast<std::size_t>(branch)]; }
  BranchId take_id();

  std::vector<Branch> branches_;  // [ids]
  int live_ = 0;
  bool settled_ = true;
  std::vector<bool> used_;  // [streams]: may hold tokens
  std::vector<Move> moves_;
  std::vector<int> abandoned_;
};

}  // namespace dts
