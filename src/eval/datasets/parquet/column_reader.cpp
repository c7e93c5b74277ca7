#include "eval/datasets/parquet/column_reader.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <utility>

#include "eval/datasets/parquet/codec.h"
#include "eval/datasets/parquet/levels.h"
#include "eval/datasets/parquet/values.h"

namespace dts::eval::parquet {
namespace {

class ChunkReader {
 public:
  ChunkReader(const ColumnChunk& chunk, const TopColumn& column, std::size_t num_rows, Budget& budget,
              std::vector<DataCell>& cells)
      : chunk_(chunk), column_(column), end_(cells.size() + num_rows), budget_(budget), cells_(cells) {}

  void read(Bytes pages) {
    ByteReader bytes(pages);
    const auto total = static_cast<std::uint64_t>(chunk_.num_values);
    std::uint64_t seen = 0;
    while (seen < total) {
      const PageHeader header = read_page_header(bytes);
      const Bytes page = bytes.take(static_cast<std::size_t>(header.compressed_size));
      if (header.crc && crc32(0, page.data(), static_cast<uInt>(page.size())) != *header.crc) {
        throw FormatError("a page's checksum is wrong: damaged data");
      }
      switch (header.type) {
        case PageType::kDictionary:
          read_dictionary(header, page);
          break;
        case PageType::kData:
          read_data(header, page);
          seen += static_cast<std::uint64_t>(header.num_values);
          break;
        case PageType::kDataV2:
          read_data_v2(header, page);
          seen += static_cast<std::uint64_t>(header.num_values);
          break;
        default:
          break;  // an index, or a kind that readers are told to pass over
      }
    }
    if (seen != total || cells_.size() != end_) {
      throw FormatError(
          fmt::format("its pages hold {} values of {} and {} rows too few", seen, total, end_ - cells_.size()));
    }
  }

 private:
  void read_dictionary(const PageHeader& header, Bytes page) {
    if (!dictionary_.empty()) throw FormatError("has two dictionaries in one row group");
    const auto data = decompress(chunk_.codec, page, static_cast<std::size_t>(header.uncompressed_size), budget_);
    ByteReader bytes(data);
    if (header.encoding != Encoding::kPlain && header.encoding != Encoding::kPlainDictionary) {
      throw FormatError("a dictionary in encoding " + name_of(header.encoding) + " is not supported");
    }
    dictionary_ =
        read_values(bytes, Encoding::kPlain, column_, static_cast<std::size_t>(header.num_values), {}, budget_);
  }

  void read_data(const PageHeader& header, Bytes page) {
    const auto data = decompress(chunk_.codec, page, static_cast<std::size_t>(header.uncompressed_size), budget_);
    ByteReader bytes(data);
    const auto count = static_cast<std::size_t>(header.num_values);
    const auto levels = [&](std::uint32_t max, Encoding encoding) {
      if (max == 0) return std::vector<std::uint32_t>();
      if (encoding != Encoding::kRle)
        throw FormatError("levels in encoding " + name_of(encoding) + " are not supported");
      ByteReader runs(bytes.take(bytes.little_endian<std::uint32_t>()));
      return read_rle(runs, bit_width_of(max), count, budget_);
    };
    const auto repetitions = levels(column_.is_list ? 1 : 0, header.repetition_encoding);
    const auto definitions = levels(column_.max_definition, header.definition_encoding);
    append(bytes, header, repetitions, definitions);
  }

  // Version 2 keeps the levels out of the compression and their sizes in the header.
  void read_data_v2(const PageHeader& header, Bytes page) {
    ByteReader whole(page);
    const auto count = static_cast<std::size_t>(header.num_values);
    const auto levels = [&](std::uint32_t max, std::int32_t size) {
      ByteReader runs(whole.take(static_cast<std::size_t>(size)));
      if (max == 0) return std::vector<std::uint32_t>();
      return read_rle(runs, bit_width_of(max), count, budget_);
    };
    const auto repetitions = levels(column_.is_list ? 1 : 0, header.repetition_bytes);
    const auto definitions = levels(column_.max_definition, header.definition_bytes);
    const auto level_bytes = static_cast<std::int64_t>(header.repetition_bytes) + header.definition_bytes;
    if (header.uncompressed_size < level_bytes) throw FormatError("a page is smaller than its levels");
    const auto size = static_cast<std::size_t>(header.uncompressed_size - level_bytes);
    const Codec codec = header.is_compressed ? chunk_.codec : Codec::kUncompressed;
    const auto data = decompress(codec, whole.take_rest(), size, budget_);
    ByteReader bytes(data);
    append(bytes, header, repetitions, definitions);
  }

