#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "draw/answer_marks.h"
#include "draw/labels.h"
#include "draw/styles.h"
#include "draw/svg.h"
#include "draw/tree_layout.h"
#include "dts/draw.h"
#include "text/display.h"
#include "text/markup.h"
#include "text/numbers.h"

namespace dts {

using namespace text;
namespace draw {
namespace {

// Pixels.
constexpr double kWidth = 1200;
constexpr double kMargin = 28;
constexpr double kEndLabels = 196;  // room to the right of the longest trajectory
constexpr double kVotesWidth = 250;
constexpr double kMarkRadius = 8.5;
constexpr double kLabelRise = 7.5;   // of a label's baseline above its line
constexpr double kCorner = 7;        // radius where a fork turns into its row
constexpr double kLabelCell = 6.65;  // a monospaced character of the labels
constexpr double kNoteCell = 6.6;    // an average character of notes
constexpr double kTitleCell = 11;
constexpr double kLeafCell = 7.6;
constexpr double kStatWidth = 100;  // "H 1.72 VE 2.31"

constexpr int kTitleLines = 2;
constexpr std::size_t kMaxVotes = 6;        // answers in the heading
constexpr std::size_t kMaxDecisions = 120;  // rows of the table
constexpr int kTooltip = 300;               // cells of text in a tooltip

int cells_in(double pixels, double cell) { return std::max(0, static_cast<int>(pixels / cell)); }

// Breaks at spaces into at most `max_lines` lines; the last one takes what is left, shortened.
std::vector<std::string> wrap(const std::string& text, int width, int max_lines) {
  std::vector<std::string> lines;
  std::string_view rest = text;
  while (!rest.empty() && static_cast<int>(lines.size()) + 1 < max_lines) {
    std::string_view line = fit(rest, width);
    if (line.size() < rest.size()) {
      const std::size_t space = line.rfind(' ');
      if (space != std::string_view::npos && space > 0) line = line.substr(0, space);
    }
    if (line.empty()) break;
    lines.emplace_back(line);
    rest.remove_prefix(line.size());
    if (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  }
  if (!rest.empty()) lines.push_back(shorten(rest, width));
  return lines;
}

std::string trimmed_end(std::string text) {
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

std::string join(const std::vector<std::string>& labels) {
  std::string out;
  for (const std::string& label : labels) out += (out.empty() ? "" : "  ·  ") + label;
  return out;
}

class Picture {
 public:
  Picture(const TreeDocument& document, const Facts& facts, const SvgOptions& options)
      : document_(document),
        facts_(facts),
        options_(options),
        colours_(options.colours ? *options.colours : AnswerColours()),
        layout_(document.tree, kWidth - 2 * kMargin - kEndLabels),
        pitch_(layout_.rows <= 16   ? 34
               : layout_.rows <= 96 ? 26
                                    : 22) {
    for (const FinishedTrace& trace : document.outcome.finished) colours_.of(trace.answer);
    int number = 0;
    number_.resize(document.tree.segments().size());
    for (std::size_t id = 0; id < number_.size(); ++id) {
      if (facts.decision[id]) number_[id] = ++number;
    }
  }

  std::string draw() {
    draw_body();
    return head() + body_ + "</svg>\n";
  }

  // What is between the tags; height() says how far down it goes.
  const std::string& draw_body() {
    if (options_.heading) draw_heading();
    if (options_.legend) draw_legend();
    draw_axis();
    draw_lines();
    for (std::size_t id = 0; id < number_.size(); ++id) draw_marks(static_cast<SegmentId>(id));
    y_ = row_y(layout_.rows) + 4;
    if (options_.decisions) draw_decisions();
    return body_;
  }
  double height() const { return y_; }

 private:
  std::string head() const {
    const std::string title = escape_markup(shorten(question_line(document_), kTooltip));
    const std::string style = options_.style ? fmt::format("<style>\n{}</style>\n", kSvgStyle) : std::string();
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"dts\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
        "height=\"{1:.0f}\"{2} role=\"img\">\n<title>{3}</title>\n{4}"
        "<rect class=\"paper\" width=\"{0:.0f}\" height=\"{1:.0f}\"/>\n",
        kWidth, y_ + 12, options_.style ? " style=\"max-width: 100%; height: auto\"" : "", title, style);
  }

  void text(double x, double y, std::string_view classes, std::string_view content, std::string_view attributes = {}) {
    body_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\"{}>{}</text>\n", x, y, classes, attributes,
                         escape_markup(content));
  }

  double x_of(int position) const { return kMargin + layout_.scale.at(position); }
  double row_y(std::size_t row) const { return tree_top_ + static_cast<double>(row) * pitch_; }
  double y_of(SegmentId id) const { return row_y(layout_.row[static_cast<std::size_t>(id)]); }

  void draw_heading() {
    const double votes_x = kWidth - kMargin - kVotesWidth;
    const double room = votes_x - kMargin - 30;
    y_ = 20;
    for (const std::string& line : wrap(question_line(document_), cells_in(room, kTitleCell), kTitleLines)) {
      y_ += 22;
      text(kMargin, y_ - 4, "title ink", line);
    }
    y_ += 4;
    for (const auto& labels : {setting_labels(document_), size_labels(document_, facts_)}) {
      for (const std::string& line : wrap(join(labels), cells_in(room, kNoteCell), 2)) {
        y_ += 18;
        text(kMargin, y_ - 4, "note dim", line);
      }
    }
    const Outcome& outcome = document_.outcome;
    const std::string answer = outcome.winner ? one_line(outcome.finished[*outcome.winner].answer) : std::string();
    y_ += 24;
    if (answer.empty()) {
      text(kMargin, y_ - 4, "note ink", "No answer  ·  " + verdict(document_));
    } else {
      const std::string shown = "Answer " + shorten(answer, cells_in(room, kTitleCell) / 2);
      body_ += fmt::format(
          "<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"title ink\">{}<tspan class=\"note dim\" "
          "dx=\"12\">{}</tspan></text>\n",
          kMargin, y_ - 4, escape_markup(shown), escape_markup(verdict(document_)));
    }
    y_ = std::max(y_, draw_votes(votes_x)) + 6;
  }

  // Returns where it ends.
  double draw_votes(double x) {
    const std::vector<AnswerCount>& votes = document_.outcome.votes;
    if (votes.empty()) return 0;
    double y = 38;
    text(x, y, "note dim", "Votes");
    const int most = votes.front().votes;
    for (std::size_t i = 0; i < std::min(votes.size(), kMaxVotes); ++i) {
      y += 18;
      const double bar = 90.0 * votes[i].votes / std::max(most, 1);
      const AnswerColour& colour = colours_.of(votes[i].answer);
      body_ += fmt::format(
          "<g class=\"{}\"><g transform=\"translate({:.1f} {:.1f})\">{}</g><rect class=\"bar\" x=\"{:.1f}\" "
          "y=\"{:.1f}\" "
          "width=\"{:.1f}\" height=\"10\" rx=\"2\"/></g>\n",
          answer_class(colour), x + 5, y - 4, answer_mark_svg(colour), x + 122, y - 9, bar);
      text(x + 16, y, i == 0 ? "note ink" : "note dim", shorten(one_line(votes[i].answer), 15));
      text(x + 122 + bar + 8, y, "note dim", std::to_string(votes[i].votes));
    }
    if (votes.size() > kMaxVotes) {
      y += 18;
      text(x, y, "note dim", fmt::format("and {} more answers", votes.size() - kMaxVotes));
    }
    return y;
  }

  void draw_legend() {
    y_ += 22;
    double x = kMargin;
    const auto item = [&](std::string_view group, std::string_view sample, std::string_view words) {
      const double width = 34 + display_width(words) * kNoteCell;
      if (x > kMargin && x + width > kWidth - 10) {  // on the next line what has no room on this one
        x = kMargin;
        y_ += 20;
      }
      body_ += fmt::format("<g class=\"{}\" transform=\"translate({:.1f} {:.1f})\">{}</g>\n", group, x, y_ - 4, sample);
      text(x + 34, y_, "note dim", words);
      x += width + 22;
    };
    constexpr std::string_view kLine = "<path class=\"line\" stroke-width=\"2.5\" d=\"M0 0H16\"/>";
    const auto line = [&](std::string_view mark) { return std::string(kLine) + std::string(mark); };
    const auto finished = [&](std::string_view answer, std::string_view words) {
      const AnswerColour& colour = colours_.of(answer);
      const std::string mark = fmt::format("<g transform=\"translate(16)\">{}</g>", answer_mark_svg(colour));
      item("finished " + answer_class(colour), line(mark), words);
    };
    const Outcome& outcome = document_.outcome;
    if (outcome.winner) finished(outcome.finished[*outcome.winner].answer, "finished with the answer returned");
    const auto other = std::find_if(outcome.finished.begin(), outcome.finished.end(),
                                    [this](const FinishedTrace& trace) { return !votes_for_winner(trace.leaf); });
    if (other != outcome.finished.end()) finished(other->answer, "with another (a colour and a mark for each)");
    if (facts_.exhausted > 0) item("exhausted", line(kWall), "exhausted its tokens");
    if (facts_.retired > 0) item("retired", line(kFall), "given up: low confidence");
    if (facts_.cut > 0) item("cut", line(kBar), "cut when the search stopped");
    if (facts_.live > 0) item("live", line(kDot), "still growing");
    if (document_.tree.decisions() > 0) {
      item("",
           fmt::format("<circle class=\"mark\" cx=\"14\" r=\"{}\"/><text class=\"number\" x=\"14\" y=\"3.2\">1</text>",
                       kMarkRadius),
           "decision token");
      item("", "<text class=\"label mono stat\" x=\"2\" y=\"4\">H VE</text>", "entropy and varentropy there");
    }
    if (document_.outcome.best_leaf != kNoSegment) {
      item("", "<path class=\"halo\" stroke-width=\"10\" d=\"M4 0H22\"/>",
           document_.outcome.winner ? "the trace returned" : "the most probable trace");
    }
    y_ += 14;
  }

  void draw_axis() {
    y_ += 18;
    tree_top_ = y_ + 30;
    const double bottom = row_y(layout_.rows == 0 ? 0 : layout_.rows - 1) + 10;
    for (const int position : layout_.scale.ticks(64)) {
      const double x = x_of(position);
      body_ += fmt::format("<path class=\"grid\" d=\"M{:.1f} {:.1f}V{:.1f}\"/>\n", x, y_ + 6, bottom);
      text(x, y_, "tick dim", grouped(position));
    }
    const double end = kMargin + layout_.scale.at(static_cast<int>(facts_.longest));
    // Inside the picture, however far the longest trajectory reaches.
    const double note_x = std::min(end + 40, kWidth - 10 - (layout_.scale.is_linear() ? 7 : 25) * kLabelCell);
    text(note_x, y_, "label dim", layout_.scale.is_linear() ? "tokens" : "tokens (stretched where");
    if (!layout_.scale.is_linear()) text(note_x, y_ + 13, "label dim", "branch points are close)");
  }

  std::string path_of(SegmentId id) const {
    const Segment& segment = document_.tree.segment(id);
    const double x0 = x_of(segment.start);
    const double x1 = std::max(x_of(segment.end()), x0);
    const double y = y_of(id);
    const double from = segment.parent == kNoSegment ? y : y_of(segment.parent);
    if (from == y) return fmt::format("M{:.1f} {:.1f}H{:.1f}", x0, y, x1);
    const double corner = std::min(kCorner, x1 - x0);
    return fmt::format("M{0:.1f} {1:.1f}V{2:.1f}Q{0:.1f} {3:.1f} {4:.1f} {3:.1f}H{5:.1f}", x0, from, y - corner, y,
                       x0 + corner, x1);
  }

  double stroke_of(SegmentId id) const {
    return std::min(6.0, 2.2 + 0.7 * std::log2(static_cast<double>(facts_.leaves[static_cast<std::size_t>(id)])));
  }

  void draw_lines() {
    for (std::size_t id = 0; id < number_.size(); ++id) {
      if (!facts_.best[id]) continue;
      const auto segment = static_cast<SegmentId>(id);
      body_ += fmt::format("<path class=\"halo\" stroke-width=\"{:.1f}\" d=\"{}\"/>\n", stroke_of(segment) + 9,
                           path_of(segment));
    }
    // Later siblings first: their way down passes under the earlier ones.
    for (std::size_t id = number_.size(); id-- > 0;) draw_line(static_cast<SegmentId>(id));
  }

  void draw_line(SegmentId id) {
    const Segment& segment = document_.tree.segment(id);
    const std::string path = path_of(id);
    std::string tip = fmt::format("{} from {}", counted(static_cast<std::int64_t>(segment.tokens.size()), "token"),
                                  grouped(segment.start));
    if (segment.parent != kNoSegment && !segment.tokens.empty()) {
      tip = percent(segment.tokens.front().logprob) + " · " + tip;
    }
    tip += "\n" + snippet(document_.texts[static_cast<std::size_t>(id)].text, kTooltip);
    body_ += fmt::format(
        "<g class=\"segment {}{}{}\" data-id=\"{}\"><title>{}</title><path class=\"hit\" d=\"{}\"/>"
        "<path class=\"line\" stroke-width=\"{:.1f}\" d=\"{}\"/></g>\n",
        state_label(segment.state), facts_.best[static_cast<std::size_t>(id)] ? " best" : "", class_of_answer(id), id,
        escape_markup(tip), path, stroke_of(id), path);
  }

  void draw_marks(SegmentId id) {
    const auto index = static_cast<std::size_t>(id);
    const Segment& segment = document_.tree.segment(id);
    const double x0 = x_of(segment.start) + (segment.parent == kNoSegment ? 0 : kMarkRadius + 4);
    const double x1 = x_of(segment.end());
    const double y = y_of(id);
    double room = x1 - x0;  // above the line
    if (const auto& decision = facts_.decision[index]) {
      room -= kMarkRadius + 4;
      const bool with_statistics = room >= kStatWidth + 8;
      body_ += fmt::format("<g class=\"decision\" data-id=\"{}\"><title>H {}, VE {}</title>", id,
                           statistic(decision->entropy), statistic(decision->varentropy));
      body_ += fmt::format(
          "<circle class=\"mark\" cx=\"{0:.1f}\" cy=\"{1:.1f}\" r=\"{2}\"/><text class=\"number\" x=\"{0:.1f}\" "
          "y=\"{3:.1f}\">{4}</text></g>\n",
          x1, y, kMarkRadius, y + 3.2, number_[index]);
      if (with_statistics) {
        text(x1 - kMarkRadius - 4, y - kLabelRise, "label mono stat",
             fmt::format("H {} VE {}", statistic(decision->entropy), statistic(decision->varentropy)),
             " text-anchor=\"end\"");
        room -= kStatWidth + 8;
      }
    }
    const std::string share = segment.parent == kNoSegment || segment.tokens.empty()
                                  ? std::string()
                                  : percent(segment.tokens.front().logprob) + " ";
    const int cells = cells_in(room, kLabelCell);
    const int words = cells - static_cast<int>(share.size());
    const bool labelled = words >= 5;
    if (labelled) {
      // The space between them is no character: not all who draw SVG keep one at the end of an element.
      body_ += fmt::format(
          "<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"label mono dim\"><tspan "
          "class=\"stat\">{}</tspan><tspan{}>{}</tspan></text>\n",
          x0, y - 6, escape_markup(trimmed_end(share)), share.empty() ? "" : " dx=\"6.6\"",
          escape_markup(snippet(document_.texts[index].text, words)));
    }
    if (segment.children.empty()) draw_end(id, x1, y, labelled ? std::string() : share);
  }

  void draw_end(SegmentId id, double x, double y, const std::string& share) {
    const auto index = static_cast<std::size_t>(id);
    const SegmentState state = document_.tree.segment(id).state;
    const bool best = id == document_.outcome.best_leaf;
    std::string mark(kBar);
    if (state == SegmentState::kFinished) {
      mark = fmt::format("<g transform=\"translate(16)\">{}</g>", answer_mark_svg(colour_of(id)));
    }
    if (state == SegmentState::kLive) mark = kDot;
    if (state == SegmentState::kExhausted) mark = kWall;
    if (state == SegmentState::kRetired) mark = kFall;
    body_ += fmt::format("<g class=\"end {}{}\" data-id=\"{}\"><g transform=\"translate({:.1f} {:.1f})\">{}</g>",
                         state_label(state), class_of_answer(id), id, x - 16, y, mark);
    const double room = kWidth - 10 - (x + 11);
    const std::string label =
        (best ? "★ " : "") + shorten(leaf_label(document_, facts_, id), cells_in(room, kLeafCell) - 2);
    body_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"leaf\">{}", x + 11, y + 4, escape_markup(label));
    // What found no room above the line.
    const int words =
        cells_in(room - display_width(label) * kLeafCell, kLabelCell) - static_cast<int>(share.size()) - 2;
    if (!share.empty() && words >= 5) {
      body_ +=
          fmt::format("<tspan class=\"label mono stat\" dx=\"8\">{}</tspan><tspan class=\"label mono dim\">{}</tspan>",
                      escape_markup(share), escape_markup(snippet(document_.texts[index].text, std::min(words, 24))));
    }
    body_ += "</text></g>\n";
  }

