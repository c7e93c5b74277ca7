#include "eval/datasets/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "dts/error.h"
#include "eval/datasets/csv.h"
#include "eval/datasets/jsonl.h"
#include "eval/datasets/parquet/parquet_file.h"
#include "text/ascii.h"
#include "text/quote.h"

namespace dts::eval {
namespace {

using namespace text;

// What people have instead of the file they meant.
void refuse_strangers(std::string_view bytes, const std::string& label) {
  using Stranger = std::pair<std::string_view, std::string_view>;
  constexpr std::array<Stranger, 11> kStrangers = {{
      {"version https://git-lfs", "is a Git LFS pointer, not the data: fetch the file itself, as with `git lfs pull`"},
      {"<!DOCTYPE", "is a web page, not the data: perhaps the download needed a login"},
      {"<!doctype", "is a web page, not the data: perhaps the download needed a login"},
      {"<html", "is a web page, not the data: perhaps the download needed a login"},
      {"\x1F\x8B", "is compressed with gzip: unpack it first"},
      {"\x28\xB5\x2F\xFD", "is compressed with zstd: unpack it first"},
      {"PK\x03\x04", "is a zip archive: unpack it first"},
      {"ARROW1", "is an Arrow file: should be parquet, csv or jsonl"},
      {"SQLite format 3", "is an SQLite database: should be parquet, csv or jsonl"},
      {"\xFF\xFE", "is UTF-16: should be UTF-8"},
      {"\xFE\xFF", "is UTF-16: should be UTF-8"},
  }};
  for (const auto& [magic, message] : kStrangers) {
    if (bytes.starts_with(magic)) throw Error(fmt::format("{}: {}", label, message));
  }
}

std::string lower_extension(std::string_view label) {
  const std::size_t dot = label.rfind('.');
  if (dot == std::string_view::npos || label.find('/', dot) != std::string_view::npos) return {};
  return text::lower_case(label.substr(dot + 1));
}

// Text formats only. A zero byte is what junk has and no text.
void require_text(std::string_view bytes, const std::string& label) {
  const std::size_t zero = bytes.find('\0');
  if (zero != std::string_view::npos) {
    throw Error(fmt::format("{}: is not a text file: byte {} is zero", label, zero));
  }
}

}  // namespace

std::string where(const DataTable& table, std::size_t row, std::string_view column) {
  const std::string line = row < table.lines.size() ? fmt::format(" (line {})", table.lines[row]) : "";
  return fmt::format("{}: row {}{}, column {}", table.label, row + 1, line, in_quotes(column, 40));
}

std::string kind_of(const DataCell& cell) {
  struct Kind {
    std::string operator()(std::monostate) const { return "missing or null"; }
    std::string operator()(bool) const { return "a truth value"; }
    std::string operator()(std::int64_t) const { return "a whole number"; }
    std::string operator()(double) const { return "a number"; }
    std::string operator()(const std::string&) const { return "text"; }
    std::string operator()(const TextList&) const { return "a list of texts"; }
    std::string operator()(const Unsupported& other) const { return other.kind; }
  };
  return std::visit(Kind{}, cell);
}

const DataColumn* find_column(const DataTable& table, std::string_view name) {
  for (const DataColumn& column : table.columns) {
    if (column.name == name) return &column;
  }
  return nullptr;
}

FileFormat detect_format(std::string_view bytes, const std::string& label) {
  if (bytes.empty()) throw Error(fmt::format("{}: is empty", label));
  if (bytes.starts_with("PAR1")) return FileFormat::kParquet;  // whatever it is called
  refuse_strangers(bytes, label);
  const std::string extension = lower_extension(label);
  if (extension == "parquet") return FileFormat::kParquet;
  if (extension == "csv") return FileFormat::kCsv;
  if (extension == "jsonl" || extension == "ndjson" || extension == "json") return FileFormat::kJsonl;
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && bytes[first] == '{' ? FileFormat::kJsonl : FileFormat::kCsv;
}

DataTable read_table(std::string_view bytes, const std::string& label, std::span<const std::string> wanted) {
  const FileFormat format = detect_format(bytes, label);
  if (format == FileFormat::kParquet) return read_parquet(bytes, label, wanted);
  require_text(bytes, label);
  return format == FileFormat::kCsv ? read_csv(bytes, label, wanted) : read_jsonl(bytes, label, wanted);
}

}  // namespace dts::eval
