// Which of the schemas that were written some value obeys, and what the others leave of them.
#pragma once

#include <string>
#include <vector>

#include "engine/llama/schema_budget.h"
#include "engine/llama/schema_json.h"

namespace dts {

// `written`: by number, as plain_schema() has them, the whole at 0; "#/N" refers to N. What no value obeys is false in
// them and nowhere in the result, which has those that are left under their numbers. `why`: the first contradiction,
// or empty. Throws dts::Error in one line when no value obeys the whole.
common_json possible_schemas(std::vector<common_json> written, const std::string& why, SchemaBudget& budget);

}  // namespace dts
