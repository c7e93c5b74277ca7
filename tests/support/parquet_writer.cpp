#include "support/parquet_writer.h"

#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "eval/datasets/parquet/levels.h"

namespace dts::eval::test {
namespace {

using parquet::Codec;
using parquet::Encoding;
using parquet::PhysicalType;

// --- numbers ------------------------------------------------------------------------------------

void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7U) out += static_cast<char>((value & 0x7FU) | 0x80U);
  out += static_cast<char>(value);
}

void put_zigzag(std::string& out, std::int64_t value) {
  put_varint(out, (static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63));
}

template <typename T>
void put_raw(std::string& out, T value) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out.append(bytes, sizeof(T));
}

void put_bits(std::string& out, const std::vector<std::uint64_t>& values, unsigned width) {
  std::string packed((values.size() * width + 7) / 8, '\0');
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (unsigned b = 0; b < width; ++b) {
      const std::size_t bit = i * width + b;
      if (((values[i] >> b) & 1U) != 0) packed[bit / 8] = static_cast<char>(packed[bit / 8] | (1 << (bit % 8)));
    }
  }
  out += packed;
}

std::string hybrid(const std::vector<std::uint32_t>& values, unsigned width, bool long_runs) {
  std::string out;
  for (std::size_t at = 0; at < values.size();) {
    std::size_t run = 1;
    while (at + run < values.size() && values[at + run] == values[at]) ++run;
    if (long_runs && (run >= 8 || at + run == values.size())) {
      put_varint(out, run << 1U);
      for (unsigned b = 0; b < width; b += 8) out += static_cast<char>(values[at] >> b);
      at += run;
    } else {
      std::vector<std::uint64_t> group(8, 0);
      const std::size_t count = std::min<std::size_t>(8, values.size() - at);
      std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(at), count, group.begin());
      put_varint(out, (1U << 1U) | 1U);
      put_bits(out, group, width);
      at += count;
    }
  }
  return out;
}

std::string deltas(const std::vector<std::int64_t>& values) {
  constexpr std::size_t kBlock = 128;
  constexpr std::size_t kMiniblocks = 4;
  std::string out;
  put_varint(out, kBlock);
  put_varint(out, kMiniblocks);
  put_varint(out, values.size());
  put_zigzag(out, values.empty() ? 0 : values[0]);
  for (std::size_t at = 1; at < values.size(); at += kBlock) {
    std::vector<std::int64_t> block;
    for (std::size_t i = at; i < std::min(values.size(), at + kBlock); ++i) {
      block.push_back(
          static_cast<std::int64_t>(static_cast<std::uint64_t>(values[i]) - static_cast<std::uint64_t>(values[i - 1])));
    }
    const std::int64_t least = *std::min_element(block.begin(), block.end());
    put_zigzag(out, least);
    std::string widths;
    std::string packed;
    for (std::size_t m = 0; m < kMiniblocks; ++m) {
      std::vector<std::uint64_t> mini(kBlock / kMiniblocks, 0);
      unsigned width = 0;
      bool used = false;
      for (std::size_t i = 0; i < mini.size() && m * mini.size() + i < block.size(); ++i) {
        mini[i] = static_cast<std::uint64_t>(block[m * mini.size() + i]) - static_cast<std::uint64_t>(least);
        width = std::max(width, static_cast<unsigned>(std::bit_width(mini[i])));
        used = true;
      }
      widths += static_cast<char>(width);
      if (used) put_bits(packed, mini, width);
    }
    out += widths + packed;
  }
  return out;
}

// --- thrift -------------------------------------------------------------------------------------

class ThriftWriter {
 public:
  void integer(int id, std::int64_t value, int type = 6) {
    head(id, type);
    put_zigzag(out_, value);
  }
  void i32(int id, std::int64_t value) { integer(id, value, 5); }
  void truth(int id, bool value) { head(id, value ? 1 : 2); }
  void text(int id, const std::string& value) {
    head(id, 8);
    put_varint(out_, value.size());
    out_ += value;
  }
  void begin(int id) {
    head(id, 12);
    begin_item();
  }
  void begin_item() { last_.push_back(0); }
  void end() {
    out_ += '\0';
    last_.pop_back();
  }
  void list(int id, std::size_t count, int type) {
    head(id, 9);
    out_ += static_cast<char>(0xF0 | type);
    put_varint(out_, count);
  }
  std::string& bytes() { return out_; }

