#include "eval/datasets/parquet/parquet_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "dts/error.h"
#include "eval/datasets/parquet/column_reader.h"
#include "eval/datasets/parquet/metadata.h"
#include "eval/datasets/parquet/schema.h"
#include "text/quote.h"

namespace dts::eval {

using namespace text;
namespace parquet {
namespace {

constexpr std::string_view kMagic = "PAR1";
constexpr std::size_t kTail = 8;  // the footer's length and the magic

Bytes find_footer(std::string_view file) {
  if (!file.starts_with(kMagic)) throw FormatError("is not a parquet file: it does not begin with PAR1");
  if (file.ends_with("PARE")) throw FormatError("is an encrypted parquet file, which is not supported");
  if (file.size() < kMagic.size() + kTail || !file.ends_with(kMagic)) {
    throw FormatError("is a truncated parquet file: it does not end with PAR1");
  }
  const Bytes bytes(reinterpret_cast<const std::uint8_t*>(file.data()), file.size());
  const std::size_t size = ByteReader(bytes.last(kTail)).little_endian<std::uint32_t>();
  const std::size_t room = file.size() - kMagic.size() - kTail;
  if (size > room) {
    throw FormatError(
        fmt::format("is a damaged parquet file: a footer of {} bytes in a file of {}", size, file.size()));
  }
  return bytes.subspan(kMagic.size() + room - size, size);
}

std::size_t count_rows(const FileMetadata& metadata, const Schema& schema) {
  std::size_t rows = 0;
  for (const RowGroup& group : metadata.row_groups) {
    if (group.columns.size() != schema.leaves) {
      throw FormatError(
          fmt::format("has a row group of {} columns; the schema has {}", group.columns.size(), schema.leaves));
    }
    if (group.num_rows < 0) throw FormatError("has a row group of a negative number of rows");
    if (static_cast<std::uint64_t>(group.num_rows) > kMaxRows - rows) {
      throw FormatError(fmt::format("has more than {} rows", kMaxRows));
    }
    rows += static_cast<std::size_t>(group.num_rows);
  }
  if (metadata.num_rows != static_cast<std::int64_t>(rows)) {
    throw FormatError(fmt::format("has {} rows in its row groups and {} in its footer", rows, metadata.num_rows));
  }
  return rows;
}

DataColumn read_column(Bytes file, const FileMetadata& metadata, const TopColumn& top, Budget& budget) {
  DataColumn column{top.name, {}};
  try {
    if (!top.unsupported.empty()) throw FormatError("is " + top.unsupported + ", which is not supported");
    for (const RowGroup& group : metadata.row_groups) {
      read_column_chunk(file, group.columns[top.leaf], top, static_cast<std::size_t>(group.num_rows), budget,
                        column.cells);
    }
  } catch (const FormatError& error) {
    throw FormatError(fmt::format("column {}: {}", in_quotes(top.name, 40), error.what()));
  }
  return column;
}

DataTable read(std::string_view text, const std::string& label, std::span<const std::string> wanted) {
  const Bytes file(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  const FileMetadata metadata = read_file_metadata(find_footer(text));
  if (metadata.encrypted) throw FormatError("is an encrypted parquet file, which is not supported");
  const Schema schema = read_schema(metadata.schema);

  DataTable table;
  table.label = label;
  table.rows = count_rows(metadata, schema);
  for (const TopColumn& top : schema.columns) table.present.push_back(top.name);
  Budget budget(text.size());
  for (const TopColumn& top : schema.columns) {
    if (std::find(wanted.begin(), wanted.end(), top.name) == wanted.end()) continue;
    table.columns.push_back(read_column(file, metadata, top, budget));
  }
  return table;
}

}  // namespace
}  // namespace parquet

DataTable read_parquet(std::string_view bytes, const std::string& label, std::span<const std::string> wanted) {
  try {
    return parquet::read(bytes, label, wanted);
  } catch (const parquet::FormatError& error) {
    throw Error(fmt::format("{}: {}", label, error.what()));
  }
}

}  // namespace dts::eval
