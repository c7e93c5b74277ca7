// What every file format becomes: named columns of cells, with enough left of the file to say where a cell came from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace dts::eval {

// A value that no column of a dataset can be, such as a JSON object.
struct Unsupported {
  std::string kind;  // for messages: "an object"
  bool operator==(const Unsupported&) const = default;
};

using TextList = std::vector<std::string>;

// std::monostate: the value is absent or null. Times and dates are text, as ISO 8601 writes them.
using DataCell = std::variant<std::monostate, bool, std::int64_t, double, std::string, TextList, Unsupported>;

struct DataColumn {
  std::string name;
  std::vector<DataCell> cells;  // [rows]
};

struct DataTable {
  std::string label;                 // the file, as messages call it
  std::vector<std::string> present;  // the names of all columns of the file, read or not
  std::vector<DataColumn> columns;   // those that were asked for and are there
  std::vector<std::size_t> lines;    // [rows] the line, from 1, on which a row begins; empty for a binary format
  std::size_t rows = 0;
};

// More is no dataset of questions but junk or a mistake; refusing it bounds what a file can cost.
inline constexpr std::size_t kMaxRows = 1'000'000;
inline constexpr std::size_t kMaxColumns = 10'000;

// "FILE: row 3 (line 17), column 'Answer'": how every message about a cell begins.
std::string where(const DataTable& table, std::size_t row, std::string_view column);

// "a number", "a list of strings", ...: what a cell is, for messages.
std::string kind_of(const DataCell& cell);

// The column of that name among those read, or null.
const DataColumn* find_column(const DataTable& table, std::string_view name);

enum class FileFormat { kCsv, kJsonl, kParquet };

// By the name's extension (.csv .jsonl .ndjson .json .parquet), else by the content. Throws Error for content that is
// known to be something else: a Git LFS pointer, a web page, an archive, UTF-16.
FileFormat detect_format(std::string_view bytes, const std::string& label);

// Reads the columns of `wanted` that the file has; others are not kept, and in parquet not even decoded. `label` is
// used for messages and for its extension. Throws Error with one line for anything malformed.
DataTable read_table(std::string_view bytes, const std::string& label, std::span<const std::string> wanted);

}  // namespace dts::eval
