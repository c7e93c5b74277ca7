#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "draw/answer_marks.h"
#include "draw/facts.h"
#include "draw/labels.h"
#include "dts/draw.h"
#include "text/display.h"
#include "text/glyphs.h"
#include "text/numbers.h"
#include "text/style.h"
#include "text/utf8.h"

namespace dts {
namespace {

using namespace text;

using namespace draw;

constexpr int kMinWidth = 60;
constexpr int kShareWidth = 4;      // cells of a probability
constexpr int kStatWidth = 7;       // cells of the columns tokens, H and VE
constexpr int kMaxEndWidth = 24;    // cells of the last column
constexpr int kMinLabelWidth = 14;  // cells that the deepest branch keeps for its text

class TextDrawing {
 public:
  TextDrawing(const TreeDocument& document, const TextDrawingOptions& options)
      : document_(document),
        facts_(document),
        width_(std::max(options.width, kMinWidth)),
        colour_(options.colour),
        unicode_(options.unicode),
        glyphs_(text::glyphs(options.unicode)) {
    end_width_ = std::min(kMaxEndWidth, width_ / 4);
    label_width_ = width_ - 3 * kStatWidth - 2 - end_width_;
  }

  std::string draw() {
    draw_head();
    draw_tree();
    draw_votes();
    return std::move(out_);
  }

 private:
  struct Visit {
    SegmentId id;
    int depth;  // 0: a root
    bool last;  // of its siblings
  };

  void add(std::string_view text, Style style = Style::kPlain) {
    out_ += styled(unicode_ ? std::string(text) : ascii(text), style, colour_);
  }
  void add_padded(std::string_view text, int width, Style style = Style::kPlain) {
    add(text, style);
    add_spaces(width - display_width(text));
  }
  void add_right(std::string_view text, int width, Style style = Style::kPlain) {
    add_spaces(width - display_width(text));
    add(text, style);
  }
  void add_spaces(int n) {
    if (n > 0) out_.append(static_cast<std::size_t>(n), ' ');
  }
  void end_line() {
    out_.erase(out_.find_last_not_of(' ') + 1);
    out_ += '\n';
  }

  // What a terminal without Unicode can show of our own words; of the model's, a question mark a character.
  static std::string ascii(std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
      const Character character = decode_utf8(text, at);
      at += character.size;
      if (character.code < 0x80) {
        out += static_cast<char>(character.code);
      } else if (character.code == U'…') {
        out += '~';
      } else if (character.code == U'≥') {
        out += ">=";
      } else if (character.code == U'≤') {
        out += "<=";
      } else if (character.code == U'×') {
        out += 'x';
      } else if (character.code == U'·') {
        out += '|';
      } else {
        out += '?';
      }
    }
    return out;
  }

  void draw_head() {
    add(shorten(question_line(document_), width_), Style::kBold);
    end_line();
    add_list(setting_labels(document_), Style::kDim);
    add_list(size_labels(document_, facts_), Style::kDim);
    end_line();
  }

  // Labels one after the other, on as many lines as they need.
  void add_list(const std::vector<std::string>& labels, Style style) {
    std::string line;
    for (const std::string& words : labels) {
      const std::string label = unicode_ ? words : ascii(words);  // which may be longer
      const bool fits = line.empty() || display_width(line) + 3 + display_width(label) <= width_;
      if (!fits) {
        add(line, style);
        end_line();
        line.clear();
      }
      line += (line.empty() ? "" : " · ") + shorten(label, width_);
    }
    add(line, style);
    end_line();
  }

  void draw_tree() {
    add_spaces(label_width_);
    add_right("tokens", kStatWidth, Style::kDim);
    add_right("H", kStatWidth, Style::kDim);
    add_right("VE", kStatWidth, Style::kDim);
    end_line();
    add_padded("prompt", label_width_);
    add_right(grouped(static_cast<std::int64_t>(document_.prompt_tokens.size())), kStatWidth);
    end_line();

    // As many columns a level as leave room for text at the deepest one; beyond that the levels share the last column.
    const int depth = deepest() + 1;
    const int room = label_width_ - kMinLabelWidth;
    indent_ = 3 * depth <= room ? 3 : 2;
    shown_levels_ = std::max(1, room / indent_);

    std::vector<Visit> stack;
    const auto push = [&stack](const auto& ids, int level) {
      for (std::size_t i = ids.size(); i-- > 0;) stack.push_back({ids[i], level, i + 1 == ids.size()});
    };
    push(document_.tree.roots(), 0);
    while (!stack.empty()) {
      const Visit visit = stack.back();
      stack.pop_back();
      draw_segment(visit);
      push(document_.tree.segment(visit.id).children, visit.depth + 1);
    }
    end_line();
  }

  int deepest() const {
    std::vector<int> depth(document_.tree.segments().size());
    int most = 0;
    for (std::size_t id = 0; id < depth.size(); ++id) {
      const SegmentId parent = document_.tree.segments()[id].parent;
      if (parent != kNoSegment) depth[id] = depth[static_cast<std::size_t>(parent)] + 1;
      most = std::max(most, depth[id]);
    }
    return most;
  }

