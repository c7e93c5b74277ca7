// The reader against a writer of our own (parquet_writer.h): random values in every combination of type, encoding,
// codec and page version, and files that lie.
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>
#include <vector>

#include "eval/datasets/parquet/parquet_file.h"
#include "support/eval_support.h"
#include "support/parquet_writer.h"

namespace dts::eval {
namespace {

using parquet::Codec;
using parquet::Encoding;
using parquet::PhysicalType;
using test::error_of;
using test::expect_in;
using test::write_parquet;
using test::WriteOptions;
using test::WrittenColumn;

const std::vector<std::string> kWanted = {"c"};

struct Kind {
  PhysicalType type;
  std::vector<Encoding> encodings;
};

const std::vector<Kind> kKinds = {
    {PhysicalType::kBoolean, {Encoding::kPlain, Encoding::kRle}},
    {PhysicalType::kInt32,
     {Encoding::kPlain, Encoding::kRleDictionary, Encoding::kDeltaBinaryPacked, Encoding::kByteStreamSplit}},
    {PhysicalType::kInt64,
     {Encoding::kPlain, Encoding::kRleDictionary, Encoding::kDeltaBinaryPacked, Encoding::kByteStreamSplit}},
    {PhysicalType::kFloat, {Encoding::kPlain, Encoding::kRleDictionary, Encoding::kByteStreamSplit}},
    {PhysicalType::kDouble, {Encoding::kPlain, Encoding::kRleDictionary, Encoding::kByteStreamSplit}},
    {PhysicalType::kByteArray,
     {Encoding::kPlain, Encoding::kRleDictionary, Encoding::kDeltaLengthByteArray, Encoding::kDeltaByteArray}},
};

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}

  std::size_t below(std::size_t count) { return engine_() % count; }
  bool flip() { return below(2) == 0; }

  std::string text() {
    std::string text(below(4) == 0 ? 0 : below(40), ' ');
    for (char& c : text) c = static_cast<char>('a' + below(3));
    return text;
  }

  std::int64_t number(bool wide) {
    const auto bits = static_cast<std::int64_t>(engine_());
    // Few bits often, so that dictionaries and deltas have something to gain.
    const int shift = static_cast<int>(below(wide ? 64 : 32)) + (wide ? 0 : 32);
    return bits >> shift;
  }

  DataCell cell(PhysicalType type) {
    switch (type) {
      case PhysicalType::kBoolean:
        return flip();
      case PhysicalType::kInt32:
        return number(false);
      case PhysicalType::kInt64:
        return number(true);
      case PhysicalType::kFloat:
      case PhysicalType::kDouble:
        return static_cast<double>(number(false) >> 10) / 4.0;
      default:
        return text();
    }
  }

 private:
  std::mt19937_64 engine_;
};

WrittenColumn random_column(Random& random, std::size_t rows) {
  WrittenColumn column;
  column.name = "c";
  const Kind& kind = kKinds[random.below(kKinds.size())];
  column.type = kind.type;
  column.encoding = kind.encodings[random.below(kind.encodings.size())];
  column.nullable = random.flip();
  column.is_list = kind.type == PhysicalType::kByteArray && random.flip();
  const std::size_t null_in = 1 + random.below(6);
  for (std::size_t row = 0; row < rows; ++row) {
    if (column.nullable && random.below(null_in) == 0) {
      column.cells.emplace_back();
    } else if (column.is_list) {
      TextList list(random.below(4));
      for (std::string& item : list) item = random.text();
      column.cells.emplace_back(list);
    } else {
      column.cells.push_back(random.cell(column.type));
    }
  }
  return column;
}

TEST(ParquetRoundTrip, WhateverIsWrittenIsRead) {
  for (unsigned seed = 0; seed < 1500; ++seed) {
    Random random(seed);
    const WrittenColumn column = random_column(random, random.below(300));
    WriteOptions options;
    options.codec = std::vector{Codec::kUncompressed, Codec::kSnappy, Codec::kZstd}[random.below(3)];
    options.page_version = random.flip() ? 1 : 2;
    options.rows_per_group = 1 + random.below(300);
    options.rows_per_page = 1 + random.below(100);
    options.checksums = random.flip();
    options.long_runs = random.flip();
    const DataTable table = read_parquet(write_parquet({column}, options), "f.parquet", kWanted);
    ASSERT_EQ(table.rows, column.cells.size()) << seed;
    ASSERT_EQ(table.columns.size(), 1U);
    ASSERT_TRUE(table.columns[0].cells == column.cells)
        << "seed " << seed << ", " << parquet::name_of(column.type) << ", " << parquet::name_of(column.encoding);
  }
}

TEST(ParquetRoundTrip, ExtremeNumbersSurviveDeltas) {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  WrittenColumn column{"c", PhysicalType::kInt64, Encoding::kDeltaBinaryPacked, false, false, {}};
  for (int i = 0; i < 100; ++i)
    column.cells.emplace_back(std::vector{kLeast, kMost, std::int64_t{0}, kMost}[static_cast<std::size_t>(i % 4)]);
  EXPECT_TRUE(read_parquet(write_parquet({column}, {}), "f.parquet", kWanted).columns.at(0).cells == column.cells);
}

