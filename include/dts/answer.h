// From a trajectory's text to the answer that votes.
#pragma once

#include <string>
#include <string_view>

namespace dts {

struct SplitText {
  std::string_view thinking;   // without its tags; empty when there is none
  std::string_view answer;     // what the user should read
  bool thinking_open = false;  // thinking was begun and never closed
};

// Splits at the last </think>. Handles all three habits: the model writes both tags, the prompt opened the tag
// (`opens_thinking`) and the model only closes it, or there is no thinking at all. Views into `text`.
SplitText split_thinking(std::string_view text, bool opens_thinking);

// Contents of the last brace-matched \boxed{...} or \fbox{...}, trimmed; blank ones do not count. Empty when there is
// none. Linear time.
std::string_view last_boxed(std::string_view text);

// A canonical form in which equal answers are equal strings, so that votes can be counted: trimmed, without $ and
// \text, simple LaTeX as plain text. Whatever has a rational value is written in one way: as a decimal where it ends,
// else as a fraction in lowest terms (+7, 07, 7.0 -> 7; 7,000 -> 7000; \frac{1}{2}, .5, 2/4 -> 0.5; 2/6 -> 1/3;
// 1\frac{1}{2} -> 1.5; 3\times10^{5} -> 300000; 4! -> 24). Units and signs of percent, degrees and currency are
// dropped; (A) -> a; sets, and lists of numbers without brackets, are sorted. Answers that are no numbers keep their
// words, case folded. Normalising twice changes nothing more. Any bytes are accepted; linear time.
std::string normalise_answer(std::string_view answer);

// Whether two answers mean the same: equal normal forms, or equal values of closed form (\sqrt{8} and 2\sqrt{2}), or
// the same function of the same letters (x^2-1 and (x-1)(x+1)), or parts that are equivalent: tuples and intervals in
// order and with the same brackets, sets and bare lists of numbers in any order, unions, relations either way round.
// Who leaves out a letter or unit says less: 5 is x=5 and 5 cm, but x=5 is not y=5. 50% is both 50 and 0.5. An
// approximate decimal is not the irrational number. docs/evaluation.md has the rules. Symmetric and reflexive, and
// transitive among answers that leave nothing out; any bytes are accepted, at a bounded cost.
bool equivalent(std::string_view a, std::string_view b);

// The normalised answer of a trajectory: the last \boxed{} of its answer part, else of the whole text; without any,
// what the answer part states last ("The answer is 7. I am sure."), else the formula or value that ends it, else its
// last line, unless that is too long to be an answer. Empty when there is none.
std::string extract_answer(std::string_view text, bool opens_thinking);

}  // namespace dts