  // Returns the cells taken.
  int draw_lines(const Visit& visit) {
    open_.resize(static_cast<std::size_t>(visit.depth) + 1);
    open_.back() = !visit.last;
    const int hidden = std::max(0, visit.depth + 1 - shown_levels_);
    for (int level = hidden; level < visit.depth; ++level) {
      const bool marks_hidden = hidden > 0 && level == hidden;
      const bool open = open_[static_cast<std::size_t>(level)];
      add(marks_hidden ? "…" : open ? glyphs_.vertical : " ", Style::kDim);
      add_spaces(indent_ - 1);
    }
    std::string arm(visit.last ? glyphs_.corner : glyphs_.tee_right);
    for (int i = 2; i < indent_; ++i) arm += glyphs_.horizontal;
    add(arm, Style::kDim);
    add_spaces(1);
    return (visit.depth + 1 - hidden) * indent_;
  }

  void draw_segment(const Visit& visit) {
    const auto index = static_cast<std::size_t>(visit.id);
    const Segment& segment = document_.tree.segment(visit.id);
    const bool best = facts_.best[index];
    int room = label_width_ - draw_lines(visit) - 1;
    if (segment.parent != kNoSegment && !segment.tokens.empty()) {
      const std::string share = percent(segment.tokens.front().logprob);
      add_right(share, kShareWidth, Style::kYellow);
      add_spaces(1);
      room -= kShareWidth + 1;
    }
    const std::string label = snippet(document_.texts[index].text, room);
    add_padded(label, room + 1, best ? Style::kBold : Style::kPlain);
    add_right(grouped(static_cast<std::int64_t>(segment.tokens.size())), kStatWidth);
    if (const auto& decision = facts_.decision[index]) {
      add_right(statistic(decision->entropy), kStatWidth, Style::kYellow);
      add_right(statistic(decision->varentropy), kStatWidth, Style::kYellow);
      add_spaces(2);
      add(glyphs_.decision, Style::kYellow);
      add(fmt::format(" {} ways at {}", segment.children.size(), grouped(segment.end())), Style::kDim);
    } else {
      add_spaces(2 * kStatWidth + 2);
      draw_end(visit.id);
    }
    end_line();
  }

  const AnswerColour& colour_of(SegmentId leaf) {
    const auto& trace = facts_.trace[static_cast<std::size_t>(leaf)];
    return trace ? colours_.of(document_.outcome.finished[*trace].answer) : kOtherAnswer;
  }

  void draw_end(SegmentId leaf) {
    const SegmentState state = document_.tree.segment(leaf).state;
    const bool best = leaf == document_.outcome.best_leaf;
    const std::string label = shorten(leaf_label(document_, facts_, leaf), end_width_ - 4);
    switch (state) {
      case SegmentState::kFinished:
        add(answer_mark(colour_of(leaf), unicode_), answer_style(colour_of(leaf)));
        add(" " + label, answer_style(colour_of(leaf)));
        break;
      case SegmentState::kExhausted:
      case SegmentState::kRetired:
        add(state == SegmentState::kExhausted ? glyphs_.exhausted : glyphs_.retired, Style::kDim);
        add(" " + label, Style::kDim);
        break;
      default:
        add(state == SegmentState::kCut ? glyphs_.cut : glyphs_.live, Style::kDim);
        add(" " + label, Style::kDim);
    }
    if (!best) return;
    out_ += ' ';
    add(glyphs_.best, Style::kBold);
  }

  void draw_votes() {
    const Outcome& outcome = document_.outcome;
    if (outcome.winner) {
      const std::string answer = one_line(outcome.finished[*outcome.winner].answer);
      add("answer  ");
      add(answer.empty() ? "none found in the trace" : shorten(answer, width_ - 8),
          answer_style(colours_.of(outcome.finished[*outcome.winner].answer)));
      end_line();
    }
    add("        " + shorten(verdict(document_), width_ - 8), Style::kDim);
    end_line();
    if (outcome.votes.size() < 2) return;
    int widest = 0;
    int most = 1;
    for (const AnswerCount& count : outcome.votes) {
      widest = std::max(widest, std::min(display_width(one_line(count.answer)), width_ / 3));
      most = std::max(most, count.votes);
    }
    for (const AnswerCount& count : outcome.votes) {
      add(&count == &outcome.votes.front() ? "votes   " : "        ");
      const AnswerColour& colour = colours_.of(count.answer);
      add(answer_mark(colour, unicode_) + " ", answer_style(colour));
      add_padded(shorten(one_line(count.answer), widest), widest + 2, answer_style(colour));
      const int bar = std::max(1, count.votes * (width_ / 3) / std::max(most, width_ / 3));
      for (int i = 0; i < bar; ++i) add(glyphs_.bar_full, answer_style(colour));
      add(" " + std::to_string(count.votes), Style::kDim);
      end_line();
    }
  }

  const TreeDocument& document_;
  Facts facts_;
  AnswerColours colours_{document_.outcome.finished};
  int width_, label_width_, end_width_;  // cells
  bool colour_, unicode_;
  const Glyphs& glyphs_;
  int indent_ = 3;          // cells a level
  int shown_levels_ = 1;    // levels that have a column of their own
  std::vector<bool> open_;  // [depth + 1] whether more siblings follow at each level of the line being drawn
  std::string out_;
};

}  // namespace

std::string draw_text(const TreeDocument& document, const TextDrawingOptions& options) {
  return TextDrawing(document, options).draw();
}

}  // namespace dts
