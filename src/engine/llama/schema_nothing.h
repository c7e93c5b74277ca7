// Schemas that no value obeys.
#pragma once

#include <string>
#include <utility>

#include "engine/llama/schema_json.h"

namespace dts {

// What no value obeys is written as false, until all is written and it is known what that leaves of the rest: a
// property that need not be there is not, a list may be empty, an alternative is none.
inline common_json nothing_schema() { return common_json(false); }
inline bool is_nothing_schema(const common_json& schema) { return schema.is_boolean() && !schema.get<bool>(); }

// `alternatives`: a list of schemas.
inline common_json one_of_schemas(common_json alternatives) {
  if (alternatives.empty()) return nothing_schema();
  if (alternatives.size() == 1) return alternatives[0];
  common_json any = common_json::object();
  any["anyOf"] = std::move(alternatives);
  return any;
}

}  // namespace dts
