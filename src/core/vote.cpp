#include "dts/vote.h"

#include <algorithm>
#include <cmath>

namespace dts {

std::string AnswerClasses::class_of(const std::string& answer) {
  if (answer.empty()) return {};
  const auto seen =
      std::find_if(known_.begin(), known_.end(), [&](const auto& entry) { return entry.first == answer; });
  if (seen != known_.end()) return firsts_[seen->second];
  const auto first = std::find_if(firsts_.begin(), firsts_.end(),
                                  [&](const std::string& other) { return same_ && same_(other, answer); });
  const auto index = static_cast<std::size_t>(first - firsts_.begin());
  if (first == firsts_.end()) firsts_.push_back(answer);
  known_.emplace_back(answer, index);
  return firsts_[index];
}

std::vector<AnswerCount> count_votes(std::span<const Ballot> ballots) {
  std::vector<AnswerCount> counts;  // in order of first finishing; a handful, so a linear scan is fine
  for (std::size_t i = 0; i < ballots.size(); ++i) {
    const Ballot& ballot = ballots[i];
    if (ballot.answer.empty() || ballot.weight <= 0) continue;
    const int index = static_cast<int>(i);
    const auto known =
        std::find_if(counts.begin(), counts.end(), [&](const AnswerCount& c) { return c.answer == ballot.answer; });
    if (known == counts.end()) {
      counts.push_back({ballot.answer, 1, ballot.weight, index, index});
      continue;
    }
    ++known->votes;
    known->weight += ballot.weight;
    if (ballot.length < ballots[static_cast<std::size_t>(known->shortest)].length) known->shortest = index;
  }
  // Stable, so that of equal weights the one that finished first stays ahead.
  std::stable_sort(counts.begin(), counts.end(),
                   [](const AnswerCount& a, const AnswerCount& b) { return a.weight > b.weight; });
  return counts;
}

double majority_certainty(int leader, int runner_up) {
  // For whole counts the regularised incomplete beta function at 1/2 is a binomial tail:
  // P(p > 1/2) = P(X <= leader) with X ~ Binomial(leader + runner_up + 1, 1/2).
  const int n = leader + runner_up + 1;
  double term = std::pow(0.5, n);  // P(X = 0)
  double tail = 0;
  for (int i = 0; i <= leader; ++i) {
    tail += term;
    term *= static_cast<double>(n - i) / (i + 1);
  }
  return tail;
}

double length_penalised(double logprob, int length, double alpha) {
  return logprob / std::pow((5.0 + length) / 6.0, alpha);
}

}  // namespace dts
