// A JSON schema's `pattern`, from what it says of a string's value to what it means for the string as JSON writes it.
#pragma once

#include <string>

namespace dts {

// The pattern in the words of llama.cpp's converter, which takes a pattern for the text between the quotes as it is: a
// quote, a backslash or a control character that the pattern admits comes as its escape, or not at all (a dot and
// negated classes admit the others only). Begins with ^ and ends with $: what is not anchored may have anything before
// or after it. Every string that it admits, the pattern admits, but for what the pattern asks for by looking around,
// which is left out. Throws dts::Error in one line.
std::string json_pattern(const std::string& pattern);

}  // namespace dts
