// The letter a multiple-choice answer names.
#pragma once

#include <string_view>

namespace dts {

// The letter, upper case, from A up to the number of `choices`; '\0' when the text names none. Where simple-evals finds
// one, (?i)Answer[ \t]*:[ \t]*\$?([A-D])\$? at its first occurrence, it is that one. Else the first of these that is
// there at all decides, and its last occurrence counts:
//   1. "Answer: B" dressed as "**Answer:** (B)", and \boxed{B}, \boxed{\text{(B) 5 eV}}, \boxed{\text{Option } B}: of
//   the two, whichever comes last; and <answer>B</answer>
//   2. "the answer is most likely B", "is not A but B", "Answer - B", "going with B", "I pick B.", "which matches B.",
//   "which leaves B.", "B is correct", "only B is consistent", "A is not the answer; B is.", "the correct statement is
//   B.", "the only option that fits is B.", "B, which is my answer.", "Thus, B.", "Conclusion: B"; at the end of the
//   text
//   "... corresponds to B."; the same in other languages, "故选B"; and the one option that is right in a list that
//   judges one after the other (verdict_list.h)
//   3. "the correct option is (B)", "choice B"
//   4. a last line that is a letter, or begins with one as options do: "B", "(B)", "B) 5 eV", "-> B"; not the last of a
//   list of options
//   5. "(B)"
//   6. "**Answer:** Boron"
// A letter that is named to be refused is passed over ("not option C", "rather than C", "option C is wrong", "I don't
// think the answer is C"), and so are several ("B or C", "both A and D are"), suppositions ("if C is correct"), items
// of a list of options and what only looks like a choice ("D-glucose", "C_6", "a ketone", "vitamin C"). Wide forms,
// curly quotes and tags of HTML are read as what they stand for. These read only the last 256 KiB of the text.
char choice_letter(std::string_view text, int choices = 4);

}  // namespace dts
