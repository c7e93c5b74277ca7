// Writes parquet files, so that the reader can be tried with any value, page and level, and with lies.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "eval/datasets/parquet/metadata.h"
#include "eval/datasets/table.h"

namespace dts::eval::test {

struct WrittenColumn {
  std::string name;
  parquet::PhysicalType type = parquet::PhysicalType::kByteArray;
  parquet::Encoding encoding = parquet::Encoding::kPlain;  // kRleDictionary writes a dictionary, too
  bool nullable = true;
  bool is_list = false;  // of text
  std::vector<DataCell> cells;
  std::int32_t converted_type = -1;  // of parquet.thrift; -1: none
};

struct WriteOptions {
  parquet::Codec codec = parquet::Codec::kUncompressed;  // or kSnappy, kZstd
  int page_version = 1;
  std::size_t rows_per_group = 1000;
  std::size_t rows_per_page = 1000;
  bool checksums = false;
  bool long_runs = true;  // levels and indices as runs where they can be; else all bit-packed
  // Lies.
  std::int64_t claimed_values = -1;  // of every page, instead of the truth
  std::int64_t claimed_size = -1;    // of every page before compression
};

std::string write_parquet(const std::vector<WrittenColumn>& columns, const WriteOptions& options);

}  // namespace dts::eval::test
