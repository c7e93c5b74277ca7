// Which tokens can be shown before the search is over: those that every trajectory which can still win begins with.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "dts/search.h"

namespace dts {

// The leaves of the trajectories that can still win: once a search is over, the one that did. None when one that has
// not started yet might. May name one too many (what future votes weigh, and how many there will be, is only bounded),
// never one too few.
std::optional<std::vector<SegmentId>> contenders(const Search& search);

// Where a token is in the tree.
struct TokenPlace {
  SegmentId segment = kNoSegment;
  std::size_t index = 0;  // into the segment's tokens

  friend bool operator==(const TokenPlace&, const TokenPlace&) = default;
};

class CommittedPrefix {
 public:
  // To be called after each step in which a trajectory ended, and after any other while it is not blocked(). Appends
  // the tokens that have become certain to `out`.
  void advance(const Search& search, std::vector<TokenPlace>& out);

  // Two contenders part at the next token: nothing can change before a trajectory ends.
  bool blocked() const { return blocked_; }
  std::size_t size() const { return size_; }

 private:
  std::size_t size_ = 0;  // tokens that are certain
  bool blocked_ = false;
};

}  // namespace dts
