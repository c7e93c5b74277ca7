#include "eval/datasets/parquet/metadata.h"

#include <array>
#include <string_view>

#include "eval/datasets/parquet/thrift.h"

namespace dts::eval::parquet {
namespace {

// An empty struct takes one byte in the file and a hundred in memory; a file of questions needs a few dozen.
constexpr std::size_t kMaxParts = 200'000;

// The name of a number; the number itself where parquet.thrift has none.
template <std::size_t N>
std::string name_in(const std::array<std::string_view, N>& names, std::int32_t value, std::string_view kind) {
  if (value >= 0 && static_cast<std::size_t>(value) < N && !names[static_cast<std::size_t>(value)].empty()) {
    return std::string(names[static_cast<std::size_t>(value)]);
  }
  return "unknown " + std::string(kind) + " " + std::to_string(value);
}

constexpr std::array<std::string_view, 22> kConvertedNames = {"UTF8",
                                                              "MAP",
                                                              "MAP_KEY_VALUE",
                                                              "LIST",
                                                              "ENUM",
                                                              "DECIMAL",
                                                              "DATE",
                                                              "TIME_MILLIS",
                                                              "TIME_MICROS",
                                                              "TIMESTAMP_MILLIS",
                                                              "TIMESTAMP_MICROS",
                                                              "UINT_8",
                                                              "UINT_16",
                                                              "UINT_32",
                                                              "UINT_64",
                                                              "INT_8",
                                                              "INT_16",
                                                              "INT_32",
                                                              "INT_64",
                                                              "JSON",
                                                              "BSON",
                                                              "INTERVAL"};

constexpr std::array<std::string_view, 19> kLogicalNames = {
    "",        "STRING",  "MAP",  "LIST", "ENUM", "DECIMAL", "DATE",    "TIME",     "TIMESTAMP", "",
    "INTEGER", "UNKNOWN", "JSON", "BSON", "UUID", "FLOAT16", "VARIANT", "GEOMETRY", "GEOGRAPHY"};

void set_other(SchemaElement& element, std::string name) {
  element.meaning = Meaning::kOther;
  element.meaning_name = std::move(name);
}

void set_converted(SchemaElement& element, std::int32_t converted) {
  switch (converted) {
    case 0:   // UTF8
    case 4:   // ENUM
    case 19:  // JSON
      element.meaning = Meaning::kText;
      return;
    case 3:
      element.meaning = Meaning::kList;
      return;
    case 6:
      element.meaning = Meaning::kDate;
      return;
    case 9:
      element.meaning = Meaning::kTimestampMillis;
      return;
    case 10:
      element.meaning = Meaning::kTimestampMicros;
      return;
    case 11:  // UINT_8 to UINT_64
    case 12:
    case 13:
    case 14:
      element.meaning = Meaning::kUnsigned;
      return;
    case 15:  // INT_8 to INT_64
    case 16:
    case 17:
    case 18:
      element.meaning = Meaning::kNone;
      return;
    default:
      set_other(element, name_in(kConvertedNames, converted, "converted type"));
  }
}

Meaning read_timestamp(ThriftReader& reader, ThriftType type) {
  Meaning meaning = Meaning::kOther;
  reader.read_struct(type, [&](int id, ThriftType field) {
    if (id != 2) return reader.skip(field);
    reader.read_struct(field, [&](int unit, ThriftType empty) {
      meaning = unit == 1   ? Meaning::kTimestampMillis
                : unit == 2 ? Meaning::kTimestampMicros
                : unit == 3 ? Meaning::kTimestampNanos
                            : Meaning::kOther;
      reader.skip(empty);
    });
  });
  return meaning;
}

Meaning read_integer_meaning(ThriftReader& reader, ThriftType type) {
  Meaning meaning = Meaning::kNone;
  reader.read_struct(type, [&](int id, ThriftType field) {
    if (id != 2) return reader.skip(field);
    if (!reader.read_bool(field)) meaning = Meaning::kUnsigned;
  });
  return meaning;
}

// A union: a struct of which one field is set.
void read_logical_type(ThriftReader& reader, ThriftType type, SchemaElement& element) {
  reader.read_struct(type, [&](int id, ThriftType field) {
    switch (id) {
      case 1:   // STRING
      case 4:   // ENUM
      case 12:  // JSON
        element.meaning = Meaning::kText;
        return reader.skip(field);
      case 3:
        element.meaning = Meaning::kList;
        return reader.skip(field);
      case 6:
        element.meaning = Meaning::kDate;
        return reader.skip(field);
      case 8:
        element.meaning = read_timestamp(reader, field);
        if (element.meaning == Meaning::kOther) element.meaning_name = "TIMESTAMP of an unknown unit";
        return;
      case 10:
        element.meaning = read_integer_meaning(reader, field);
        return;
      case 11:  // UNKNOWN: a column of nulls
        element.meaning = Meaning::kNone;
        return reader.skip(field);
      default:
        set_other(element, name_in(kLogicalNames, id, "logical type"));
        return reader.skip(field);
    }
  });
}

SchemaElement read_schema_element(ThriftReader& reader, ThriftType type) {
  SchemaElement element;
  std::optional<std::int32_t> converted;
  bool has_logical = false;
  reader.read_struct(type, [&](int id, ThriftType field) {
    switch (id) {
      case 1:
        element.type = static_cast<PhysicalType>(reader.read_i32(field));
        return;
      case 2:
        element.type_length = reader.read_i32(field);
        return;
      case 3:
        element.repetition = static_cast<Repetition>(reader.read_i32(field));
        return;
      case 4:
        element.name = reader.read_text(field);
        return;
      case 5:
        element.num_children = reader.read_i32(field);
        return;
      case 6:
        converted = reader.read_i32(field);
        return;
      case 10:
        has_logical = true;
        return read_logical_type(reader, field, element);
      default:
        return reader.skip(field);
    }
  });
  if (converted && !has_logical) set_converted(element, *converted);
  return element;
}

void read_column_metadata(ThriftReader& reader, ThriftType type, ColumnChunk& chunk) {
  reader.read_struct(type, [&](int id, ThriftType field) {
    switch (id) {
      case 1:
        chunk.type = static_cast<PhysicalType>(reader.read_i32(field));
        return;
      case 4:
        chunk.codec = static_cast<Codec>(reader.read_i32(field));
        return;
      case 5:
        chunk.num_values = reader.read_integer(field);
        return;
      case 7:
        chunk.total_compressed_size = reader.read_integer(field);
        return;
      case 9:
        chunk.data_page_offset = reader.read_integer(field);
        return;
      case 11:
        chunk.dictionary_page_offset = reader.read_integer(field);
        return;
      default:
        return reader.skip(field);
    }
  });
}

ColumnChunk read_column_chunk(ThriftReader& reader, ThriftType type) {
  ColumnChunk chunk;
  reader.read_struct(type, [&](int id, ThriftType field) {
    switch (id) {
      case 1:
        chunk.file_path = reader.read_text(field);
        return;
      case 3:
        return read_column_metadata(reader, field, chunk);
      case 8:  // how it is encrypted
      case 9:  // its metadata, encrypted
        chunk.encrypted = true;
        return reader.skip(field);
      default:
        return reader.skip(field);
    }
  });
  return chunk;
}

// `chunks` counts those of the whole file.
RowGroup read_row_group(ThriftReader& reader, ThriftType type, std::size_t& chunks) {
  RowGroup group;
  reader.read_struct(type, [&](int id, ThriftType field) {
    switch (id) {
      case 1:
        return reader.read_list(field, [&](ThriftType item) {
          if (++chunks > kMaxParts) throw FormatError("metadata has too many columns and row groups");
          group.columns.push_back(read_column_chunk(reader, item));
        });
      case 3:
        group.num_rows = reader.read_integer(field);
        return;
      default:
        return reader.skip(field);
    }
  });
  return group;
}

// The three kinds of page have headers of their own, which begin alike but for the encoding's place.
void read_data_page(ThriftReader& reader, ThriftType type, PageHeader& header) {
  reader.read_struct(type, [&](int id, ThriftType field) {
    switch (id) {
      case 1:
        header.num_values = reader.read_i32(field);
        return;
      case 2:
        header.encoding = static_cast<Encoding>(reader.read_i32(field));
        return;
      case 3:
        header.definition_encoding = static_cast<Encoding>(reader.read_i32(field));
        return;
      case 4:
        header.repetition_encoding = static_cast<Encoding>(reader.read_i32(field));
        return;
      default:
        return reader.skip(field);
    }
  });
}

void read_dictionary_page(ThriftReader& reader, ThriftType type, PageHeader& header) {
  reader.read_struct(type, [&](int id, ThriftType field) {
    switch (id) {
      case 1:
        header.num_values = reader.read_i32(field);
        return;
      case 2:
        header.encoding = static_cast<Encoding>(reader.read_i32(field));
        return;
      default:
        return reader.skip(field);
    }
  });
}

void read_data_page_v2(ThriftReader& reader, ThriftType type, PageHeader& header) {
  reader.read_struct(type, [&](int id, ThriftType field) {
    switch (id) {
      case 1:
        header.num_values = reader.read_i32(field);
        return;
      case 4:
        header.encoding = static_cast<Encoding>(reader.read_i32(field));
        return;
      case 5:
        header.definition_bytes = reader.read_i32(field);
        return;
      case 6:
        header.repetition_bytes = reader.read_i32(field);
        return;
      case 7:
        header.is_compressed = reader.read_bool(field);
        return;
      default:
        return reader.skip(field);
    }
  });
}

}  // namespace

FileMetadata read_file_metadata(Bytes footer) {
  ByteReader bytes(footer);
  ThriftReader reader(bytes);
  FileMetadata metadata;
  std::size_t chunks = 0;
  reader.read_struct([&](int id, ThriftType field) {
    switch (id) {
      case 2:
        return reader.read_list(field, [&](ThriftType item) {
          if (metadata.schema.size() == kMaxParts) throw FormatError("metadata has too many columns");
          metadata.schema.push_back(read_schema_element(reader, item));
        });
      case 3:
        metadata.num_rows = reader.read_integer(field);
        return;
      case 4:
        return reader.read_list(field, [&](ThriftType item) {
          if (metadata.row_groups.size() == kMaxParts) throw FormatError("metadata has too many row groups");
          metadata.row_groups.push_back(read_row_group(reader, item, chunks));
        });
      case 8:  // the encryption's algorithm
        metadata.encrypted = true;
        return reader.skip(field);
      default:
        return reader.skip(field);
    }
  });
  return metadata;
}

PageHeader read_page_header(ByteReader& bytes) {
  ThriftReader reader(bytes);
  PageHeader header;
  reader.read_struct([&](int id, ThriftType field) {
    switch (id) {
      case 1:
        header.type = static_cast<PageType>(reader.read_i32(field));
        return;
      case 2:
        header.uncompressed_size = reader.read_i32(field);
        return;
      case 3:
        header.compressed_size = reader.read_i32(field);
        return;
      case 4:
        header.crc = static_cast<std::uint32_t>(reader.read_i32(field));
        return;
      case 5:
        return read_data_page(reader, field, header);
      case 7:
        return read_dictionary_page(reader, field, header);
      case 8:
        return read_data_page_v2(reader, field, header);
      default:
        return reader.skip(field);
    }
  });
  if (header.uncompressed_size < 0 || header.compressed_size < 0 || header.num_values < 0 ||
      header.definition_bytes < 0 || header.repetition_bytes < 0) {
    throw FormatError("a page has a negative size");
  }
  return header;
}

std::string name_of(PhysicalType type) {
  constexpr std::array<std::string_view, 8> kNames = {"BOOLEAN", "INT32",  "INT64",      "INT96",
                                                      "FLOAT",   "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"};
  return name_in(kNames, static_cast<std::int32_t>(type), "type");
}

std::string name_of(Codec codec) {
  constexpr std::array<std::string_view, 8> kNames = {"UNCOMPRESSED", "SNAPPY", "GZIP", "LZO",
                                                      "BROTLI",       "LZ4",    "ZSTD", "LZ4_RAW"};
  return name_in(kNames, static_cast<std::int32_t>(codec), "codec");
}

std::string name_of(Encoding encoding) {
  constexpr std::array<std::string_view, 10> kNames = {"PLAIN",
                                                       "",
                                                       "PLAIN_DICTIONARY",
                                                       "RLE",
                                                       "BIT_PACKED",
                                                       "DELTA_BINARY_PACKED",
                                                       "DELTA_LENGTH_BYTE_ARRAY",
                                                       "DELTA_BYTE_ARRAY",
                                                       "RLE_DICTIONARY",
                                                       "BYTE_STREAM_SPLIT"};
  return name_in(kNames, static_cast<std::int32_t>(encoding), "encoding");
}

}  // namespace dts::eval::parquet
