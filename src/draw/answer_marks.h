// Answers' colours and marks (answer_colours.h) as terminals and SVG have them.
#pragma once

#include <string>
#include <string_view>

#include "draw/answer_colours.h"
#include "text/style.h"

namespace dts::draw {

inline text::Style answer_style(const AnswerColour& colour) { return text::palette_style(colour.terminal); }
inline std::string answer_mark(const AnswerColour& colour, bool unicode) {
  return unicode ? std::string(colour.mark) : std::string(1, colour.ascii);
}

// "answer-blue"
std::string answer_class(const AnswerColour& colour);

// The mark around (0, 0), about 5 pixels in radius: elements of class "answer-mark", which take their
// colour from the style sheet (svg.css). Does not depend on a font.
std::string_view answer_mark_svg(const AnswerColour& colour);

}  // namespace dts::draw
