// The tree file's JSON as a value, for documents that embed it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "dts/tree_file.h"

namespace dts {

// {"format": "dts-tree", "version": 1, ...}
nlohmann::ordered_json to_json(const TreeDocument& document);

// Throws dts::Error, its text starting with `name`, for anything that is not a consistent tree.
TreeDocument tree_from_json(const nlohmann::ordered_json& json, const std::string& name);

}  // namespace dts
