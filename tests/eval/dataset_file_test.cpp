// The text formats and what surrounds them: csv, jsonl, telling formats apart, files that cannot be read.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "eval/datasets/csv.h"
#include "eval/datasets/input_file.h"
#include "eval/datasets/jsonl.h"
#include "eval/datasets/table.h"
#include "support/eval_support.h"
#include "text/quote.h"
#include "text/utf8.h"

namespace dts::eval {
namespace {

using test::error_of;
using test::expect_in;
using test::TemporaryDirectory;

using Rows = std::vector<std::vector<std::string>>;

const std::vector<std::string> kAbc = {"a", "b", "c"};

// The wanted columns' cells, row by row.
Rows csv_rows(const std::string& text, const std::vector<std::string>& wanted = kAbc) {
  const DataTable table = read_csv(text, "f.csv", wanted);
  Rows rows(table.rows);
  for (const DataColumn& column : table.columns) {
    for (std::size_t row = 0; row < table.rows; ++row) rows[row].push_back(std::get<std::string>(column.cells[row]));
  }
  return rows;
}

std::string csv_error(const std::string& text) {
  return error_of([&] { read_csv(text, "f.csv", kAbc); });
}

TEST(Csv, ReadsWhatRfc4180Writes) {
  EXPECT_EQ(csv_rows("a,b\n1,2\n"), (Rows{{"1", "2"}}));
  EXPECT_EQ(csv_rows("a,b\r\n1,2\r\n3,4"), (Rows{{"1", "2"}, {"3", "4"}}));
  EXPECT_EQ(csv_rows("\xEF\xBB\xBF"
                     "a,b\n1,2\n"),
            (Rows{{"1", "2"}}));
  EXPECT_EQ(csv_rows("a,b\n,\n"), (Rows{{"", ""}}));
  EXPECT_EQ(csv_rows("a,b\n\"\",\"\"\n"), (Rows{{"", ""}}));
  EXPECT_EQ(csv_rows("\"a\",\"b\"\n\"x, y\",\"say \"\"hi\"\"\"\n"), (Rows{{"x, y", "say \"hi\""}}));
  EXPECT_EQ(csv_rows("a,b\n\"one\ntwo\r\nthree\rfour\",2\n"), (Rows{{"one\ntwo\r\nthree\rfour", "2"}}));
  EXPECT_EQ(csv_rows("a,b\n\n1,2\n\n\n"), (Rows{{"1", "2"}}));
  EXPECT_EQ(csv_rows("a,b\n 1 , 2\n"), (Rows{{" 1 ", " 2"}}));
  EXPECT_EQ(csv_rows("x,b,y\n1,2,3\n"), (Rows{{"2"}}));
}

TEST(Csv, RowsKnowTheirLines) {
  const DataTable table = read_csv("a,b\n\"1\n\n\",2\n\n3,4\n", "f.csv", kAbc);
  EXPECT_EQ(table.lines, (std::vector<std::size_t>{2, 6}));
  EXPECT_EQ(where(table, 1, "b"), "f.csv: row 2 (line 6), column 'b'");
}

TEST(Csv, SaysOnWhichLineItIsWrong) {
  EXPECT_EQ(csv_error("a,b\n1,2\n3,\"four\nfive\n"), "f.csv: line 3 opens a quote that is never closed");
  EXPECT_EQ(csv_error("a,b\n\"one\n\",2\n3\n"), "f.csv: line 4 begins a record of 1 fields; the header has 2");
  EXPECT_EQ(csv_error("a,b\n1,2,3\n"), "f.csv: line 2 begins a record of 3 fields; the header has 2");
  expect_in("f.csv: line 2 has a quote inside an unquoted field", csv_error("a,b\n5\" pipe,2\n"));
  expect_in("f.csv: line 3 has 'x' after a closing quote", csv_error("a,b\n\"one\n\"x,2\n"));
  expect_in("f.csv: line 2 has a carriage return", csv_error("a,b\n1\r2,3\n"));
  expect_in("f.csv: is empty", csv_error("\n\r\n"));
  expect_in("f.csv: line 1 has more than 10000 fields", csv_error(std::string(20'000, ',')));
}

TEST(Csv, WhateverIsQuotedIsRead) {
  std::mt19937 random(7);
  const std::string alphabet = ",\"\r\n a\xC3\xA9";
  for (int round = 0; round < 500; ++round) {
    Rows rows(random() % 5, std::vector<std::string>(3));
    std::string text = "a,b,c\r\n";
    for (auto& row : rows) {
      for (std::size_t i = 0; i < row.size(); ++i) {
        row[i].resize(random() % 6);
        for (char& c : row[i]) c = alphabet[random() % alphabet.size()];
        std::string doubled;
        for (const char c : row[i]) doubled += c == '"' ? "\"\"" : std::string(1, c);
        text += (i == 0 ? "\"" : ",\"") + doubled + "\"";
      }
      text += random() % 2 == 0 ? "\n" : "\r\n";
    }
    ASSERT_EQ(csv_rows(text), rows) << text;
  }
}

TEST(Jsonl, ReadsEveryKindOfValue) {
  const DataTable table = read_jsonl(
      "\xEF\xBB\xBF{\"a\": \"x\\ny\", \"b\": 7, \"z\": 1}\r\n\n{\"b\": 2.5, \"c\": [\"p\", \"q\"]}\n"
      "{\"a\": null, \"b\": true, \"c\": {\"d\": 1}}\n{\"c\": [1]}",
      "f.jsonl", kAbc);
  ASSERT_EQ(table.rows, 4U);
  EXPECT_EQ(table.lines, (std::vector<std::size_t>{1, 3, 4, 5}));
  EXPECT_EQ(table.present, (std::vector<std::string>{"a", "b", "z", "c"}));
  const DataColumn& a = *find_column(table, "a");
  const DataColumn& b = *find_column(table, "b");
  const DataColumn& c = *find_column(table, "c");
  EXPECT_EQ(a.cells, (std::vector<DataCell>{"x\ny", {}, {}, {}}));
  EXPECT_EQ(b.cells, (std::vector<DataCell>{std::int64_t{7}, 2.5, true, {}}));
  EXPECT_EQ(c.cells[1], DataCell(TextList{"p", "q"}));
  EXPECT_EQ(kind_of(c.cells[0]), "missing or null");
  EXPECT_EQ(kind_of(c.cells[2]), "an object");
  EXPECT_EQ(kind_of(c.cells[3]), "an array of other things than strings");
}

std::string jsonl_error(const std::string& text) {
  return error_of([&] { read_jsonl(text, "f.jsonl", kAbc); });
}

TEST(Jsonl, SaysOnWhichLineItIsWrong) {
  expect_in("f.jsonl: line 2 is not JSON: syntax error", jsonl_error("{\"a\": 1}\n{\"a\": \n"));
  expect_in("f.jsonl: line 1 is a JSON array; should be one object a line", jsonl_error("[{\"a\": 1}]\n"));
  expect_in("f.jsonl: line 1 is not JSON", jsonl_error("{\"a\": \"\xFF\"}"));
  expect_in("f.jsonl: is empty", jsonl_error(" \n\n"));
  expect_in("nests values more than 32 deep", jsonl_error(std::string(1'000'000, '[')));
  expect_in("a line should have no more than", jsonl_error("{\"a\": \"" + std::string(17U << 20U, 'x') + "\"}"));
}

TEST(Text, Utf8IsCheckedToTheLetter) {
  for (const char* good :
       {"", "a", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xED\x9F\xBF", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(text::is_valid_utf8(good)) << good;
  }
  for (const char* bad : {"\x80", "\xC3", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80",
                          "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE2\x82", "a\xFF"}) {
    EXPECT_FALSE(text::is_valid_utf8(bad));
  }
}

TEST(Text, MessagesStayOnOneLine) {
  EXPECT_EQ(text::in_quotes("a\nb\x01\xFF\xC3\xA9"), "'a\\nb\\x01\\xff\xC3\xA9'");
  EXPECT_EQ(text::in_quotes(std::string(100, 'x'), 5), "'xxxxx...'");
  EXPECT_EQ(text::list_in_quotes(std::vector<std::string>{"a", "b", "c"}, 2), "'a', 'b' and 1 more");
}

TEST(FileFormat, IsToldByNameThenByContent) {
  EXPECT_EQ(detect_format("PAR1", "f.csv"), FileFormat::kParquet);
  EXPECT_EQ(detect_format("a,b", "x.y/f.CSV"), FileFormat::kCsv);
  EXPECT_EQ(detect_format("a,b", "f.ndjson"), FileFormat::kJsonl);
  EXPECT_EQ(detect_format("a,b", "f.parquet"), FileFormat::kParquet);
  EXPECT_EQ(detect_format("\n {\"a\": 1}", "f"), FileFormat::kJsonl);
  EXPECT_EQ(detect_format("a,b", "dir.jsonl/f"), FileFormat::kCsv);
}

TEST(FileFormat, WhatPeopleHaveInsteadOfTheFileIsNamed) {
  const auto refusal = [](const std::string& bytes, const std::string& label = "f.csv") {
    return error_of([&] { read_table(bytes, label, kAbc); });
  };
  expect_in("f.csv: is empty", refusal(""));
  expect_in("is a Git LFS pointer", refusal("version https://git-lfs.github.com/spec/v1\noid sha256:00\n"));
  expect_in("is a web page", refusal("<!DOCTYPE html>\n"));
  expect_in("is compressed with gzip", refusal("\x1F\x8B\x08"));
  expect_in("is a zip archive", refusal("PK\x03\x04"));
  expect_in("is UTF-16", refusal("\xFF\xFE"
                                 "a"));
  expect_in("is not a text file: byte 3 is zero", refusal(std::string("a,b\0c", 5)));
  expect_in("does not begin with PAR1", refusal("a,b\n", "f.parquet"));
}

TEST(InputFile, SaysWhatIsWrongWithAFile) {
  const TemporaryDirectory directory;
  const std::string bytes("ab\0\r\n", 5);
  EXPECT_EQ(read_input_file(directory.write("f", bytes)), bytes);
  expect_in("no such file", error_of([&] { read_input_file(directory.path() / "missing.csv"); }));
  expect_in("is a directory", error_of([&] { read_input_file(directory.path()); }));
  expect_in("is not a regular file", error_of([&] { read_input_file("/dev/null"); }));
}

// A hundred megabytes of anything end in one line, soon.
TEST(InputFile, JunkIsRefused) {
  constexpr std::size_t kSize = 100U << 20U;
  const auto refusal = [](const std::string& bytes, const std::string& label) {
    return error_of([&] { read_table(bytes, label, kAbc); });
  };
  expect_in("is not a text file", refusal(std::string(kSize, '\0'), "f.csv"));
  expect_in("opens a quote that is never closed", refusal("\"" + std::string(kSize, 'x'), "f.csv"));
  expect_in("a line should have no more than", refusal(std::string(kSize, '{'), "f.jsonl"));
  expect_in("more than 10000 fields", refusal(std::string(kSize, ','), "f.csv"));
  std::string rows = "a\n";
  while (rows.size() < (4U << 20U)) rows += "1\n1\n1\n1\n1\n1\n1\n1\n";
  expect_in("has more than 1000000 rows", refusal(rows, "f.csv"));
  std::string parquet(kSize, '\0');
  parquet.replace(0, 4, "PAR1");
  parquet.replace(kSize - 4, 4, "PAR1");
  expect_in("f.parquet: ", refusal(parquet, "f.parquet"));
  expect_in("does not begin with PAR1", refusal(std::string(kSize, 'P'), "f.parquet"));
}

}  // namespace
}  // namespace dts::eval