  const AnswerColour& colour_of(SegmentId leaf) {
    const auto& trace = facts_.trace[static_cast<std::size_t>(leaf)];
    return trace ? colours_.of(document_.outcome.finished[*trace].answer) : kOtherAnswer;
  }
  // " answer-blue" for what finished.
  std::string class_of_answer(SegmentId id) {
    return facts_.trace[static_cast<std::size_t>(id)] ? " " + answer_class(colour_of(id)) : std::string();
  }

  bool votes_for_winner(SegmentId leaf) const {
    const Outcome& outcome = document_.outcome;
    const auto& trace = facts_.trace[static_cast<std::size_t>(leaf)];
    return trace && outcome.winner && outcome.finished[*trace].answer == outcome.finished[*outcome.winner].answer;
  }

  void draw_decisions() {
    std::vector<SegmentId> decided;
    for (std::size_t id = 0; id < number_.size(); ++id) {
      if (number_[id] > 0) decided.push_back(static_cast<SegmentId>(id));
    }
    if (decided.empty()) return;
    body_ += fmt::format("<path class=\"rule\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>\n", kMargin, y_, kWidth - kMargin);
    y_ += 24;
    text(kMargin, y_, "note ink",
         "Decision tokens: position, entropy H, varentropy VE, and the children with their probabilities");
    const std::size_t shown = std::min(decided.size(), kMaxDecisions);
    const std::size_t columns = shown > 5 ? 2 : 1;
    const std::size_t rows = (shown + columns - 1) / columns;
    const double width = (kWidth - 2 * kMargin) / static_cast<double>(columns);
    for (std::size_t i = 0; i < shown; ++i) {
      const std::size_t column = i / rows;
      const std::size_t row = i % rows;
      draw_decision(decided[i], kMargin + static_cast<double>(column) * width, y_ + 21 * static_cast<double>(row + 1),
                    width);
    }
    y_ += 21 * static_cast<double>(rows) + 8;
    if (decided.size() > shown) {
      y_ += 18;
      text(kMargin, y_, "note dim", fmt::format("and {} more", decided.size() - shown));
    }
  }

