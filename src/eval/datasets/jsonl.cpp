#include "eval/datasets/jsonl.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_set>
#include <utility>

#include "dts/error.h"
#include "json/parse.h"
#include "text/ascii.h"
#include "text/quote.h"

namespace dts::eval {
namespace {

using namespace text;

using Json = nlohmann::json;

// A parsed line takes many times its length in memory; no question is this long.
constexpr std::size_t kMaxLineBytes = std::size_t{16} << 20U;
constexpr int kMaxDepth = 32;

DataCell to_cell(Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return std::monostate{};
    case Json::value_t::boolean:
      return value.get<bool>();
    case Json::value_t::number_integer:
      return value.get<std::int64_t>();
    case Json::value_t::number_unsigned: {
      const auto number = value.get<std::uint64_t>();
      if (number <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        return static_cast<std::int64_t>(number);
      }
      return static_cast<double>(number);
    }
    case Json::value_t::number_float:
      return value.get<double>();
    case Json::value_t::string:
      return std::move(value.get_ref<std::string&>());
    case Json::value_t::array: {
      TextList list;
      for (Json& item : value) {
        if (!item.is_string()) return Unsupported{"an array of other things than strings"};
        list.push_back(std::move(item.get_ref<std::string&>()));
      }
      return list;
    }
    default:
      return Unsupported{"an object"};
  }
}

// The parser's text without the place, which is the line's, and with only what fits it.
std::string reason_of(std::string_view what) {
  const std::size_t colon = what.find(": ");
  std::string reason = in_quotes(colon == std::string_view::npos ? what : what.substr(colon + 2), 160);
  return reason.substr(1, reason.size() - 2);
}

Json parse_line(std::string_view line, const std::string& place) {
  if (line.size() > kMaxLineBytes) {
    throw Error(fmt::format("{} has {} bytes; a line should have no more than {}", place, line.size(), kMaxLineBytes));
  }
  try {
    Json object = parse_json(line, {.depth = kMaxDepth});
    if (object.is_object()) return object;
    throw Error(fmt::format("{} is a JSON {}; should be one object a line", place, object.type_name()));
  } catch (const JsonError& error) {
    if (error.reason() == JsonError::What::kDepth) {
      throw Error(fmt::format("{} nests values more than {} deep", place, kMaxDepth));
    }
    throw Error(fmt::format("{} is not JSON: {}", place, reason_of(error.what())));
  }
}

}  // namespace

DataTable read_jsonl(std::string_view text, const std::string& label, std::span<const std::string> wanted) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  DataTable table;
  table.label = label;
  std::unordered_set<std::string> known;

  std::size_t line_number = 0;
  while (!text.empty()) {
    ++line_number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;

    Json object = parse_line(line, fmt::format("{}: line {}", label, line_number));
    if (table.rows == kMaxRows) throw Error(fmt::format("{}: has more than {} rows", label, kMaxRows));
    for (const auto& [key, value] : object.items()) {
      if (!known.insert(key).second) continue;
      if (known.size() > kMaxColumns) throw Error(fmt::format("{}: has more than {} keys", label, kMaxColumns));
      table.present.push_back(key);
      if (std::find(wanted.begin(), wanted.end(), key) == wanted.end()) continue;
      table.columns.push_back({key, std::vector<DataCell>(table.rows)});  // null in the rows before
    }
    for (DataColumn& column : table.columns) {
      const auto found = object.find(column.name);
      column.cells.push_back(found == object.end() ? DataCell{} : to_cell(*found));
    }
    table.lines.push_back(line_number);
    ++table.rows;
  }
  if (table.rows == 0) throw Error(fmt::format("{}: is empty; should be one JSON object a line", label));
  return table;
}

}  // namespace dts::eval
