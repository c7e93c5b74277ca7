// What a picture of a running search needs, copied out of it so that drawing takes no time from decoding.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dts/search.h"
#include "dts/tree.h"
#include "dts/vocabulary.h"
#include "dts/vote.h"

namespace dts::cli {

// The shape of a tree, without its tokens. Index: SegmentId.
struct OutlineSegment {
  SegmentId parent = kNoSegment;
  int start = 0;
  int end = 0;
  SegmentState state = SegmentState::kLive;
  std::int32_t label = -1;  // finished leaves: index into Outline::labels
};

struct Outline {
  std::vector<OutlineSegment> segments;
  std::vector<std::string> labels;  // answers, printable, one line
  SegmentId best = kNoSegment;      // the leaf to point out; none while undecided
};

// A decision token and what it chose.
struct DecisionLine {
  int position = 0;
  double entropy = 0;     // nats
  double varentropy = 0;  // nats^2
  std::string before;     // the text that led to it, its end
  struct Child {
    std::string text;
    double probability = 0;  // at temperature 1
  };
  std::vector<Child> children;
};

struct Snapshot {
  int step = 0;
  int live = 0;
  int finished = 0;
  Account account;
  Outline outline;
  std::vector<DecisionLine> decisions;  // the latest, newest first
  std::vector<AnswerCount> votes;       // winner first; answers printable, one line
  int without_answer = 0;               // finished, but no answer was found
  int leader_length = 0;                // tokens of the branch `leader_tail` is from
  std::string leader_tail;              // printable, lines kept
};

Outline outline_of(const Tree& tree, std::span<const FinishedTrace> finished);

// Keeps track of the latest decisions, from the search's events, between snapshots.
class Snapshotter {
 public:
  // Both must outlive it.
  Snapshotter(const Search& search, const Vocabulary& vocabulary);

  void on_event(const SearchEvent& event);
  // Cost: a few bytes a segment and the text of some hundred tokens.
  Snapshot take() const;

 private:
  const Search& search_;
  const Vocabulary& vocabulary_;
  std::vector<SegmentId> splits_;  // the latest segments that split, oldest first
};

}  // namespace dts::cli
