#include "cli/skeleton.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "draw/answer_marks.h"
#include "text/display.h"
#include "text/glyphs.h"
#include "text/style.h"

namespace dts::cli {
namespace {

using namespace text;

constexpr int kMaxLabel = 14;  // cells an answer may take beside its leaf
constexpr int kGap = 3;        // cells between two decisions, where there is room

struct Square {
  std::string_view glyph = " ";
  Style style = Style::kPlain;
};

Style style_of(SegmentState state) {
  switch (state) {
    case SegmentState::kLive:
    case SegmentState::kFinished:
      return Style::kPlain;
    case SegmentState::kExhausted:
    case SegmentState::kRetired:
    case SegmentState::kSplit:
    case SegmentState::kCut:
      return Style::kDim;
  }
  return Style::kPlain;
}

std::string tip_of(SegmentState state, const Glyphs& glyphs) {
  switch (state) {
    case SegmentState::kFinished:
      return std::string(glyphs.finished);
    case SegmentState::kExhausted:
      return std::string(glyphs.exhausted);
    case SegmentState::kRetired:
      return std::string(glyphs.retired);
    case SegmentState::kCut:
      return std::string(glyphs.cut);
    case SegmentState::kSplit:
    case SegmentState::kLive:
      return std::string(glyphs.live);
  }
  return std::string(glyphs.live);
}

std::size_t rank(const OutlineSegment& leaf) {
  if (leaf.state == SegmentState::kFinished) return 0;
  return leaf.state == SegmentState::kLive ? 1 : 2;
}

// From positions to columns: linear, but decisions that lie close together are pulled apart as far as there is room, or
// the first hundred tokens of a long trajectory, where most decisions are, would share one column.
class ColumnScale {
 public:
  ColumnScale(std::vector<int> decisions, int last, int columns) {
    std::sort(decisions.begin(), decisions.end());
    decisions.erase(std::unique(decisions.begin(), decisions.end()), decisions.end());
    while (!decisions.empty() && decisions.back() >= last) decisions.pop_back();
    const int n = static_cast<int>(decisions.size());
    const int gap = n > 0 ? std::clamp(columns * 4 / 5 / n, 0, kGap) : 0;
    knots_.push_back({0, 0});
    for (int i = 0; i < n; ++i) {
      const int position = decisions[static_cast<std::size_t>(i)];
      const auto linear = static_cast<int>(static_cast<std::int64_t>(position) * columns / std::max(1, last));
      // Room is left on the right for the decisions still to come and for their branches.
      const int most = columns - gap * (n - i);
      const int column = std::min(std::max(linear, knots_.back().column + gap), std::max(most, knots_.back().column));
      if (position > knots_.back().position) knots_.push_back({position, column});
    }
    knots_.push_back({std::max(last, knots_.back().position + 1), columns});
  }

  int column(int position) const {
    std::size_t i = 1;
    while (i + 1 < knots_.size() && knots_[i].position < position) ++i;
    const Knot& a = knots_[i - 1];
    const Knot& b = knots_[i];
    const std::int64_t span = b.position - a.position;
    const auto within = static_cast<std::int64_t>(b.column - a.column) * (position - a.position) / span;
    return std::min(a.column + static_cast<int>(within), knots_.back().column);
  }

 private:
  struct Knot {
    int position;
    int column;
  };
  std::vector<Knot> knots_;
};

class Drawing {
 public:
  Drawing(const Outline& outline, const Glyphs& glyphs, draw::AnswerColours colours)
      : outline_(outline), glyphs_(glyphs), row_(outline.segments.size(), kHidden), best_(outline.segments.size(), 0) {
    for (const std::string& answer : outline.labels) colours_.push_back(&colours.of(answer));
  }

  // Returns how many leaves found no room.
  int choose_leaves(int max_rows) {
    std::array<std::vector<SegmentId>, 3> kinds;  // finished, live, lost
    for (std::size_t id = 0; id < outline_.segments.size(); ++id) {
      const OutlineSegment& s = outline_.segments[id];
      if (s.state != SegmentState::kSplit) kinds[rank(s)].push_back(static_cast<SegmentId>(id));
    }
    auto& [finished, live, lost] = kinds;
    const auto best = std::find(finished.begin(), finished.end(), outline_.best);
    if (best != finished.end()) std::rotate(finished.begin(), best, best + 1);
    const auto rows = static_cast<std::size_t>(max_rows);
    const std::size_t all = finished.size() + live.size() + lost.size();
    // Half of the rows for what still grows, if there is that much.
    finished.resize(std::min(finished.size(), rows - std::min(rows / 2, live.size())));
    for (const std::vector<SegmentId>& kind : kinds) {
      const std::size_t room = std::min(kind.size(), rows - leaves_.size());
      leaves_.insert(leaves_.end(), kind.begin(), kind.begin() + static_cast<std::ptrdiff_t>(room));
    }
    return static_cast<int>(all - leaves_.size());
  }

  std::vector<StyledLine> draw(int width) {
    max_label_ = std::min(kMaxLabel, width / 3);
    assign_rows();
    int label_width = 0;
    for (const SegmentId leaf : leaves_) label_width = std::max(label_width, display_width(label(leaf)));
    const ColumnScale scale(decisions_, last_, std::max(4, width - label_width - 2));
    grid_.assign(leaves_.size(), std::vector<Square>(static_cast<std::size_t>(width)));
    draw_segments(scale);
    draw_forks(scale);
    return draw_tips(scale);
  }

 private:
  static constexpr int kHidden = -1;

  static std::size_t index(int value) { return static_cast<std::size_t>(value); }
  const OutlineSegment& at(SegmentId id) const { return outline_.segments[index(id)]; }

