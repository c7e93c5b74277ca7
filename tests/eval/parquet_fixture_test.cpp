// Files by writers that know nothing of our reader (tests/data/parquet/make.mjs): Apache Arrow's, DuckDB's and
// hyparquet's. All hold the rows of kinds.jsonl.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "eval/datasets/jsonl.h"
#include "eval/datasets/parquet/parquet_file.h"
#include "support/eval_support.h"

namespace dts::eval {
namespace {

using test::data_file;
using test::error_of;
using test::expect_in;
using test::read_whole;

const std::vector<std::string> kColumns = {"text", "label", "whole",  "small",  "real",
                                           "flag", "day",   "moment", "single", "turns"};

// A column of kinds.jsonl may have 0 where parquet has 0.0.
void expect_same(const DataCell& seen, const DataCell& expected, const std::string& place) {
  if (const auto* real = std::get_if<double>(&seen)) {
    const auto* whole = std::get_if<std::int64_t>(&expected);
    const auto* number = std::get_if<double>(&expected);
    ASSERT_TRUE(whole != nullptr || number != nullptr) << place << " is a number, not " << kind_of(expected);
    EXPECT_EQ(*real, whole != nullptr ? static_cast<double>(*whole) : *number) << place;
    return;
  }
  EXPECT_TRUE(seen == expected) << place << " is " << kind_of(seen) << "; expected " << kind_of(expected);
}

class ParquetFixture : public testing::TestWithParam<std::string> {};

TEST_P(ParquetFixture, HoldsTheRowsOfTheJsonFile) {
  const DataTable expected = read_jsonl(read_whole(data_file("parquet/kinds.jsonl")), "kinds.jsonl", kColumns);
  const std::string name = "kinds-" + GetParam() + ".parquet";
  const DataTable table = read_parquet(read_whole(data_file("parquet/" + name)), name, kColumns);
  ASSERT_EQ(table.rows, 40U);
  // hyparquet's file lacks the two kinds it cannot be told to write.
  ASSERT_EQ(table.columns.size(), GetParam() == "hyparquet" ? 8U : kColumns.size());
  for (const DataColumn& column : table.columns) {
    const DataColumn* other = find_column(expected, column.name);
    ASSERT_NE(other, nullptr);
    ASSERT_EQ(column.cells.size(), table.rows);
    for (std::size_t row = 0; row < table.rows; ++row) {
      expect_same(column.cells[row], other->cells[row], where(table, row, column.name));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Writers, ParquetFixture,
                         testing::Values("arrow-none", "arrow-snappy", "arrow-gzip", "arrow-zstd", "arrow-lz4raw",
                                         "arrow-plain-small-pages", "arrow-v2", "arrow-v2-delta", "duckdb-snappy",
                                         "duckdb-v2-zstd", "hyparquet"),
                         [](const testing::TestParamInfo<std::string>& param) {
                           std::string name = param.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

std::string refusal(const std::string& file, const std::string& column) {
  return error_of([&] { read_parquet(read_whole(data_file("parquet/" + file)), file, std::vector{column}); });
}

TEST(ParquetRefusal, NamesWhatIsNotSupported) {
  expect_in("kinds-arrow-brotli.parquet: column 'text': compression BROTLI is not supported",
            refusal("kinds-arrow-brotli.parquet", "text"));
  expect_in("column 'price': is values of type DECIMAL, which is not supported",
            refusal("unsupported.parquet", "price"));
  expect_in("column 'pairs': is a MAP", refusal("unsupported.parquet", "pairs"));
  expect_in("column 'lists': is a list of nested structures", refusal("unsupported.parquet", "lists"));
  expect_in("column 'nested': is a nested structure", refusal("kinds-arrow-snappy.parquet", "nested"));
}

TEST(ParquetRefusal, OtherColumnsOfTheFileMayBeAnything) {
  const DataTable table = read_parquet(read_whole(data_file("parquet/unsupported.parquet")), "unsupported.parquet",
                                       std::vector<std::string>{"text"});
  ASSERT_EQ(table.rows, 1U);
  EXPECT_EQ(std::get<std::string>(table.columns.at(0).cells.at(0)), "x");
  EXPECT_EQ(table.present, (std::vector<std::string>{"price", "pairs", "lists", "text"}));
}

TEST(ParquetRefusal, TruncatedOrForeignFilesAreNamed) {
  const std::string whole = read_whole(data_file("parquet/aime24.parquet"));
  const auto read = [](const std::string& bytes) {
    return error_of([&] { read_parquet(bytes, "f.parquet", std::vector<std::string>{"Problem"}); });
  };
  for (std::size_t size = 4; size < whole.size(); ++size) {
    expect_in("f.parquet: is a truncated parquet file", read(whole.substr(0, size)));
  }
  expect_in("does not begin with PAR1", read("ID,Problem\n"));
  expect_in("is an encrypted parquet file", read("PAR1....PARE"));
  std::string footer = whole;
  footer[footer.size() - 5] = '\x7F';
  expect_in("is a damaged parquet file: a footer of", read(footer));
}

}  // namespace
}  // namespace dts::eval
