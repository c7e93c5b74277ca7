// What happens in a search, for a program that watches it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dts/search.h"
#include "dts/vocabulary.h"

namespace dts::host {

// A token that a step has added.
struct GrownToken {
  SegmentId segment = kNoSegment;
  TokenRecord record;
  std::string text;  // its bytes: a UTF-8 character may span several tokens
};

struct HostEvent {
  // "prefill", "step", "branch", "finish", "exhaust", "retire", "done"
  std::string_view type;
  int step = 0;
  SegmentId segment = kNoSegment;   // branch: the one that split; finish, exhaust, retire: the leaf
  int live = 0;                     // branches that are growing
  int finished = 0;                 // trajectories that have finished so far
  std::int64_t tokens = 0;          // prefill: of the prompt in the engine; else: in the tree
  std::vector<GrownToken> grown;    // step: the tokens it added
  std::vector<SegmentId> children;  // branch: the segments that the decision opened
  std::string answer;               // finish: what the trajectory votes for; may be empty
};

// Makes them of a search's own, on the engine's thread.
class HostEvents {
 public:
  // Both must outlive it.
  HostEvents(const Search& search, const Vocabulary& vocabulary) : search_(search), vocabulary_(vocabulary) {}

  HostEvent event_of(const SearchEvent& event);

 private:
  void grow(std::vector<GrownToken>& grown);

  const Search& search_;
  const Vocabulary& vocabulary_;
  std::vector<std::size_t> told_;  // [segments seen] tokens of each that were told
  std::vector<SegmentId> open_;    // those that may have more
};

}  // namespace dts::host