  std::string label(SegmentId leaf) const {
    const std::int32_t i = at(leaf).label;
    if (i < 0 || outline_.labels[index(i)].empty()) return {};
    return " " + shorten(outline_.labels[index(i)], max_label_);
  }

  // Leaves take rows depth first, so that what forks off stands below what it forks from; a segment that splits is in
  // the row of its first child. Iterative: a chain of decisions can be thousands of segments deep.
  void assign_rows() {
    std::vector<char> shown(outline_.segments.size(), 0);
    for (const SegmentId leaf : leaves_) {
      for (SegmentId id = leaf; id != kNoSegment && shown[index(id)] == 0; id = at(id).parent) shown[index(id)] = 1;
    }
    for (SegmentId id = outline_.best; id != kNoSegment; id = at(id).parent) best_[index(id)] = 1;
    children_.assign(outline_.segments.size(), {});
    std::vector<SegmentId> stack;  // segments still to visit, the next one last
    for (std::size_t i = outline_.segments.size(); i-- > 0;) {
      if (shown[i] == 0) continue;
      const OutlineSegment& s = outline_.segments[i];
      (s.parent == kNoSegment ? stack : children_[index(s.parent)]).push_back(static_cast<SegmentId>(i));
      if (s.state == SegmentState::kSplit) decisions_.push_back(s.end);
      last_ = std::max(last_, s.end);
    }
    int row = 0;
    while (!stack.empty()) {
      const SegmentId id = stack.back();
      stack.pop_back();
      row_[index(id)] = row;
      if (children_[index(id)].empty()) ++row;
      stack.insert(stack.end(), children_[index(id)].begin(), children_[index(id)].end());  // last child first
    }
  }

  // Of the answer that a finished leaf gives; null: it gives none.
  const draw::AnswerColour* colour(SegmentId leaf) const {
    const std::int32_t i = at(leaf).label;
    return at(leaf).state == SegmentState::kFinished && i >= 0 ? colours_[index(i)] : nullptr;
  }

  Style line_style(SegmentId id) const {
    if (const draw::AnswerColour* answer = colour(id)) return draw::answer_style(*answer);
    if (best_[index(id)] != 0) return Style::kBold;
    return at(id).state == SegmentState::kSplit ? Style::kPlain : style_of(at(id).state);
  }

  void draw_segments(const ColumnScale& scale) {
    for (std::size_t id = 0; id < row_.size(); ++id) {
      if (row_[id] == kHidden) continue;
      const OutlineSegment& s = outline_.segments[id];
      const int to = scale.column(s.end);
      for (int c = scale.column(s.start); c < to; ++c) {
        grid_[index(row_[id])][index(c)] = {glyphs_.horizontal, line_style(static_cast<SegmentId>(id))};
      }
    }
  }

  void draw_forks(const ColumnScale& scale) {
    for (std::size_t id = 0; id < row_.size(); ++id) {
      const std::vector<SegmentId>& children = children_[id];
      if (children.size() < 2) continue;
      const std::size_t column = index(scale.column(outline_.segments[id].end));
      grid_[index(row_[id])][column] = {glyphs_.tee_down, line_style(children.back())};
      int above = row_[id];
      for (std::size_t i = children.size() - 1; i-- > 0;) {  // the first child, which is last, goes straight on
        const int row = row_[index(children[i])];
        for (int r = above + 1; r < row; ++r) {
          Square& cell = grid_[index(r)][column];
          if (cell.glyph == " ") cell = {glyphs_.vertical, Style::kPlain};
        }
        grid_[index(row)][column] = {i == 0 ? glyphs_.corner : glyphs_.tee_right, line_style(children[i])};
        above = row;
      }
    }
  }

  std::vector<StyledLine> draw_tips(const ColumnScale& scale) {
    std::vector<StyledLine> lines(grid_.size());
    for (const SegmentId leaf : leaves_) {
      const OutlineSegment& s = at(leaf);
      StyledLine& line = lines[index(row_[index(leaf)])];
      const int tip = std::max(scale.column(s.end), scale.column(s.start) + (s.parent == kNoSegment ? 0 : 1));
      for (int c = 0; c < tip; ++c) {
        const Square& cell = grid_[index(row_[index(leaf)])][index(c)];
        line.add(cell.glyph, cell.style);
      }
      const draw::AnswerColour* answer = colour(leaf);
      line.add(answer != nullptr ? draw::answer_mark(*answer, glyphs_.unicode) : tip_of(s.state, glyphs_),
               line_style(leaf));
      line.add(label(leaf), line_style(leaf));
    }
    return lines;
  }

  const Outline& outline_;
  const Glyphs& glyphs_;
  std::vector<const draw::AnswerColour*> colours_;  // [labels]
  std::vector<SegmentId> leaves_;                   // shown
  std::vector<int> row_;                            // [segments]
  std::vector<char> best_;                          // [segments]: leads to outline_.best
  std::vector<std::vector<SegmentId>> children_;    // [segments]: shown ones, the last child first
  std::vector<int> decisions_;                      // positions where shown segments split
  int max_label_ = 0;                               // cells
  int last_ = 1;                                    // the largest position shown
  std::vector<std::vector<Square>> grid_;           // [rows][columns]
};

}  // namespace

Skeleton draw_skeleton(const Outline& outline, int width, int max_rows, const Glyphs& glyphs,
                       draw::AnswerColours colours) {
  Skeleton skeleton;
  if (width < 12 || max_rows < 1) return skeleton;
  Drawing drawing(outline, glyphs, std::move(colours));
  skeleton.hidden = drawing.choose_leaves(max_rows);
  skeleton.lines = drawing.draw(width);
  return skeleton;
}

}  // namespace dts::cli
