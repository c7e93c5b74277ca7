// Looking at a client's JSON.
#pragma once

#include <string>

#include "engine/llama/schema_json.h"
#include "engine/llama/schema_text.h"

namespace dts {

// nullptr: there is none of that name.
inline const common_json* json_member(const common_json& node, const std::string& key) {
  return node.contains(key) ? &node.at(key) : nullptr;
}

// A value inside the line of an error, as shown_value() has it.
inline std::string shown_json(const common_json& value) {
  return shown_value(value.is_string() ? value.get<std::string>() : value.dump());
}

}  // namespace dts