DataCell only_cell(PhysicalType type, std::int32_t converted, std::int64_t value) {
  const WrittenColumn column{"c", type, Encoding::kPlain, false, false, {value}, converted};
  return read_parquet(write_parquet({column}, {}), "f.parquet", kWanted).columns.at(0).cells.at(0);
}

TEST(ParquetRoundTrip, TimesBecomeText) {
  constexpr std::int32_t kDate = 6;
  constexpr std::int32_t kMillis = 9;
  constexpr std::int32_t kMicros = 10;
  EXPECT_EQ(only_cell(PhysicalType::kInt32, kDate, 20'052), DataCell("2024-11-25"));
  EXPECT_EQ(only_cell(PhysicalType::kInt32, kDate, -1), DataCell("1969-12-31"));
  EXPECT_EQ(only_cell(PhysicalType::kInt64, kMillis, 1'732'492'800'000), DataCell("2024-11-25T00:00:00"));
  EXPECT_EQ(only_cell(PhysicalType::kInt64, kMillis, -1), DataCell("1969-12-31T23:59:59"));
  EXPECT_EQ(only_cell(PhysicalType::kInt64, kMicros, 1'732'496'461'999'999), DataCell("2024-11-25T01:01:01"));
  EXPECT_EQ(only_cell(PhysicalType::kInt96, -1, 1'732'492'801), DataCell("2024-11-25T00:00:01"));
  for (const std::int64_t far : {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}) {
    expect_in("out of range", error_of([&] { only_cell(PhysicalType::kInt64, kMillis, far); }));
  }
}

TEST(ParquetRoundTrip, UnsignedNumbersStayPositive) {
  constexpr std::int32_t kUint32 = 13;
  constexpr std::int32_t kUint64 = 14;
  EXPECT_EQ(only_cell(PhysicalType::kInt32, kUint32, -1), DataCell(std::int64_t{4'294'967'295}));
  EXPECT_EQ(only_cell(PhysicalType::kInt64, kUint64, 7), DataCell(std::int64_t{7}));
  EXPECT_EQ(only_cell(PhysicalType::kInt64, kUint64, -1), DataCell(18446744073709551616.0));
}

std::string error_reading(const std::vector<WrittenColumn>& columns, const WriteOptions& options) {
  const std::string file = write_parquet(columns, options);
  return error_of([&] { read_parquet(file, "f.parquet", kWanted); });
}

TEST(ParquetLies, DamagedPagesAreSeen) {
  const WrittenColumn column{"c", PhysicalType::kByteArray, Encoding::kPlain, false, false, {std::string(100, 'x')}};
  WriteOptions options;
  options.checksums = true;
  std::string file = write_parquet({column}, options);
  const std::size_t at = file.find("xxxx");
  file[at] = 'y';
  expect_in("f.parquet: column 'c': a page's checksum is wrong",
            error_of([&] { read_parquet(file, "f.parquet", kWanted); }));

  WriteOptions wrong_size;
  wrong_size.codec = Codec::kSnappy;
  wrong_size.claimed_size = 50;
  expect_in("does not decompress to its size", error_reading({column}, wrong_size));
}

// A few bytes that claim gigabytes cost neither memory nor time.
TEST(ParquetLies, ClaimedSizesAreNotBelieved) {
  const WrittenColumn text{"c", PhysicalType::kByteArray, Encoding::kPlain, false, false, {std::string("x")}};
  WriteOptions bomb;
  bomb.codec = Codec::kZstd;
  bomb.claimed_size = 2'000'000'000;
  expect_in("column 'c': expands to more than 64 MiB", error_reading({text}, bomb));

  WriteOptions many;
  many.claimed_values = 2'000'000'000;
  for (const Encoding encoding : {Encoding::kPlain, Encoding::kRleDictionary, Encoding::kDeltaByteArray}) {
    const WrittenColumn column{"c", PhysicalType::kByteArray, encoding, false, false, {std::string("x")}};
    expect_in("expands to more than 64 MiB", error_reading({column}, many));
  }
  const WrittenColumn nullable{"c", PhysicalType::kBoolean, Encoding::kRle, true, false, {true}};
  expect_in("expands to more than 64 MiB", error_reading({nullable}, many));
}

TEST(ParquetLies, CountsThatDoNotAgreeAreSeen) {
  const WrittenColumn text{
      "c", PhysicalType::kByteArray, Encoding::kPlain, false, false, {std::string("x"), std::string("y")}};
  WriteOptions more;
  more.claimed_values = 3;
  expect_in("data ends in the middle of a value", error_reading({text}, more));
  WriteOptions less;
  less.claimed_values = 1;
  expect_in("rows too few", error_reading({text}, less));
  const WrittenColumn flags{"c", PhysicalType::kBoolean, Encoding::kPlain, false, false, {true, false}};
  expect_in("more rows than the row group has", error_reading({flags}, more));
}

TEST(ParquetLies, EncodingsOfTheWrongTypeAreNamed) {
  const WrittenColumn column{"c", PhysicalType::kDouble, Encoding::kBitPacked, false, false, {1.0}};
  expect_in("column 'c': encoding BIT_PACKED of DOUBLE is not supported", error_reading({column}, {}));
}

}  // namespace
}  // namespace dts::eval
