// Requests of other APIs are rewritten to OpenAI's; what the rewriting has in common.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "serve/api/api_error.h"

namespace dts::serve {

[[noreturn]] inline void wrong_field(const std::string& field, const std::string& what) {
  throw ApiError(400, fmt::format("{}: {}", field, what), field, "invalid_value");
}

// What is null is as good as missing.
inline void move_field(const nlohmann::ordered_json& from, const char* name, nlohmann::ordered_json& to,
                       const char* as) {
  const auto found = from.find(name);
  if (found != from.end() && !found->is_null()) to[as] = *found;
}

}  // namespace dts::serve
