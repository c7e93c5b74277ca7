// What a JSON schema of a stranger may cost before it is made a grammar.
#pragma once

#include <nlohmann/json.hpp>

namespace dts::serve {

// Throws a usage error. llama.cpp's converter writes a rule for every optional property that may follow another, and
// looks each of them up: 700 of them in one object took it 3.5 s, 1,500 took 34.
void check_schema_cost(const nlohmann::ordered_json& schema);

}  // namespace dts::serve