 private:
  void head(int id, int type) {
    const int delta = id - last_.back();
    if (delta > 0 && delta < 16) {
      out_ += static_cast<char>((delta << 4) | type);
    } else {
      out_ += static_cast<char>(type);
      put_zigzag(out_, id);
    }
    last_.back() = id;
  }

  std::string out_;
  std::vector<int> last_ = {0};
};

// --- pages --------------------------------------------------------------------------------------

std::string plain(const std::vector<DataCell>& values, PhysicalType type) {
  std::string out;
  std::vector<std::uint64_t> flags;
  for (const DataCell& value : values) {
    switch (type) {
      case PhysicalType::kBoolean:
        flags.push_back(std::get<bool>(value) ? 1 : 0);
        break;
      case PhysicalType::kInt32:
        put_raw(out, static_cast<std::int32_t>(std::get<std::int64_t>(value)));
        break;
      case PhysicalType::kInt64:
        put_raw(out, std::get<std::int64_t>(value));
        break;
      case PhysicalType::kInt96:  // the cell has the seconds since 1970
        put_raw(out, std::get<std::int64_t>(value) % 86'400 * 1'000'000'000);
        put_raw(out, static_cast<std::uint32_t>(std::get<std::int64_t>(value) / 86'400 + 2'440'588));
        break;
      case PhysicalType::kFloat:
        put_raw(out, static_cast<float>(std::get<double>(value)));
        break;
      case PhysicalType::kDouble:
        put_raw(out, std::get<double>(value));
        break;
      default:
        put_raw(out, static_cast<std::uint32_t>(std::get<std::string>(value).size()));
        out += std::get<std::string>(value);
    }
  }
  put_bits(out, flags, 1);
  return out;
}

std::string delta_texts(const std::vector<DataCell>& values, bool share_prefixes) {
  std::vector<std::int64_t> prefixes;
  std::vector<std::int64_t> lengths;
  std::string rest;
  std::string before;
  for (const DataCell& value : values) {
    const auto& text = std::get<std::string>(value);
    std::size_t prefix = 0;
    while (share_prefixes && prefix < before.size() && prefix < text.size() && before[prefix] == text[prefix]) ++prefix;
    prefixes.push_back(static_cast<std::int64_t>(prefix));
    lengths.push_back(static_cast<std::int64_t>(text.size() - prefix));
    rest += text.substr(prefix);
    before = text;
  }
  return (share_prefixes ? deltas(prefixes) : "") + deltas(lengths) + rest;
}

std::string split_streams(const std::string& whole, std::size_t width) {
  std::string out;
  for (std::size_t b = 0; b < width; ++b) {
    for (std::size_t i = b; i < whole.size(); i += width) out += whole[i];
  }
  return out;
}

std::string compress(const std::string& data, Codec codec) {
  std::string out;
  if (codec == Codec::kSnappy) {
    snappy::Compress(data.data(), data.size(), &out);
    return out;
  }
  if (codec == Codec::kZstd) {
    out.resize(ZSTD_compressBound(data.size()));
    out.resize(ZSTD_compress(out.data(), out.size(), data.data(), data.size(), 1));
    return out;
  }
  return data;
}

class ChunkWriter {
 public:
  ChunkWriter(const WrittenColumn& column, const WriteOptions& options, std::string& file)
      : column_(column), options_(options), file_(file) {}

  std::int64_t dictionary_offset = 0;
  std::int64_t data_offset = 0;
  std::int64_t size = 0;
  std::int64_t values = 0;

  void write(std::size_t begin, std::size_t end) {
    const auto start = static_cast<std::int64_t>(file_.size());
    if (column_.encoding == Encoding::kRleDictionary) {
      dictionary_offset = start;
      write_dictionary(begin, end);
    }
    data_offset = static_cast<std::int64_t>(file_.size());
    for (std::size_t at = begin; at < end; at += options_.rows_per_page) {
      write_page(at, std::min(end, at + options_.rows_per_page));
    }
    size = static_cast<std::int64_t>(file_.size()) - start;
  }

 private:
  struct Flat {
    std::vector<std::uint32_t> repetitions, definitions;
    std::vector<DataCell> values;
  };

  Flat flatten(std::size_t begin, std::size_t end) const {
    Flat flat;
    const std::uint32_t list_level = column_.nullable ? 1 : 0;
    for (std::size_t row = begin; row < end; ++row) {
      const DataCell& cell = column_.cells[row];
      const auto* list = std::get_if<TextList>(&cell);
      if (!column_.is_list) {
        const bool there = !std::holds_alternative<std::monostate>(cell);
        flat.definitions.push_back(there ? 1 : 0);
        if (there) flat.values.push_back(cell);
      } else if (list == nullptr || list->empty()) {
        flat.repetitions.push_back(0);
        flat.definitions.push_back(list == nullptr ? 0 : list_level);
      } else {
        for (std::size_t i = 0; i < list->size(); ++i) {
          flat.repetitions.push_back(i == 0 ? 0 : 1);
          flat.definitions.push_back(list_level + 2);  // optional items, all there
          flat.values.emplace_back((*list)[i]);
        }
      }
    }
    return flat;
  }

  std::uint32_t max_definition() const { return (column_.nullable ? 1U : 0U) + (column_.is_list ? 2U : 0U); }

  void write_dictionary(std::size_t begin, std::size_t end) {
    std::vector<DataCell> entries;
    for (const DataCell& value : flatten(begin, end).values) {
      const std::string key = plain({value}, column_.type);
      if (index_.emplace(key, static_cast<std::uint32_t>(index_.size())).second) entries.push_back(value);
    }
    ThriftWriter header;
    begin_header(header, 2, plain(entries, column_.type));
    header.begin(7);
    header.i32(1, static_cast<std::int64_t>(entries.size()));
    header.i32(2, 0);
    header.end();
    end_header(header);
  }

  std::string encode(const std::vector<DataCell>& values_in_page) const {
    switch (column_.encoding) {
      case Encoding::kRleDictionary: {
        std::vector<std::uint32_t> indices;
        for (const DataCell& value : values_in_page) indices.push_back(index_.at(plain({value}, column_.type)));
        const unsigned width =
            parquet::bit_width_of(static_cast<std::uint32_t>(index_.empty() ? 0 : index_.size() - 1));
        return static_cast<char>(width) + hybrid(indices, width, options_.long_runs);
      }
      case Encoding::kDeltaBinaryPacked: {
        std::vector<std::int64_t> numbers;
        for (const DataCell& value : values_in_page) numbers.push_back(std::get<std::int64_t>(value));
        return deltas(numbers);
      }
      case Encoding::kDeltaLengthByteArray:
        return delta_texts(values_in_page, false);
      case Encoding::kDeltaByteArray:
        return delta_texts(values_in_page, true);
      case Encoding::kByteStreamSplit: {
        const bool wide = column_.type == PhysicalType::kInt64 || column_.type == PhysicalType::kDouble;
        return split_streams(plain(values_in_page, column_.type), wide ? 8 : 4);
      }
      case Encoding::kRle: {
        std::vector<std::uint32_t> flags;
        for (const DataCell& value : values_in_page) flags.push_back(std::get<bool>(value) ? 1 : 0);
        const std::string runs = hybrid(flags, 1, options_.long_runs);
        std::string out;
        put_raw(out, static_cast<std::uint32_t>(runs.size()));
        return out + runs;
      }
      default:
        return plain(values_in_page, column_.type);
    }
  }

  void write_page(std::size_t begin, std::size_t end) {
    const Flat flat = flatten(begin, end);
    const std::size_t count = column_.is_list ? flat.repetitions.size() : end - begin;
    values += static_cast<std::int64_t>(count);
    const auto claimed = options_.claimed_values >= 0 ? options_.claimed_values : static_cast<std::int64_t>(count);
    if (options_.claimed_values >= 0) values += claimed - static_cast<std::int64_t>(count);
    const unsigned width = parquet::bit_width_of(max_definition());
    const std::string repetitions = column_.is_list ? hybrid(flat.repetitions, 1, options_.long_runs) : "";
    const std::string definitions = width > 0 ? hybrid(flat.definitions, width, options_.long_runs) : "";
    const std::string body = encode(flat.values);
    ThriftWriter header;
    if (options_.page_version == 1) {
      std::string page;
      for (const std::string* levels : {&repetitions, &definitions}) {
        if (levels->empty()) continue;
        put_raw(page, static_cast<std::uint32_t>(levels->size()));
        page += *levels;
      }
      begin_header(header, 0, page + body);
      header.begin(5);
      header.i32(1, claimed);
      header.i32(2, static_cast<std::int32_t>(column_.encoding));
      header.i32(3, 3);
      header.i32(4, 3);
    } else {
      begin_header(header, 3, body, repetitions + definitions);
      header.begin(8);
      header.i32(1, claimed);
      header.i32(2, claimed - static_cast<std::int64_t>(flat.values.size()));
      header.i32(3, static_cast<std::int64_t>(end - begin));
      header.i32(4, static_cast<std::int32_t>(column_.encoding));
      header.i32(5, static_cast<std::int64_t>(definitions.size()));
      header.i32(6, static_cast<std::int64_t>(repetitions.size()));
      header.truth(7, true);
    }
    header.end();
    end_header(header);
  }

  void begin_header(ThriftWriter& header, int type, const std::string& body, const std::string& levels = "") {
    page_ = levels + compress(body, options_.codec);
    const auto size_before = static_cast<std::int64_t>(levels.size() + body.size());
    header.i32(1, type);
    header.i32(2, options_.claimed_size >= 0 ? options_.claimed_size : size_before);
    header.i32(3, static_cast<std::int64_t>(page_.size()));
    if (options_.checksums) {
      const auto crc = crc32(0, reinterpret_cast<const Bytef*>(page_.data()), static_cast<uInt>(page_.size()));
      header.i32(4, static_cast<std::int32_t>(static_cast<std::uint32_t>(crc)));
    }
  }

  void end_header(ThriftWriter& header) {
    header.end();
    file_ += header.bytes() + page_;
  }

  const WrittenColumn& column_;
  const WriteOptions& options_;
  std::string& file_;
  std::string page_;
  std::map<std::string, std::uint32_t> index_;
};

// --- the footer ---------------------------------------------------------------------------------

void put_schema(ThriftWriter& footer, const std::vector<WrittenColumn>& columns) {
  std::size_t elements = 1;
  for (const WrittenColumn& column : columns) elements += column.is_list ? 3 : 1;
  const auto element = [&](int type, int repetition, const std::string& name, int children, int converted) {
    footer.begin_item();
    if (type >= 0) footer.i32(1, type);
    if (repetition >= 0) footer.i32(3, repetition);
    footer.text(4, name);
    if (children > 0) footer.i32(5, children);
    if (converted >= 0) footer.i32(6, converted);
    footer.end();
  };
  footer.list(2, elements, 12);
  element(-1, -1, "schema", static_cast<int>(columns.size()), -1);
  for (const WrittenColumn& column : columns) {
    const int repetition = column.nullable ? 1 : 0;
    if (column.is_list) {
      element(-1, repetition, column.name, 1, 3);
      element(-1, 2, "list", 1, -1);
      element(6, 1, "element", 0, 0);
    } else {
      element(static_cast<int>(column.type), repetition, column.name, 0, column.converted_type);
    }
  }
}

void put_chunk(ThriftWriter& footer, const ChunkWriter& chunk, const WrittenColumn& column, Codec codec) {
  footer.begin_item();
  footer.integer(2, chunk.data_offset);
  footer.begin(3);
  footer.i32(1, static_cast<std::int32_t>(column.type));
  footer.i32(4, static_cast<std::int32_t>(codec));
  footer.integer(5, chunk.values);
  footer.integer(7, chunk.size);
  footer.integer(9, chunk.data_offset);
  if (chunk.dictionary_offset > 0) footer.integer(11, chunk.dictionary_offset);
  footer.end();
  footer.end();
}

}  // namespace

std::string write_parquet(const std::vector<WrittenColumn>& columns, const WriteOptions& options) {
  std::string file = "PAR1";
  const std::size_t rows = columns.empty() ? 0 : columns[0].cells.size();
  const std::size_t groups = (rows + options.rows_per_group - 1) / options.rows_per_group;
  ThriftWriter footer;
  footer.i32(1, 1);
  put_schema(footer, columns);
  footer.integer(3, static_cast<std::int64_t>(rows));
  footer.list(4, groups, 12);
  for (std::size_t begin = 0; begin < rows; begin += options.rows_per_group) {
    const std::size_t end = std::min(rows, begin + options.rows_per_group);
    footer.begin_item();
    footer.list(1, columns.size(), 12);
    for (const WrittenColumn& column : columns) {
      ChunkWriter chunk(column, options, file);
      chunk.write(begin, end);
      put_chunk(footer, chunk, column, options.codec);
    }
    footer.integer(3, static_cast<std::int64_t>(end - begin));
    footer.end();
  }
  footer.end();
  file += footer.bytes();
  put_raw(file, static_cast<std::uint32_t>(footer.bytes().size()));
  return file + "PAR1";
}

}  // namespace dts::eval::test