  void draw_decision(SegmentId id, double x, double y, double width) {
    const auto index = static_cast<std::size_t>(id);
    const Segment& segment = document_.tree.segment(id);
    body_ += fmt::format(
        "<circle class=\"mark\" cx=\"{0:.1f}\" cy=\"{1:.1f}\" r=\"{2}\"/><text class=\"number\" x=\"{0:.1f}\" "
        "y=\"{3:.1f}\">{4}</text>\n",
        x + 10, y - 4, kMarkRadius, y - 0.8, number_[index]);
    body_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"label mono dim\">{:>6}</text>\n", x + 22, y,
                         grouped(segment.end()));
    text(x + 68, y, "label mono stat",
         fmt::format("H {} VE {}", statistic(facts_.decision[index]->entropy),
                     statistic(facts_.decision[index]->varentropy)));
    std::string children;
    const int room = cells_in(width - 68 - kStatWidth - 24, kLabelCell);
    const int each =
        std::max(6, room / std::max(1, static_cast<int>(std::min<std::size_t>(segment.children.size(), 5))) - 8);
    for (const SegmentId child : segment.children) {
      const std::vector<TokenRecord>& tokens = document_.tree.segment(child).tokens;
      if (tokens.empty()) continue;
      children += (children.empty() ? "" : " · ") + shorten(first_token_label(document_, child), each) + " " +
                  percent(tokens.front().logprob);
    }
    text(x + 68 + kStatWidth + 8, y, "label mono ink", shorten(children, room));
  }

