#include "eval/prompts.h"

#include "eval/choices.h"
#include "eval/dataset.h"

namespace dts::eval {

std::string user_prompt(PromptStyle style, const Question& question) {
  switch (style) {
    case PromptStyle::kBoxed:
      return question.text + "\nPlease reason step by step, and put your final answer within \\boxed{}.";
    case PromptStyle::kMultipleChoice: {
      std::string letters;
      for (std::size_t i = 0; i < question.choices.size(); ++i) letters += choice_letter(i);
      std::string prompt =
          "Here is a multiple choice question. Reason step by step first. Then end your reply with a line of this "
          "form, "
          "without quotes: 'Answer: $LETTER', where LETTER is one of " +
          letters + ".\n\n" + question.text + "\n";
      for (std::size_t i = 0; i < question.choices.size(); ++i) {
        prompt += "\n";
        prompt += choice_letter(i);
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
