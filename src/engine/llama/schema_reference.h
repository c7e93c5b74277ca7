// What `$ref` of a client's schema points at.
#pragma once

#include "engine/llama/schema_budget.h"
#include "engine/llama/schema_json.h"

namespace dts {

// `reference`: the value of `$ref`, a JSON pointer into `root` such as "#/$defs/a". Throws dts::Error in one line when
// it is none, or points at nothing.
const common_json& schema_target(const common_json& root, const common_json& reference, SchemaBudget& budget);

}  // namespace dts