  // Ends of trajectories, around (16, 0).
  static constexpr std::string_view kDot = "<circle class=\"dot\" cx=\"16\" r=\"4.5\"/>";
  // None of them is like the sign of a wrong answer.
  static constexpr std::string_view kWall = "<path class=\"tip\" d=\"M16.5 -4.5v9m4 -9v9\"/>";
  static constexpr std::string_view kFall = "<path class=\"tip\" d=\"M17 -4.5v9m-3.2 -3.2l3.2 3.2l3.2 -3.2\"/>";
  static constexpr std::string_view kBar = "<path class=\"tip\" d=\"M17 -4.5v9\"/>";

  const TreeDocument& document_;
  const Facts& facts_;
  SvgOptions options_;
  AnswerColours colours_;
  Layout layout_;
  double pitch_;             // pixels between rows
  std::vector<int> number_;  // [segments] of the decision that split it, from 1; 0: none
  double y_ = 0;             // down to where the picture is drawn
  double tree_top_ = 0;      // y of row 0
  std::string body_;
};

}  // namespace

std::string svg_picture(const TreeDocument& document, const Facts& facts, const SvgOptions& options) {
  return Picture(document, facts, options).draw();
}

std::string svg_lanes(const std::string& question, const std::vector<SvgLane>& lanes, const AnswerColours& colours) {
  std::string body;
  double y = 18;
  for (const std::string& line : wrap(one_line(question), cells_in(kWidth - 2 * kMargin, kTitleCell), 3)) {
    y += 22;
    body +=
        fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"title ink\">{}</text>\n", kMargin, y, escape_markup(line));
  }
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const SvgLane& lane = lanes[i];
    y += 22;
    body += fmt::format("<path class=\"rule\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>\n", kMargin, y, kWidth - kMargin);
    y += 30;
    body += fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"title ink\">{}<tspan dx=\"16\">{}</tspan><tspan class=\"note dim\" "
        "dx=\"16\">{}</tspan></text>\n",
        kMargin, y, escape_markup(shorten(one_line(lane.title), 40)),
        escape_markup(shorten(one_line(lane.verdict), 50)), escape_markup(one_line(lane.note)));
    const Facts facts(*lane.document);
    Picture picture(*lane.document, facts,
                    {.heading = false, .decisions = false, .legend = i + 1 == lanes.size(), .colours = colours});
    body += fmt::format("<g transform=\"translate(0 {:.1f})\">\n{}</g>\n", y, picture.draw_body());
    y += picture.height();
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"dts\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" style=\"max-width: 100%; height: auto\" role=\"img\">\n<title>{2}</title>\n"
      "<style>\n{3}</style>\n<rect class=\"paper\" width=\"{0:.0f}\" height=\"{1:.0f}\"/>\n{4}</svg>\n",
      kWidth, y + 12, escape_markup(shorten(one_line(question), kTooltip)), kSvgStyle, body);
}

}  // namespace draw

std::string draw_svg(const TreeDocument& document) {
  return draw::svg_picture(document, draw::Facts(document), draw::SvgOptions{});
}

}  // namespace dts
