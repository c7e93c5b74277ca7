// A client's JSON schema, rewritten in the few words that llama.cpp's converter is safe with.
#pragma once

#include "engine/llama/schema_json.h"

namespace dts {

// The converter follows references inside `allOf` for ever, takes of keywords that stand side by side only some, copies
// what a list of types stands beside for each of them, mixes up definitions and properties whose names differ in signs
// only, wraps counts of more than 31 bits, and prints what it makes nothing of. None of these is left here.
//
// The result is {"$ref": "#/0", "0": schema, "1": schema, ...}. Each of the schemas has one meaning only: a reference
// "#/N", `anyOf`, `const` or `enum`, or one `type` with the keywords that belong to it; {} is any value. What is
// referred to, and what is put together from several schemas (`allOf`, or keywords beside `$ref` or `anyOf`), is
// written once. Throws dts::Error in one line, also when it would grow without measure.
common_json plain_schema(const common_json& schema);

}  // namespace dts
