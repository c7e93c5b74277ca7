// How a question is put to the model.
#pragma once

#include <string>

namespace dts::eval {

struct Question;

// Of all prompts together: raised when the wording of any changes.
inline constexpr int kPromptVersion = 1;

enum class PromptStyle {
  kBoxed,           // the question, then the request to reason and to box the answer: AIME, MATH, GSM8K
  kMultipleChoice,  // options A) to D), and a last line "Answer: $LETTER": GPQA
  kVerbatim,        // the question says itself how it wants to be answered: LiveBench, nano-bench
};

// The user's turn, without any chat template. There is no system turn: the makers of the reasoning models advise
// against one.
std::string user_prompt(PromptStyle style, const Question& question);

}  // namespace dts::eval
