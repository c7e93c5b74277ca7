#include "engine/llama/schema_grammar.h"

#include <fmt/format.h>

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

#include "engine/llama/schema_plain.h"
#include "engine/llama/schema_text.h"
#include "engine/llama/schema_work.h"

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
namespace {

// A byte of a character, so that it means itself there.
std::string in_class(char c) {
  const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c & 0x80) != 0;
  return plain ? std::string(1, c) : fmt::format("\\x{:02X}", static_cast<unsigned char>(c));
}

// A property that is none of those named may be anything in the converter's eyes that does not begin with a quote: a
// line's end, or half of an escape. And the characters that its name must not go on with are written as they are, where
// +-l is a range. Nothing else in a grammar of a plain schema is written so.
std::string with_keys_of_json(const std::string& grammar) {
  constexpr std::string_view kAnyButAQuote = "[^\"";
  constexpr std::string_view kNotInJson = "\\\\\\x7F\\x00-\\x1F";
  std::string text;
  std::size_t begin = 0;
  for (std::size_t at = grammar.find(kAnyButAQuote); at != std::string::npos; at = grammar.find(kAnyButAQuote, begin)) {
    text += grammar.substr(begin, at + kAnyButAQuote.size() - begin);
    begin = at + kAnyButAQuote.size();
    if (grammar.compare(begin, kNotInJson.size(), kNotInJson) == 0) continue;
    for (; begin < grammar.size() && grammar[begin] != ']'; ++begin) text += in_class(grammar[begin]);
    text += kNotInJson;
  }
  return text + grammar.substr(begin);
}

common_json parsed(const std::string& json_schema) {
  try {
    return common_json::parse(json_schema);
  } catch (const std::exception& error) {
    refuse_schema("it is no JSON: " + shown_value(error.what()));
  }
}

}  // namespace

std::string schema_grammar(const std::string& json_schema) {
  const common_json plain = plain_schema(parsed(json_schema));
  check_schema_work(plain);
  std::string grammar;
  try {
    grammar = json_schema_to_grammar(plain, /*force_gbnf=*/true);
  } catch (const std::exception& error) {
    refuse_schema("llama.cpp's converter says " + shown_value(error.what()));
  }
  return with_keys_of_json(grammar);
}

}  // namespace dts
