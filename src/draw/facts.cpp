#include "draw/facts.h"

#include <algorithm>
#include <span>

namespace dts::draw {

Facts::Facts(const TreeDocument& document) {
  const std::span<const Segment> segments = document.tree.segments();
  best.resize(segments.size());
  leaves.resize(segments.size());
  trace.resize(segments.size());
  decision.resize(segments.size());

  // Children come after their parents, so that going backwards every child is counted before its parent.
  for (std::size_t id = segments.size(); id-- > 0;) {
    const Segment& segment = segments[id];
    if (segment.children.empty()) leaves[id] = 1;
    if (segment.parent != kNoSegment) leaves[static_cast<std::size_t>(segment.parent)] += leaves[id];
    longest = std::max(longest, static_cast<std::size_t>(segment.end()));
    finished += segment.state == SegmentState::kFinished ? 1U : 0U;
    exhausted += segment.state == SegmentState::kExhausted ? 1U : 0U;
    retired += segment.state == SegmentState::kRetired ? 1U : 0U;
    cut += segment.state == SegmentState::kCut ? 1U : 0U;
    live += segment.state == SegmentState::kLive ? 1U : 0U;
    for (const SegmentId child : segment.children) {
      const std::vector<TokenRecord>& tokens = segments[static_cast<std::size_t>(child)].tokens;
      if (!tokens.empty()) decision[id] = {tokens.front().entropy, tokens.front().varentropy};
    }
  }
  for (std::size_t i = 0; i < document.outcome.finished.size(); ++i) {
    trace[static_cast<std::size_t>(document.outcome.finished[i].leaf)] = i;
  }
  if (document.outcome.best_leaf != kNoSegment) {
    for (const SegmentId id : document.tree.path_to(document.outcome.best_leaf))
      best[static_cast<std::size_t>(id)] = true;
  }
}

}  // namespace dts::draw
