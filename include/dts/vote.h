// Majority over the answers of finished trajectories.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace dts {

struct Ballot {
  std::string answer;  // normalised; empty: does not vote
  int length = 0;      // tokens of its trajectory
  double weight = 1;   // 0: does not vote
};

struct AnswerCount {
  std::string answer;
  int votes = 0;      // ballots
  double weight = 0;  // their weights' sum
  int first = 0;      // index of the ballot that gave it first
  int shortest = 0;   // index of its shortest ballot; of equals, the first
};

// Ballots in the order in which they finished. Returns the answers, heaviest first; a tie goes to the answer that
// finished first. With all weights 1 that is the plain majority.
std::vector<AnswerCount> count_votes(std::span<const Ballot> ballots);

// The probability that the leading answer stays ahead of the runner-up, given their votes so far: the posterior
// P(p > 1/2) under Beta(leader + 1, runner_up + 1) (Adaptive-Consistency, Aggarwal et al. 2023).
double majority_certainty(int leader, int runner_up);

}  // namespace dts
