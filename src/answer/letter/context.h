// What the words around the letter of a choice say of it: that it is the one, that it is not, or that it is only
// supposed.
#pragma once

#include <string_view>

namespace dts::letters {

// Of what stands before a letter.
//
// "not option C", "rather than (C)".
bool is_rejected(std::string_view before);
// "if B is correct", "A or B is correct".
bool is_supposed(std::string_view before);
// "the wrong answer".
bool is_faulty(std::string_view before);
// "..., since option C lacks": what comes speaks for another one.
bool is_compared(std::string_view before);
// "None of this matches B".
bool is_of_none(std::string_view before);
// "(A) and " and "(A) or ", before another letter in brackets.
bool is_listed(std::string_view before);
// "B is not the correct answer; " has just been said.
bool is_correction(std::string_view before);

// Something in the clause turns round what it says: "the only option that fails".
bool is_reversed(std::string_view clause);
// "I can't decide between the two": what was said before is taken back.
bool gives_up(std::string_view text);

// Of what follows a letter.
//
// The text ends within the sentence: "Option B is".
bool is_cut_off(std::string_view after);
// "B would be the answer if T were higher".
bool is_counterfactual(std::string_view after);
// "C is wrong", "C: no".
bool is_blamed(std::string_view after);
// Without what sets the letter against others: "B, and not D, is" goes on with "is".
std::string_view without_aside(std::string_view after);
// "C as the final answer"; and with what stands before it, "makes C the right choice".
bool is_the_answer(std::string_view before, std::string_view after);
// "C is correct".
bool is_praised(std::string_view after);
// "C: correct", as a list has it.
bool is_listed_as_right(std::string_view after);
// The sentence or the line ends here, or gives its reason.
bool concludes(std::string_view after);
// "B because", "B, since", "B \u2013 the others".
bool gives_reason(std::string_view after);
// More letters follow, up to `last`: "B or C", "A, B, and D", "A and C.".
bool goes_on_listing(std::string_view after, char last);

// Of what begins with a letter.
//
// "A compound": not the choice A.
bool is_article(std::string_view text);

}  // namespace dts::letters
