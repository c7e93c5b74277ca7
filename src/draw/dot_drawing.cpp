#include <fmt/format.h>

#include <string>
#include <string_view>

#include "draw/answer_colours.h"
#include "draw/facts.h"
#include "draw/labels.h"
#include "dts/draw.h"
#include "text/display.h"
#include "text/numbers.h"

namespace dts {
namespace {

using namespace text;

using namespace draw;

constexpr int kTextWidth = 32;  // cells of a segment's text

// What may stand between quotes. Graphviz reads backslashes in labels as escapes of its own, so they are doubled; the
// caller's line breaks are added after. (Not called `quoted`: with GCC 13 another header brings <iomanip> along, and
// for a std::string std::quoted is the better match.)
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string_view colour_of(SegmentState state) {
  switch (state) {
    case SegmentState::kExhausted:
    case SegmentState::kRetired:
    case SegmentState::kCut:
      return "#98a3b3";
    case SegmentState::kLive:
    case SegmentState::kFinished:
    case SegmentState::kSplit:
      break;
  }
  return "#76859b";
}

}  // namespace

std::string draw_dot(const TreeDocument& document) {
  const Facts facts(document);
  AnswerColours colours(document.outcome.finished);
  std::string out = "digraph dts {\n";
  out +=
      fmt::format("  label=\"{}\\n{}\";\n", escaped(shorten(question_line(document), 100)), escaped(verdict(document)));
  out +=
      "  labelloc=t; rankdir=LR; fontname=\"sans-serif\"; nodesep=0.12; ranksep=0.5;\n"
      "  node [shape=box, style=\"rounded,filled\", fillcolor=\"#ffffff\", fontname=\"sans-serif\", fontsize=10, "
      "height=0.3];\n"
      "  edge [fontname=\"monospace\", fontsize=9, arrowsize=0.5];\n";
  out += fmt::format("  prompt [label=\"prompt\\n{}\", shape=plain, fillcolor=none];\n",
                     counted(static_cast<std::int64_t>(document.prompt_tokens.size()), "token"));
  for (std::size_t index = 0; index < document.tree.segments().size(); ++index) {
    const auto id = static_cast<SegmentId>(index);
    const Segment& segment = document.tree.segment(id);
    std::string label = escaped(snippet(document.texts[index].text, kTextWidth)) + "\\n" +
                        counted(static_cast<std::int64_t>(segment.tokens.size()), "token");
    if (const auto& decision = facts.decision[index]) {
      label += fmt::format("\\nH {}  VE {}", statistic(decision->entropy), statistic(decision->varentropy));
    } else if (segment.children.empty()) {
      label += "\\n" + escaped(shorten(leaf_label(document, facts, id), kTextWidth));
      if (id == document.outcome.best_leaf) label += " ★";
    }
    std::string_view colour = colour_of(segment.state);
    if (const auto& trace = facts.trace[index]) {
      const AnswerColour& answer = colours.of(document.outcome.finished[*trace].answer);
      colour = answer.light;
      label += " " + std::string(answer.mark);
    }
    const bool best = facts.best[index];
    out += fmt::format("  s{} [label=\"{}\", color=\"{}\"{}];\n", id, label, colour,
                       best ? ", fillcolor=\"#fff1c7\", penwidth=2" : "");
    const std::string from = segment.parent == kNoSegment ? "prompt" : "s" + std::to_string(segment.parent);
    std::string choice;
    if (segment.parent != kNoSegment && !segment.tokens.empty()) {
      choice = escaped(shorten(first_token_label(document, id), 16)) + " " + percent(segment.tokens.front().logprob);
    }
    out += fmt::format("  {} -> s{} [label=\"{}\"{}];\n", from, id, choice,
                       best ? ", penwidth=2.5, color=\"#d99a00\"" : "");
  }
  return out + "}\n";
}

}  // namespace dts
