// Sentences that describe the choice they name, or come back to one that they named: "the only option that fits is B",
// "exactly what C states", "..., which is my answer".
#pragma once

#include <string_view>

namespace dts::letters {

// Of what begins with "option", "statement", "one" and the like: "the only option consistent with both is D."
char described_letter(std::string_view text, std::string_view before, char last);
// Of what begins with "what": "that is what B says."
char quoted_letter(std::string_view text, std::string_view before, char last);
// Of what begins with "which is the answer" or the like: the letter that it speaks of.
char referred_letter(std::string_view text, std::string_view before, char last);

}  // namespace dts::letters
