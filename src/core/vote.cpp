#include "dts/vote.h"

#include <algorithm>

namespace dts {

std::vector<AnswerCount> count_votes(std::span<const Ballot> ballots) {
  std::vector<AnswerCount> counts;  // in order of first finishing; a handful, so a linear scan is fine
  for (std::size_t i = 0; i < ballots.size(); ++i) {
    const Ballot& ballot = ballots[i];
    if (ballot.answer.empty()) continue;
    const int index = static_cast<int>(i);
    const auto known =
        std::find_if(counts.begin(), counts.end(), [&](const AnswerCount& c) { return c.answer == ballot.answer; });
    if (known == counts.end()) {
      counts.push_back({ballot.answer, 1, index, index});
      continue;
    }
    ++known->votes;
    if (ballot.length < ballots[static_cast<std::size_t>(known->shortest)].length) known->shortest = index;
  }
  // Stable, so that of equal counts the one that finished first stays ahead.
  std::stable_sort(counts.begin(), counts.end(),
                   [](const AnswerCount& a, const AnswerCount& b) { return a.votes > b.votes; });
  return counts;
}

}  // namespace dts
