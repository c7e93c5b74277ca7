#include "engine/llama/schema_grammar.h"

#include <cassert>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#pragma GCC visibility push(hidden)
#include <json-schema-to-grammar.h>

// The three functions that the converter wants of llama.cpp's common.cpp, which itself wants half of the world.
std::string string_join(const std::vector<std::string>& values, const std::string& separator) {
  std::string joined;
  for (std::size_t i = 0; i < values.size(); ++i) joined += (i == 0 ? "" : separator) + values[i];
  return joined;
}

std::vector<std::string> string_split(const std::string& text, const std::string& delimiter) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end = text.find(delimiter); end != std::string::npos; end = text.find(delimiter, begin)) {
    parts.push_back(text.substr(begin, end - begin));
    begin = end + delimiter.size();
  }
  parts.push_back(text.substr(begin));
  return parts;
}

std::string string_repeat(const std::string& text, std::size_t n) {
  std::string repeated;
  for (std::size_t i = 0; i < n; ++i) repeated += text;
  return repeated;
}
#pragma GCC visibility pop

namespace dts {

std::string schema_grammar(const std::string& json_schema) {
  return json_schema_to_grammar(common_json::parse(json_schema), /*force_gbnf=*/true);
}

}  // namespace dts
