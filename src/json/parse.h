// Text to JSON with limits, in time that grows with the text alone. nlohmann's own parser with a callback looks at
// every item of a list again whenever one more object in it ends: hours for a long list.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "dts/error.h"

namespace dts {

struct JsonLimits {
  int depth = 32;                        // of nested lists and objects
  std::size_t values = std::size_t(-1);  // lists, objects and what they hold
};

class JsonError : public Error {
 public:
  enum class What { kSyntax, kNumber, kDepth, kValues };

  JsonError(What what, std::size_t byte, const std::string& text) : Error(text), what_(what), byte_(byte) {}

  What reason() const { return what_; }
  std::size_t byte() const { return byte_; }  // where it breaks, from 1 on; beyond the text's end: it is cut short

 private:
  What what_;
  std::size_t byte_;
};

// Throws JsonError, whose text is one line.
nlohmann::json parse_json(std::string_view text, const JsonLimits& limits);

}  // namespace dts
