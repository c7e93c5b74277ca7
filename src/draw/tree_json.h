// The tree file's JSON as a value.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "dts/tree_file.h"

namespace dts {

inline constexpr const char* kTreeFormat = "dts-tree";
inline constexpr int kTreeVersion = 1;

// Throws dts::Error, its text starting with `name`, for anything that is not a consistent tree.
TreeDocument tree_from_json(const nlohmann::json& json, const std::string& name);

}  // namespace dts
