// From a JSON schema to the grammar of what it allows, by llama.cpp's own converter.
#pragma once

#include <string>

namespace dts {

// GBNF with a rule `root`. Throws dts::Error in one line when the text is no JSON or the schema cannot be had as a
// grammar, in bounded time, and prints nothing. It recurses: bound the text, and call it with stack to spare.
std::string schema_grammar(const std::string& json_schema);

}  // namespace dts
