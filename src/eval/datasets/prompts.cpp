#include "eval/datasets/prompts.h"

#include "eval/datasets/choices.h"
#include "eval/datasets/dataset.h"

namespace dts::eval {

std::string user_prompt(PromptStyle style, const Question& question) {
  switch (style) {
    case PromptStyle::kBoxed:
      return question.text + "\nPlease reason step by step, and put your final answer within \\boxed{}.";
    case PromptStyle::kMultipleChoice: {
      std::string letters;
      for (std::size_t i = 0; i < question.choices.size(); ++i) letters += letter_of_choice(i);
      // The wording of simple-evals: results on GPQA are compared with those that were asked in these words.
      std::string prompt =
          "Answer the following multiple choice question. The last line of your response should be of the following "
          "format: 'Answer: $LETTER' (without quotes) where LETTER is one of " +
          letters + ". Think step by step before answering.\n\n" + question.text + "\n";
      for (std::size_t i = 0; i < question.choices.size(); ++i) {
        prompt += "\n";
        prompt += letter_of_choice(i);
        prompt += ") " + question.choices[i];
      }
      return prompt;
    }
    case PromptStyle::kVerbatim:
      break;
  }
  return question.text;
}

}  // namespace dts::eval
