// What rewriting a client's schema may cost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "engine/llama/schema_json.h"
#include "engine/llama/schema_text.h"

namespace dts {

// Work is counted, not timed: the same schema is refused everywhere.
class SchemaBudget {
 public:
  static constexpr std::size_t kBytes = 16;  // that are copied in the time of one unit of work

  // Members looked at, or schemas written. Throws dts::Error once the schema has cost too much.
  void spend(std::size_t work) {
    work_ += static_cast<std::int64_t>(work) + 1;
    if (work_ > kMost) refuse_schema("it grows without measure once what it refers to is put in its place");
  }

  // All members of an object: llama.cpp's JSON counts to each.
  void spend_members(const common_json& object) { spend(object.size() + object.size() * object.size() / 64); }

  // A value, as JSON: in memory it is longer. Returns the text.
  const std::string& spend_value(const std::string& text) {
    spend(4 * text.size() / kBytes);
    return text;
  }

 private:
  static constexpr std::int64_t kMost = 2'000'000;  // some 0.1 s
  std::int64_t work_ = 0;
};

}  // namespace dts
