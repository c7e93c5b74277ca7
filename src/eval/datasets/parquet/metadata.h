// The parts of parquet's metadata that reading needs, with parquet.thrift's names and numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "eval/datasets/parquet/bytes.h"

namespace dts::eval::parquet {

enum class PhysicalType : std::int32_t {
  kBoolean = 0,
  kInt32 = 1,
  kInt64 = 2,
  kInt96 = 3,
  kFloat = 4,
  kDouble = 5,
  kByteArray = 6,
  kFixedLenByteArray = 7,
};

enum class Repetition : std::int32_t { kRequired = 0, kOptional = 1, kRepeated = 2 };

enum class Codec : std::int32_t {
  kUncompressed = 0,
  kSnappy = 1,
  kGzip = 2,
  kLzo = 3,
  kBrotli = 4,
  kLz4 = 5,
  kZstd = 6,
  kLz4Raw = 7,
};

enum class Encoding : std::int32_t {
  kPlain = 0,
  kPlainDictionary = 2,
  kRle = 3,
  kBitPacked = 4,
  kDeltaBinaryPacked = 5,
  kDeltaLengthByteArray = 6,
  kDeltaByteArray = 7,
  kRleDictionary = 8,
  kByteStreamSplit = 9,
};

enum class PageType : std::int32_t { kData = 0, kIndex = 1, kDictionary = 2, kDataV2 = 3 };

// What a column's values mean, from the logical type or the older converted type.
enum class Meaning {
  kNone,
  kText,
  kList,
  kUnsigned,
  kDate,             // days since 1970
  kTimestampMillis,  // since 1970
  kTimestampMicros,
  kTimestampNanos,
  kOther,  // not supported; SchemaElement::meaning_name says which
};

struct SchemaElement {
  std::string name;
  std::optional<PhysicalType> type;  // groups have none
  std::int32_t type_length = 0;      // bytes, of kFixedLenByteArray
  Repetition repetition = Repetition::kRequired;
  std::int32_t num_children = 0;
  Meaning meaning = Meaning::kNone;
  std::string meaning_name;  // for messages, with kOther
};

struct ColumnChunk {
  std::string file_path;  // empty: this file
  bool encrypted = false;
  PhysicalType type = PhysicalType::kBoolean;
  Codec codec = Codec::kUncompressed;
  std::int64_t num_values = 0;             // nulls and the items of lists count
  std::int64_t total_compressed_size = 0;  // bytes, with the page headers
  std::int64_t data_page_offset = 0;       // in the file
  std::int64_t dictionary_page_offset = 0;
};

struct RowGroup {
  std::vector<ColumnChunk> columns;  // one for each leaf of the schema
  std::int64_t num_rows = 0;
};

struct FileMetadata {
  std::vector<SchemaElement> schema;  // the tree, parents before their children
  std::int64_t num_rows = 0;
  std::vector<RowGroup> row_groups;
  bool encrypted = false;
};

struct PageHeader {
  PageType type = PageType::kData;
  std::int32_t uncompressed_size = 0;
  std::int32_t compressed_size = 0;
  std::optional<std::uint32_t> crc;  // of the page as it lies in the file
  std::int32_t num_values = 0;
  Encoding encoding = Encoding::kPlain;
  Encoding definition_encoding = Encoding::kRle;  // version 1 only
  Encoding repetition_encoding = Encoding::kRle;
  std::int32_t definition_bytes = 0;  // version 2 only
  std::int32_t repetition_bytes = 0;
  bool is_compressed = true;
};

FileMetadata read_file_metadata(Bytes footer);
PageHeader read_page_header(ByteReader& bytes);

// For messages: "INT64", "SNAPPY", "DELTA_BYTE_ARRAY"; the number when there is no name.
std::string name_of(PhysicalType type);
std::string name_of(Codec codec);
std::string name_of(Encoding encoding);

}  // namespace dts::eval::parquet
