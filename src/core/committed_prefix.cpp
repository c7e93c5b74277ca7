#include "core/committed_prefix.h"

#include <algorithm>
#include <limits>

namespace dts {
namespace {

// How many more trajectories may finish, at most.
int votes_to_come(const Search& search) {
  const Method& method = search.options().method;
  if (!method.branch.enabled) return search.live();
  if (method.stop.finished == StopRule::kAll) return std::numeric_limits<int>::max() / 2;
  // In the last step all that live then may finish at once.
  return method.stop.finished - 1 - static_cast<int>(search.finished().size()) + method.branch.max_branches;
}

std::vector<SegmentId> all_leaves(const Tree& tree) {
  std::vector<SegmentId> leaves;
  for (std::size_t id = 0; id < tree.segments().size(); ++id) {
    if (tree.segments()[id].children.empty()) leaves.push_back(static_cast<SegmentId>(id));
  }
  return leaves;
}

// The finished ones that can win by a majority of equal votes, and whether an unfinished one can. All trajectories
// started together, so one that finishes later is no shorter: it never stands in for an answer that was given before.
void majority_contenders(const Search& search, std::vector<SegmentId>& leaves) {
  const Outcome outcome = search.outcome();
  const int to_come = votes_to_come(search);
  if (outcome.votes.empty()) {
    leaves.push_back(search.finished().front().leaf);
  }
  const int most = outcome.votes.empty() ? 0 : outcome.votes.front().votes;
  for (const AnswerCount& count : outcome.votes) {
    const bool earlier = count.first <= outcome.votes.front().first;
    if (count.votes + to_come < most + (earlier ? 0 : 1)) continue;
    leaves.push_back(search.finished()[static_cast<std::size_t>(count.shortest)].leaf);
  }
  if (to_come <= most) return;  // nor can a new answer
  const std::vector<SegmentId> live = search.live_leaves();
  leaves.insert(leaves.end(), live.begin(), live.end());
}

// Goes along a trajectory from a position on.
class Walk {
 public:
  Walk(const Tree& tree, SegmentId leaf, std::size_t position) {
    SegmentId id = leaf;
    path_.push_back(id);
    while (tree.segment(id).start > static_cast<int>(position)) path_.push_back(id = tree.segment(id).parent);
    index_ = position - static_cast<std::size_t>(tree.segment(id).start);
    skip_ended(tree);
  }

  bool at_end() const { return path_.empty(); }
  TokenPlace place() const { return {path_.back(), index_}; }
  void next(const Tree& tree) {
    ++index_;
    skip_ended(tree);
  }

 private:
  void skip_ended(const Tree& tree) {
    while (!path_.empty() && index_ == tree.segment(path_.back()).tokens.size()) {
      path_.pop_back();
      index_ = 0;
    }
  }

  std::vector<SegmentId> path_;  // from the leaf up to where it is
  std::size_t index_ = 0;
};

}  // namespace

std::optional<std::vector<SegmentId>> contenders(const Search& search) {
  const Method& method = search.options().method;
  const Tree& tree = search.tree();
  if (search.done()) {
    const SegmentId best = search.outcome().best_leaf;
    return best == kNoSegment ? std::vector<SegmentId>{} : std::vector<SegmentId>{best};
  }
  if (method.retire.enabled && tree.roots().size() < static_cast<std::size_t>(method.width)) return std::nullopt;
  const std::span<const FinishedTrace> finished = search.finished();
  // While nothing has finished, one that was given up may be the best there is.
  if (finished.empty()) return all_leaves(tree);

  std::vector<SegmentId> leaves;
  const auto add_live = [&] {
    const std::vector<SegmentId> live = search.live_leaves();
    leaves.insert(leaves.end(), live.begin(), live.end());
  };
  switch (method.select) {
    case SelectRule::kFirst:
      return std::vector<SegmentId>{finished.front().leaf};
    case SelectRule::kMaxLogprob:
    case SelectRule::kMaxConfidence:
      leaves.push_back(search.outcome().best_leaf);
      add_live();
      return leaves;
    case SelectRule::kMajority:
      if (!method.retire.enabled) {
        majority_contenders(search, leaves);
        return leaves;
      }
      break;
    case SelectRule::kWeightedMajority:
      break;
  }
  for (const FinishedTrace& trace : finished) leaves.push_back(trace.leaf);
  add_live();
  return leaves;
}

void CommittedPrefix::advance(const Search& search, std::vector<TokenPlace>& out) {
  const Tree& tree = search.tree();
  const auto leaves = contenders(search);
  blocked_ = false;
  if (!leaves || leaves->empty()) return;
  std::vector<Walk> walks;
  walks.reserve(leaves->size());
  for (const SegmentId leaf : *leaves) walks.emplace_back(tree, leaf, size_);
  const auto token = [&](const Walk& walk) {
    const TokenPlace place = walk.place();
    return tree.segment(place.segment).tokens[place.index].token;
  };
  while (true) {
    if (std::any_of(walks.begin(), walks.end(), [](const Walk& walk) { return walk.at_end(); })) return;
    const Token first = token(walks.front());
    blocked_ = std::any_of(walks.begin(), walks.end(), [&](const Walk& walk) { return token(walk) != first; });
    if (blocked_) return;
    out.push_back(walks.front().place());
    ++size_;
    for (Walk& walk : walks) walk.next(tree);
  }
}

}  // namespace dts
