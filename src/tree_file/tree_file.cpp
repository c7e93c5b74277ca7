#include "dts/tree_file.h"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "dts/error.h"
#include "io/whole_file.h"
#include "json/parse.h"
#include "tree_file/tree_json.h"

namespace dts {
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{1} << 30U;
constexpr int kMaxDepth = 16;  // of nested values; a tree needs four

}  // namespace

TreeDocument tree_from_json_text(std::string_view text, const std::string& name) {
  nlohmann::json json;
  try {
    json = parse_json(text, {.depth = kMaxDepth});
  } catch (const JsonError& error) {
    switch (error.reason()) {
      case JsonError::What::kDepth:
        throw Error(name + ": no tree file: its values are nested deeper than " + std::to_string(kMaxDepth));
      case JsonError::What::kSyntax:
        if (error.byte() > text.size()) {
          throw Error(name + ": ends after " + std::to_string(text.size()) + " bytes, before its JSON does");
        }
        throw Error(name + ": not valid JSON at byte " + std::to_string(error.byte()));
      default:
        throw Error(name + ": not valid JSON: " + error.what());
    }
  }
  return tree_from_json(json, name);
}

void save_tree(const std::string& path, const TreeDocument& document) {
  write_whole_file(path, to_json_text(document));
}

TreeDocument load_tree(const std::string& path) {
  return tree_from_json_text(read_whole_file(path, kMaxFileBytes), path == "-" ? "standard input" : path);
}

}  // namespace dts
