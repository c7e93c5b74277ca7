// What a grammar of a stranger may cost, before llama.cpp's parser and its stacks see it: they multiply repetitions out
// and follow every way into a rule, and print what they refuse to the terminal.
#pragma once

#include <string_view>

namespace dts {

// Throws a usage error for a grammar that is no GBNF, that is too large once its repetitions are multiplied out, or
// that can be gone on with in too many ways at one place. Elements that are tokens (<...>) are refused.
void check_grammar(std::string_view gbnf);

}  // namespace dts