  void append(ByteReader& bytes, const PageHeader& header, const std::vector<std::uint32_t>& repetitions,
              const std::vector<std::uint32_t>& definitions) {
    const auto count = static_cast<std::size_t>(header.num_values);
    const std::uint32_t max = column_.max_definition;
    const auto is_there = [max](std::uint32_t level) {
      if (level > max) throw FormatError("a definition level is out of range");
      return level == max;
    };
    const auto there =
        max == 0 ? count : static_cast<std::size_t>(std::count_if(definitions.begin(), definitions.end(), is_there));
    std::vector<DataCell> values = read_values(bytes, header.encoding, column_, there, dictionary_, budget_);
    std::size_t next = 0;
    if (column_.is_list) {
      for (std::size_t i = 0; i < count; ++i) append_item(repetitions[i], definitions[i], values, next);
      return;
    }
    check_room(count);
    budget_.charge(count - there, sizeof(DataCell));
    for (std::size_t i = 0; i < count; ++i) {
      if (max == 0 || definitions[i] == max) {
        cells_.push_back(std::move(values[next++]));
      } else {
        cells_.emplace_back();
      }
    }
  }

  void append_item(std::uint32_t repetition, std::uint32_t definition, std::vector<DataCell>& values,
                   std::size_t& next) {
    if (repetition > 1) throw FormatError("a repetition level is out of range");
    if (repetition == 0) {
      check_room(1);
      budget_.charge(sizeof(DataCell));
      cells_.emplace_back();
      if (definition >= column_.list_definition) cells_.back() = TextList();
      begun_ = true;
    }
    if (definition < column_.item_definition) {
      if (repetition != 0) throw FormatError("a list goes on without an item");
      return;
    }
    auto* list = begun_ ? std::get_if<TextList>(&cells_.back()) : nullptr;
    if (list == nullptr) throw FormatError("a list's item has no list");
    if (definition < column_.max_definition) throw FormatError("a null inside a list is not supported");
    list->push_back(std::move(std::get<std::string>(values[next++])));
  }

  void check_room(std::size_t more) const {
    if (more > end_ - cells_.size()) throw FormatError("its pages hold more rows than the row group has");
  }

  const ColumnChunk& chunk_;
  const TopColumn& column_;
  std::size_t end_;  // cells_ has this many when the row group is read
  Budget& budget_;
  std::vector<DataCell>& cells_;
  std::vector<DataCell> dictionary_;
  bool begun_ = false;  // a row of this chunk has begun
};

}  // namespace

void read_column_chunk(Bytes file, const ColumnChunk& chunk, const TopColumn& column, std::size_t num_rows,
                       Budget& budget, std::vector<DataCell>& cells) {
  if (chunk.encrypted) throw FormatError("is encrypted, which is not supported");
  if (!chunk.file_path.empty()) throw FormatError("lies in another file, which is not supported");
  if (chunk.type != column.type)
    throw FormatError("is " + name_of(chunk.type) + " here and " + name_of(column.type) + " in the schema");
  std::int64_t begin = chunk.data_page_offset;
  if (chunk.dictionary_page_offset > 0) begin = std::min(begin, chunk.dictionary_page_offset);
  if (begin < 0 || chunk.total_compressed_size < 0 || chunk.num_values < 0 ||
      static_cast<std::uint64_t>(begin) > file.size() ||
      static_cast<std::uint64_t>(chunk.total_compressed_size) > file.size() - static_cast<std::uint64_t>(begin)) {
    throw FormatError("lies outside the file");
  }
  ChunkReader reader(chunk, column, num_rows, budget, cells);
  reader.read(file.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(chunk.total_compressed_size)));
}

}  // namespace dts::eval::parquet
