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
  int depth = 32;                         // of nested lists and objects
  std::size_t values = std::size_t(-1);   // lists, objects and what they hold
  std::size_t members = std::size_t(-1);  // of one object
  bool unique_keys = false;               // an object with the same key twice is refused; else the last one counts
};

class JsonError : public Error {
 public:
  enum class What { kSyntax, kNumber, kDepth, kValues, kMembers, kTwice };

  JsonError(What what, std::size_t byte, const std::string& text) : Error(text), what_(what), byte_(byte) {}

  What reason() const { return what_; }
  std::size_t byte() const { return byte_; }  // where it breaks, from 1 on; beyond the text's end: it is cut short

 private:
  What what_;
  std::size_t byte_;
};

// Throws JsonError, whose text is one line.
nlohmann::json parse_json(std::string_view text, const JsonLimits& limits);

// The same with the keys of each object in the order they came in, of a text in which parse_json() has found none
// twice: this does not look. In time that grows with the text alone, too; nlohmann's own looks for every key among
// those before it.
nlohmann::ordered_json parse_ordered_json(std::string_view text, const JsonLimits& limits);

}  // namespace dts
