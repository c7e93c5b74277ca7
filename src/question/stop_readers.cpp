#include "question/stop_readers.h"

#include <utility>

#include "dts/text_search.h"

namespace dts {

StopReaders::StopReaders(const Vocabulary& vocabulary, ReplyTextOptions options)
    : vocabulary_(vocabulary), options_(std::move(options)) {}

bool StopReaders::stops_at(const Tree& tree, SegmentId leaf) {
  const Segment& segment = tree.segment(leaf);
  auto reader = readers_.find(leaf);
  if (reader == readers_.end()) {
    const auto parent = readers_.find(segment.parent);
    reader = readers_.emplace(leaf, parent == readers_.end() ? ReplyText(options_) : parent->second).first;
  }
  reader->second.feed(shown_piece(vocabulary_, segment.tokens.back().token));
  const bool stopped = reader->second.stopped();
  if (readers_.size() > 2 * kept_ + 64) forget_the_ended(tree);
  return stopped;
}

// A segment that split is wanted until each of its children has a token, and with it a reader of its own.
void StopReaders::forget_the_ended(const Tree& tree) {
  const auto wanted = [&tree](SegmentId id) {
    const Segment& segment = tree.segment(id);
    if (segment.state == SegmentState::kLive) return true;
    for (const SegmentId child : segment.children) {
      if (tree.segment(child).tokens.empty()) return true;
    }
    return false;
  };
  std::erase_if(readers_, [&](const auto& entry) { return !wanted(entry.first); });
  kept_ = readers_.size();
}

}  // namespace dts
