#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dts/tree_file.h"
#include "text/utf8.h"

namespace dts {

using namespace text;

std::vector<SegmentText> segment_texts(const Tree& tree, const std::function<std::string(Token)>& piece) {
  const std::span<const Segment> segments = tree.segments();
  std::vector<SegmentText> texts(segments.size());
  // The bytes of a character that a segment began and did not complete: each of its children goes on with them.
  std::vector<std::string> begun(segments.size());
  for (std::size_t id = 0; id < segments.size(); ++id) {
    const Segment& segment = segments[id];
    SegmentText& out = texts[id];
    std::string bytes = segment.parent == kNoSegment ? std::string() : begun[static_cast<std::size_t>(segment.parent)];
    out.ends.reserve(segment.tokens.size());
    for (std::size_t i = 0; i < segment.tokens.size(); ++i) {
      bytes += piece(segment.tokens[i].token);
      text::move_complete(bytes, out.text);
      const bool trajectory_ends = i + 1 == segment.tokens.size() && segment.children.empty();
      if (trajectory_ends) out.text += text::valid_utf8(bytes);
      out.ends.push_back(static_cast<std::uint32_t>(out.text.size()));
    }
    begun[id] = std::move(bytes);
  }
  return texts;
}

std::string trajectory_text(const TreeDocument& document, SegmentId leaf) {
  std::string text;
  for (const SegmentId id : document.tree.path_to(leaf)) text += document.texts[static_cast<std::size_t>(id)].text;
  return text;
}

}  // namespace dts
