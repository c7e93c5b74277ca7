#include "eval/datasets/parquet/values.h"

#include <fmt/format.h>

#include <chrono>
#include <string>
#include <utility>

#include "eval/datasets/parquet/levels.h"

namespace dts::eval::parquet {
namespace {

constexpr std::int64_t kSecondsPerDay = 86'400;

// Rounds down, so that times before 1970 are right, too.
std::int64_t floor_divide(std::int64_t value, std::int64_t by) { return value / by - (value % by < 0 ? 1 : 0); }

std::string iso_date(std::int64_t days) {
  constexpr std::int64_t kFirst = -719'162;  // 0001-01-01
  constexpr std::int64_t kLast = 2'932'896;  // 9999-12-31
  if (days < kFirst || days > kLast) throw FormatError(fmt::format("a date is {} days from 1970: out of range", days));
  const std::chrono::year_month_day date{std::chrono::sys_days(std::chrono::days(days))};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

// To the second: no dataset counts finer.
std::string iso_time(std::int64_t seconds) {
  const std::int64_t days = floor_divide(seconds, kSecondsPerDay);
  const std::int64_t second = seconds - days * kSecondsPerDay;
  return fmt::format("{}T{:02}:{:02}:{:02}", iso_date(days), second / 3600, second / 60 % 60, second % 60);
}

DataCell integer_cell(std::int64_t value, const TopColumn& column) {
  switch (column.meaning) {
    case Meaning::kDate:
      return iso_date(value);
    case Meaning::kTimestampMillis:
      return iso_time(floor_divide(value, 1'000));
    case Meaning::kTimestampMicros:
      return iso_time(floor_divide(value, 1'000'000));
    case Meaning::kTimestampNanos:
      return iso_time(floor_divide(value, 1'000'000'000));
    case Meaning::kUnsigned:
      if (column.type == PhysicalType::kInt32) return std::int64_t{static_cast<std::uint32_t>(value)};
      if (value < 0) return static_cast<double>(static_cast<std::uint64_t>(value));
      return value;
    default:
      return value;
  }
}

// The old form of a timestamp: nanoseconds of the day, then the Julian day.
DataCell int96_cell(ByteReader& bytes) {
  constexpr std::int64_t kJulian1970 = 2'440'588;
  const auto nanos = bytes.little_endian<std::int64_t>();
  const auto day = static_cast<std::int64_t>(bytes.little_endian<std::uint32_t>());
  return iso_time((day - kJulian1970) * kSecondsPerDay + floor_divide(nanos, 1'000'000'000));
}

DataCell text_cell(Bytes bytes, Budget& budget) {
  budget.charge(bytes.size());
  return std::string(bytes.begin(), bytes.end());
}

// One value of a type whose PLAIN form is whole bytes.
DataCell plain_cell(ByteReader& bytes, const TopColumn& column, Budget& budget) {
  switch (column.type) {
    case PhysicalType::kInt32:
      return integer_cell(bytes.little_endian<std::int32_t>(), column);
    case PhysicalType::kInt64:
      return integer_cell(bytes.little_endian<std::int64_t>(), column);
    case PhysicalType::kInt96:
      return int96_cell(bytes);
    case PhysicalType::kFloat:
      return static_cast<double>(bytes.little_endian<float>());
    case PhysicalType::kDouble:
      return bytes.little_endian<double>();
    case PhysicalType::kByteArray:
      return text_cell(bytes.take(bytes.little_endian<std::uint32_t>()), budget);
    case PhysicalType::kFixedLenByteArray:
      return text_cell(bytes.take(static_cast<std::size_t>(column.type_length)), budget);
    default:
      throw FormatError(name_of(column.type) + " is not a type of whole bytes");
  }
}

[[noreturn]] void refuse(Encoding encoding, const TopColumn& column) {
  throw FormatError("encoding " + name_of(encoding) + " of " + name_of(column.type) + " is not supported");
}

void read_plain(ByteReader& bytes, const TopColumn& column, std::size_t count, Budget& budget,
                std::vector<DataCell>& out) {
  if (column.type == PhysicalType::kBoolean) {
    const Bytes packed = bytes.take(count / 8 + (count % 8 != 0 ? 1 : 0));
    for (std::size_t i = 0; i < count; ++i) out.emplace_back(((packed[i / 8] >> (i % 8)) & 1U) != 0);
    return;
  }
  for (std::size_t i = 0; i < count; ++i) out.push_back(plain_cell(bytes, column, budget));
}

void read_dictionary_indices(ByteReader& bytes, std::size_t count, const std::vector<DataCell>& dictionary,
                             Budget& budget, std::vector<DataCell>& out) {
  if (count == 0) return;
  const unsigned width = bytes.byte();
  for (const std::uint32_t index : read_rle(bytes, width, count, budget)) {
    if (index >= dictionary.size()) {
      throw FormatError(fmt::format("value {} of a dictionary of {} is asked for", index, dictionary.size()));
    }
    if (const auto* text = std::get_if<std::string>(&dictionary[index])) budget.charge(text->size());
    out.push_back(dictionary[index]);
  }
}

void read_boolean_runs(ByteReader& bytes, std::size_t count, Budget& budget, std::vector<DataCell>& out) {
  if (count == 0) return;
  ByteReader runs(bytes.take(bytes.little_endian<std::uint32_t>()));
  for (const std::uint32_t value : read_rle(runs, 1, count, budget)) out.emplace_back(value != 0);
}

std::vector<std::int64_t> read_exact_deltas(ByteReader& bytes, std::size_t count, Budget& budget) {
  std::vector<std::int64_t> values = read_deltas(bytes, count, budget);
  if (values.size() != count) {
    throw FormatError(fmt::format("a delta-encoded page has {} values instead of {}", values.size(), count));
  }
  return values;
}

std::size_t to_length(std::int64_t value) {
  if (value < 0 || value > INT32_MAX) throw FormatError(fmt::format("a text has the length {}", value));
  return static_cast<std::size_t>(value);
}

void read_delta_lengths(ByteReader& bytes, std::size_t count, Budget& budget, std::vector<DataCell>& out) {
  for (const std::int64_t length : read_exact_deltas(bytes, count, budget)) {
    out.push_back(text_cell(bytes.take(to_length(length)), budget));
  }
}

// Each text is a piece of the one before and a rest of its own.
void read_delta_texts(ByteReader& bytes, std::size_t count, Budget& budget, std::vector<DataCell>& out) {
  const std::vector<std::int64_t> prefixes = read_exact_deltas(bytes, count, budget);
  std::vector<DataCell> suffixes;
  budget.charge(count, sizeof(DataCell));
  read_delta_lengths(bytes, count, budget, suffixes);
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t prefix = to_length(prefixes[i]);
    if (prefix > text.size()) throw FormatError("a text goes on from more than the text before it has");
    text.resize(prefix);
    text += std::get<std::string>(suffixes[i]);
    budget.charge(text.size());
    out.emplace_back(text);
  }
}

// The first bytes of all values, then the second bytes, ...
void read_split_streams(ByteReader& bytes, const TopColumn& column, std::size_t count, Budget& budget,
                        std::vector<DataCell>& out) {
  std::size_t width = 0;
  switch (column.type) {
    case PhysicalType::kFloat:
    case PhysicalType::kInt32:
      width = 4;
      break;
    case PhysicalType::kDouble:
    case PhysicalType::kInt64:
      width = 8;
      break;
    default:
      refuse(Encoding::kByteStreamSplit, column);
  }
  const Bytes streams = bytes.take(count * width);
  std::vector<std::uint8_t> value(width);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t b = 0; b < width; ++b) value[b] = streams[b * count + i];
    ByteReader whole(value);
    out.push_back(plain_cell(whole, column, budget));
  }
}

}  // namespace

std::vector<DataCell> read_values(ByteReader& bytes, Encoding encoding, const TopColumn& column, std::size_t count,
                                  const std::vector<DataCell>& dictionary, Budget& budget) {
  budget.charge(count, sizeof(DataCell));
  std::vector<DataCell> out;
  out.reserve(count);
  const bool is_integer = column.type == PhysicalType::kInt32 || column.type == PhysicalType::kInt64;
  const bool is_text = column.type == PhysicalType::kByteArray;
  switch (encoding) {
    case Encoding::kPlain:
      read_plain(bytes, column, count, budget, out);
      break;
    case Encoding::kPlainDictionary:
    case Encoding::kRleDictionary:
      read_dictionary_indices(bytes, count, dictionary, budget, out);
      break;
    case Encoding::kRle:
      if (column.type != PhysicalType::kBoolean) refuse(encoding, column);
      read_boolean_runs(bytes, count, budget, out);
      break;
    case Encoding::kDeltaBinaryPacked:
      if (!is_integer) refuse(encoding, column);
      for (const std::int64_t value : read_exact_deltas(bytes, count, budget)) {
        // 32-bit columns wrap at 32 bits.
        const bool narrow = column.type == PhysicalType::kInt32;
        out.push_back(integer_cell(narrow ? static_cast<std::int32_t>(value) : value, column));
      }
      break;
    case Encoding::kDeltaLengthByteArray:
      if (!is_text) refuse(encoding, column);
      read_delta_lengths(bytes, count, budget, out);
      break;
    case Encoding::kDeltaByteArray:
      if (!is_text) refuse(encoding, column);
      read_delta_texts(bytes, count, budget, out);
      break;
    case Encoding::kByteStreamSplit:
      read_split_streams(bytes, column, count, budget, out);
      break;
    default:
      refuse(encoding, column);
  }
  return out;
}

}  // namespace dts::eval::parquet
