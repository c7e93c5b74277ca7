// The tree file's JSON as a value.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "dts/tree_file.h"

namespace dts {

inline constexpr const char* kTreeFormat = "dts-tree";
inline constexpr int kTreeVersion = 1;

// Parts of it that others write, too.
// `method`, `sampling`, `stat_temp`, `seed` and the token budgets.
void put_options(nlohmann::ordered_json& json, const SearchOptions& options);
nlohmann::ordered_json account_json(const Account& account, double flops);
nlohmann::ordered_json engine_json(const EngineRecord& engine);
nlohmann::ordered_json times_json(const TreeTimes& times);

// Throws dts::Error, its text starting with `name`, for anything that is not a consistent tree.
TreeDocument tree_from_json(const nlohmann::json& json, const std::string& name);

}  // namespace dts
