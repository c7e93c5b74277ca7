// What a trajectory answers, and whether it is right: by the rules that each dataset's own scorers use.
#pragma once

#include <string>
#include <string_view>

#include "dts/vote.h"
#include "eval/datasets/dataset.h"

namespace dts::eval {

// Of extraction, equivalence and the scorers together: raised when any of them changes what some answer is worth, so
// that one results file never mixes two of them.
inline constexpr int kGraderVersion = 7;

struct Grade {
  double score = 0;        // 0 to 1; between them only where LiveBench gives partial credit
  bool extracted = false;  // an answer was found, right or wrong
  std::string answer;      // as answer_for_vote() has it; empty: none
  std::string reason;      // for people: why it is right or wrong, one line
};

// The answer in one form for equal answers, so that votes can be counted by comparing strings; empty when there is
// none. It depends on what kind of answer the question wants, never on the right answer.
//
// Thinking does not answer: only what follows the last </think> is read, whether or not the opening tag is in the text.
// When thinking never ends, all of it is read, as scorers do that know no thinking: a trajectory that was cut off in it
// has no answer anyway, and is not graded.
//   integer, number  the last \boxed{}, else a number that is stated last ("The answer is 33. I am sure.", "#### 33")
//                    or ends the text; of an equation its value, nothing of an inequality or of several equations.
//                    number: else the only number of the box or of what is stated ("5 apples after 2 days"); and where
//                    no number is stated, the last number in the text, as GSM8K's scorers do
//   maths            the last \boxed{}, else what is stated last, else the formula or line that ends the text; with the
//                    letter it is the value of, and its unit
//   letter           see choice_letter()
//   LiveBench        see livebench.h
std::string answer_for_vote(const DatasetInfo& dataset, const Question& question, std::string_view trajectory,
                            bool opens_thinking);

// Which answers are one vote: the relation by which answers are right. None where equal answers are equal texts.
SameAnswer same_answers(const DatasetInfo& dataset);

// Integers and numbers are right when their values are equal, exactly; mathematics when equivalent() says so; letters
// when they are the same; LiveBench by its own scorers.
Grade grade(const DatasetInfo& dataset, const Question& question, std::string_view trajectory, bool opens_thinking);

}  // namespace dts::eval
