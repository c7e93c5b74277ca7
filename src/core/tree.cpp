#include "dts/tree.h"

#include <algorithm>
#include <string>

#include "base/check.h"
#include "dts/error.h"

namespace dts {

SegmentId Tree::add_root() {
  Segment root;
  root.child_index = static_cast<int>(roots_.size());
  const auto id = static_cast<SegmentId>(segments_.size());
  segments_.push_back(std::move(root));
  roots_.push_back(id);
  return id;
}

void Tree::append(SegmentId live, const TokenRecord& record) {
  Segment& segment = segments_[static_cast<std::size_t>(live)];
  check(segment.state == SegmentState::kLive, "tokens are appended to live segments");
  segment.tokens.push_back(record);
  ++unique_tokens_;
}

SegmentId Tree::split(SegmentId live, int n_children) {
  const auto first = static_cast<SegmentId>(segments_.size());
  const int start = segments_[static_cast<std::size_t>(live)].end();
  for (int i = 0; i < n_children; ++i) {
    Segment child;
    child.parent = live;
    child.start = start;
    child.child_index = i;
    segments_.push_back(std::move(child));
  }
  Segment& parent = segments_[static_cast<std::size_t>(live)];
  check(parent.state == SegmentState::kLive, "only live segments split");
  parent.state = SegmentState::kSplit;
  for (int i = 0; i < n_children; ++i) parent.children.push_back(first + i);
  ++decisions_;
  return first;
}

void Tree::close(SegmentId live, SegmentState state) {
  Segment& segment = segments_[static_cast<std::size_t>(live)];
  check(segment.state == SegmentState::kLive && state != SegmentState::kSplit, "a live segment is closed once");
  segment.state = state;
}

std::vector<SegmentId> Tree::path_to(SegmentId leaf) const {
  std::vector<SegmentId> path;
  for (SegmentId id = leaf; id != kNoSegment; id = segment(id).parent) path.push_back(id);
  std::reverse(path.begin(), path.end());
  return path;
}

std::vector<Token> Tree::tokens_of(SegmentId leaf) const {
  std::vector<Token> tokens;
  tokens.reserve(static_cast<std::size_t>(segment(leaf).end()));
  for (const SegmentId id : path_to(leaf)) {
    for (const TokenRecord& record : segment(id).tokens) tokens.push_back(record.token);
  }
  return tokens;
}

Tree Tree::from_segments(std::vector<Segment> segments) {
  const auto fail = [](std::size_t id, const std::string& what) {
    throw Error("segment " + std::to_string(id) + ": " + what);
  };
  Tree tree;
  for (std::size_t id = 0; id < segments.size(); ++id) {
    const Segment& s = segments[id];
    if (s.parent == kNoSegment) {
      if (s.start != 0) fail(id, "a root starts at 0, not " + std::to_string(s.start));
      if (s.child_index != static_cast<int>(tree.roots_.size())) fail(id, "roots are numbered in order");
      tree.roots_.push_back(static_cast<SegmentId>(id));
    } else {
      // Parents come before children: this also rules out cycles.
      if (s.parent < 0 || static_cast<std::size_t>(s.parent) >= id) fail(id, "its parent does not come before it");
      const Segment& parent = segments[static_cast<std::size_t>(s.parent)];
      if (s.start != parent.end()) fail(id, "starts at " + std::to_string(s.start) + ", not where its parent ends");
      const bool listed = s.child_index >= 0 && static_cast<std::size_t>(s.child_index) < parent.children.size() &&
                          parent.children[static_cast<std::size_t>(s.child_index)] == static_cast<SegmentId>(id);
      if (!listed) fail(id, "its parent does not list it as child " + std::to_string(s.child_index));
    }
    if ((s.state == SegmentState::kSplit) == s.children.empty()) fail(id, "exactly the split segments have children");
    for (const SegmentId child : s.children) {
      if (child < 0 || static_cast<std::size_t>(child) >= segments.size() ||
          segments[static_cast<std::size_t>(child)].parent != static_cast<SegmentId>(id)) {
        fail(id, "lists " + std::to_string(child) + ", which is not its child");
      }
    }
    tree.unique_tokens_ += s.tokens.size();
    tree.decisions_ += s.children.empty() ? 0U : 1U;
  }
  tree.segments_ = std::move(segments);
  return tree;
}

}  // namespace dts
