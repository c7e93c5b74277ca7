#include "draw/answer_colours.h"

#include <algorithm>

namespace dts::draw {

AnswerColours::AnswerColours(std::span<const FinishedTrace> finished) {
  for (const FinishedTrace& trace : finished) of(trace.answer);
}

const AnswerColour& AnswerColours::of(std::string_view answer) {
  if (answer.empty()) return kOtherAnswer;
  const auto known = std::find(seen_.begin(), seen_.end(), answer);
  const auto index = static_cast<std::size_t>(known - seen_.begin());
  if (known == seen_.end() && index < kAnswerColours.size()) seen_.emplace_back(answer);
  return index < kAnswerColours.size() ? kAnswerColours[index] : kOtherAnswer;
}

}  // namespace dts::draw
