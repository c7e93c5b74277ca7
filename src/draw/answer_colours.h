// One colour and one mark an answer, the same in every picture: page, terminal, SVG, HTML and report.
//
// Colours mean answers and nothing else. They stay apart for all three kinds of colour blindness and stand out from the
// page's background, light or dark (web/test/answer_colours.test.ts measures both, and that the page has the same
// table). Each comes with a mark, for whoever sees no colours and for print in black and white. Whether an answer is
// right is a sign, never a colour.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "dts/search.h"

namespace dts::draw {

struct AnswerColour {
  std::string_view name;   // a word for it, as in class="answer-blue" and in what a screen reader says
  std::string_view light;  // #rrggbb on a light background
  std::string_view dark;   // #rrggbb on a dark one
  int terminal;            // of the 256 colours of a terminal: to be read on black and on white
  std::string_view mark;   // one cell wide
  char ascii;              // the mark where only ASCII can be shown
};

inline constexpr std::array<AnswerColour, 7> kAnswerColours = {{
    {"blue", "#044298", "#2a7df4", 33, "●", 'o'},
    {"vermilion", "#aa440a", "#d64d16", 166, "■", '#'},
    {"green", "#1f9d85", "#a5e9c3", 29, "▲", '^'},
    {"plum", "#6e314b", "#d18ba6", 132, "▼", 'v'},
    {"teal", "#20738e", "#17b5fc", 31, "✚", '+'},
    {"ochre", "#ba8017", "#f4c928", 136, "◆", '*'},
    {"violet", "#9071e1", "#966eb2", 98, "◐", '%'},
}};
// All further answers: they share it, and are told apart by their text.
inline constexpr AnswerColour kOtherAnswer = {"grey", "#5f6b7c", "#9fabbc", 244, "○", '.'};

inline constexpr std::string_view kRightSign = "✓";  // "+" in ASCII
inline constexpr std::string_view kWrongSign = "✗";  // "x" in ASCII

// Gives answers their colours in the order in which they are first seen, and never takes one back: so a picture that is
// drawn while the search runs and one of the saved tree agree. Answers are those of FinishedTrace::answer, which are
// one text a class.
class AnswerColours {
 public:
  AnswerColours() = default;
  // In the order in which trajectories finished.
  explicit AnswerColours(std::span<const FinishedTrace> finished);

  // Gives it the next colour where it has none. An empty answer is none: it gets kOtherAnswer, and takes no colour.
  const AnswerColour& of(std::string_view answer);

  // For an answer of something that only stands beside the tree, as plain decoding does in a comparison: takes the last
  // colour that is free, so that the tree's answers have the colours that they have alone.
  const AnswerColour& beside(std::string_view answer);

 private:
  const AnswerColour* known(std::string_view answer) const;

  std::array<std::string, kAnswerColours.size()> seen_;  // by colour; empty: not given yet
};

}  // namespace dts::draw
