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

// A canonical form in which equal answers are equal strings: trimmed, without $ and \text, with plain numbers written
// one way (+7, 07, 7.0, 7,000 -> 7, 7, 7, 7000) and simple LaTeX as plain text (\frac{1}{2} -> 1/2); signs of percent,
// degrees and currency dropped; (A) -> a. Answers that are no numbers keep their words, case folded. Normalising
// twice changes nothing more. Any bytes are accepted.
std::string normalise_answer(std::string_view answer);

// The normalised answer of a trajectory: the last \boxed{} of its answer part, else of the whole text; without any, the
// last line of the answer part, less a lead-in such as "The answer is", unless it is too long to be an answer. Empty when
// there is none.
std::string extract_answer(std::string_view text, bool opens_thinking);

}  // namespace dts
