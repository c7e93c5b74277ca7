// The letter of a choice as languages other than English name it: "故选B", "选项C正确", "Die Antwort ist D, weil".
#pragma once

#include <string_view>

namespace dts::letters {

// Of a text that begins with such words, or with the letter that is judged; '\0' when it names none. `before` is what
// stands before it, and `last` the letter of the last choice.
char letter_abroad(std::string_view text, std::string_view before, char last);

}  // namespace dts::letters
