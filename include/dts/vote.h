// Majority over the answers of finished trajectories.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace dts {

struct Ballot {
  std::string answer;  // normalised; empty: does not vote
  int length = 0;      // tokens of its trajectory
};

struct AnswerCount {
  std::string answer;
  int votes = 0;
  int first = 0;     // index of the ballot that gave it first
  int shortest = 0;  // index of its shortest ballot; of equals, the first
};

// Ballots in the order in which they finished. Returns the answers, most votes first; a tie goes to the answer that
// finished first.
std::vector<AnswerCount> count_votes(std::span<const Ballot> ballots);

}  // namespace dts
