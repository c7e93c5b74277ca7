// In which form an answer is asked for, read and voted on.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/names.h"
#include "dts/text_search.h"

namespace dts {

enum class AnswerForm {
  kAuto,    // letter where the question lists options, boxed where it asks for a number or an expression, else text
  kBoxed,   // asks for \boxed{}, as the evaluation does; what means the same is one vote
  kLetter,  // asks for "Answer: X"; the letter votes
  kText,    // asks for nothing; texts that say the same in nearly the same words are one vote
};

inline constexpr Names<AnswerForm, 4> kAnswerForms = {{{"auto", AnswerForm::kAuto},
                                                       {"boxed", AnswerForm::kBoxed},
                                                       {"letter", AnswerForm::kLetter},
                                                       {"text", AnswerForm::kText}}};

// The form that a question is asked in: `form`, or what kAuto comes to. A question that asks for a form itself
// ("within \boxed{}") keeps it.
AnswerForm form_of(AnswerForm form, std::string_view question);

// The question with what asks for the form; unchanged where it asks already, and for text.
std::string asked_in(AnswerForm form, const std::string& question);

// What votes, as it was written, and which of those are one. `form` is none of kAuto.
AnswerReader form_reader(AnswerForm form, std::string_view question, bool opens_thinking);
SameAnswer form_equality(AnswerForm form);

// Whether two texts say the same in nearly the same words: four of five words are shared, case and punctuation aside,
// and the numbers and negations are the same. Answers of a word or two must be equal. Symmetric; linear time but for
// sorting, on at most the first 4 KiB of each.
bool same_text(std::string_view a, std::string_view b);

}  // namespace dts
