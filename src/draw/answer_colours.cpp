#include "draw/answer_colours.h"

#include <algorithm>

namespace dts::draw {

AnswerColours::AnswerColours(std::span<const FinishedTrace> finished) {
  for (const FinishedTrace& trace : finished) of(trace.answer);
}

const AnswerColour* AnswerColours::known(std::string_view answer) const {
  if (answer.empty()) return &kOtherAnswer;
  const auto found = std::find(seen_.begin(), seen_.end(), answer);
  return found == seen_.end() ? nullptr : &kAnswerColours[static_cast<std::size_t>(found - seen_.begin())];
}

const AnswerColour& AnswerColours::of(std::string_view answer) {
  if (const AnswerColour* colour = known(answer)) return *colour;
  const auto free = std::find(seen_.begin(), seen_.end(), std::string());
  if (free == seen_.end()) return kOtherAnswer;
  *free = answer;
  return kAnswerColours[static_cast<std::size_t>(free - seen_.begin())];
}

const AnswerColour& AnswerColours::beside(std::string_view answer) {
  if (const AnswerColour* colour = known(answer)) return *colour;
  const auto free = std::find(seen_.rbegin(), seen_.rend(), std::string());
  if (free == seen_.rend()) return kOtherAnswer;
  *free = answer;
  return kAnswerColours[static_cast<std::size_t>(seen_.rend() - free) - 1];
}

}  // namespace dts::draw
