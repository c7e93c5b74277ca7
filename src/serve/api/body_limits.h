// How much JSON a body may be.
#pragma once

#include <cstddef>

#include "json/parse.h"
#include "serve/limits.h"

namespace dts::serve {

inline constexpr std::size_t kMostMembers = 10'000;  // of one object: much that reads JSON looks for keys one by one

// Two fields of one name would be two meanings: they are refused.
inline JsonLimits body_limits(const Limits& limits) {
  return {.depth = limits.json_depth,
          .values = static_cast<std::size_t>(limits.json_values),
          .members = kMostMembers,
          .unique_keys = true};
}

}  // namespace dts::serve
