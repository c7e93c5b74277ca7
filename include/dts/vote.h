// Majority over the answers of finished trajectories.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace dts {

// Whether two answers that are not the same text mean the same. Need not be transitive: 50% is 50 to some and 0.5 to
// others.
using SameAnswer = std::function<bool(const std::string& a, const std::string& b)>;

// Puts answers into classes, one after another: an answer joins the first class, in order of first appearance, whose
// first answer means the same, else it founds one. So every answer is in one class, whatever the relation, and a class
// is spelled as its first answer was. Takes as many comparisons as there are classes, once a distinct answer.
class AnswerClasses {
 public:
  explicit AnswerClasses(SameAnswer same = nullptr) : same_(std::move(same)) {}

  // The first answer of its class. Empty answers are none.
  std::string class_of(const std::string& answer);

 private:
  SameAnswer same_;
  std::vector<std::string> firsts_;
  std::vector<std::pair<std::string, std::size_t>> known_;  // answers seen, with the index of their class
};

struct Ballot {
  std::string answer;  // that of its class; empty: does not vote
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

// The log-probability of a trajectory divided by ((5 + length) / 6)^alpha: the length normalisation of Wu et al. 2016,
// arXiv:1609.08144, equation 14.
double length_penalised(double logprob, int length, double alpha);

}  // namespace dts
