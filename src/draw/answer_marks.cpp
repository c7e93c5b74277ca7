#include "draw/answer_marks.h"

namespace dts::draw {

std::string answer_class(const AnswerColour& colour) { return "answer-" + std::string(colour.name); }

std::string_view answer_mark_svg(const AnswerColour& colour) {
  if (colour.name == "blue") return "<circle class=\"answer-mark\" r=\"4.5\"/>";
  if (colour.name == "vermilion") return "<path class=\"answer-mark\" d=\"M-4 -4h8v8h-8Z\"/>";
  if (colour.name == "green") return "<path class=\"answer-mark\" d=\"M0 -5L5 4H-5Z\"/>";
  if (colour.name == "plum") return "<path class=\"answer-mark\" d=\"M0 5L5 -4H-5Z\"/>";
  if (colour.name == "teal") {
    return "<path class=\"answer-mark\" d=\"M-1.6 -5h3.2v3.4h3.4v3.2h-3.4v3.4h-3.2v-3.4h-3.4v-3.2h3.4Z\"/>";
  }
  if (colour.name == "ochre") return "<path class=\"answer-mark\" d=\"M0 -5.5L5.5 0L0 5.5L-5.5 0Z\"/>";
  if (colour.name == "violet") {
    return "<path class=\"answer-mark\" d=\"M0 -4.5a4.5 4.5 0 0 0 0 9Z\"/>"
           "<path class=\"answer-mark\" fill-opacity=\"0\" d=\"M0 -4.5a4.5 4.5 0 0 1 0 9\"/>";
  }
  return "<circle class=\"answer-mark\" fill-opacity=\"0\" stroke-width=\"2\" r=\"4\"/>";
}

}  // namespace dts::draw
