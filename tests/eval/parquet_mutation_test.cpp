// Files with some bytes wrong: whatever happens, it is an Error or a table, never anything else. A quick, deterministic
// part of what fuzz/ does without end.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "eval/datasets/dataset.h"
#include "eval/datasets/parquet/parquet_file.h"
#include "support/eval_support.h"
#include "support/parquet_writer.h"

namespace dts::eval {
namespace {

using test::data_file;
using test::read_whole;

const std::vector<std::string> kColumns = {"text",   "label",  "whole", "small",  "real",  "flag",    "day",
                                           "moment", "single", "turns", "nested", "price", "Problem", "Answer"};

std::vector<std::string> seeds() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(data_file("parquet"))) {
    if (entry.path().extension() == ".parquet") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> contents;
  for (const auto& file : files) contents.push_back(read_whole(file));
  // Small ones, in which most bytes matter.
  test::WrittenColumn list{"turns", parquet::PhysicalType::kByteArray, parquet::Encoding::kRleDictionary, true, true,
                           {}};
  test::WrittenColumn delta{"whole", parquet::PhysicalType::kInt64, parquet::Encoding::kDeltaBinaryPacked, true, false,
                            {}};
  for (int i = 0; i < 20; ++i) {
    list.cells.emplace_back(TextList(static_cast<std::size_t>(i % 3), "turn"));
    delta.cells.emplace_back(std::int64_t{i} * i);
  }
  for (const int version : {1, 2}) {
    test::WriteOptions options;
    options.page_version = version;
    contents.push_back(test::write_parquet({list, delta}, options));
  }
  return contents;
}

void mutate(std::string& bytes, std::mt19937& random) {
  const std::size_t changes = 1 + random() % 4;
  for (std::size_t i = 0; i < changes; ++i) {
    // The footer and the page headers decide most, and the end of the file has the footer.
    const std::size_t tail = std::min<std::size_t>(bytes.size(), 600);
    const std::size_t at = random() % 2 == 0 ? random() % bytes.size() : bytes.size() - 1 - random() % tail;
    switch (random() % 5) {
      case 0:
        bytes[at] = static_cast<char>(random());
        break;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << (random() % 8)));
        break;
      case 2:
        bytes[at] = std::vector<char>{'\0', '\x01', '\x7F', '\x80', '\xFF'}[random() % 5];
        break;
      case 3:
        bytes.insert(at, 1 + random() % 8, static_cast<char>(random()));
        break;
      default:
        bytes.erase(at, 1 + random() % 8);
        if (bytes.empty()) bytes = "x";
    }
  }
}

// Reads, and accepts an Error of one line.
template <typename Read>
bool survives(Read read) {
  try {
    read();
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return false;
  }
}

TEST(ParquetMutation, EndsInATableOrAnError) {
  const std::vector<std::string> files = seeds();
  std::mt19937 random(20241125);
  std::size_t read = 0;
  constexpr std::size_t kRounds = 6000;
  for (std::size_t round = 0; round < kRounds; ++round) {
    std::string bytes = files[round % files.size()];
    mutate(bytes, random);
    // One that does not end as it should is refused at once, and teaches nothing more.
    if (random() % 4 != 0 && bytes.size() > 8) bytes.replace(bytes.size() - 4, 4, "PAR1").replace(0, 4, "PAR1");
    const std::vector<std::string> column = {kColumns[random() % kColumns.size()]};
    if (survives([&] { read_parquet(bytes, "f.parquet", random() % 2 == 0 ? kColumns : column); })) ++read;
  }
  // Both happen, or the mutations are too weak or too strong to show anything.
  EXPECT_GT(read, kRounds / 20);
  EXPECT_LT(read, kRounds * 19 / 20);
}

TEST(ParquetMutation, EveryByteMayBeWrong) {
  const std::string whole = read_whole(data_file("parquet/aime24.parquet"));
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char value : {'\0', '\xFF', static_cast<char>(whole[at] ^ 1)}) {
      std::string bytes = whole;
      bytes[at] = value;
      survives([&] { parse_dataset("aime24", bytes, "f.parquet", {}); });
    }
  }
}

TEST(TextMutation, EndsInATableOrAnError) {
  const std::string csv =
      "Record ID,Question,Correct Answer,Incorrect Answer 1,Incorrect Answer 2,Incorrect Answer 3\r\n"
      "r1,\"What, said \"\"he\"\",\nis it?\",one,\"two\",three,four\r\nr2,Which?,a,b,c,d\n";
  const std::string jsonl =
      "{\"id\": 1, \"problem\": \"What is $1+1$?\", \"answer\": \"2\"}\n{\"id\": 2, \"problem\": \"And 2?\", "
      "\"answer\": 2}\n";
  std::mt19937 random(4);
  std::size_t read = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string bytes = round % 2 == 0 ? csv : jsonl;
    mutate(bytes, random);
    if (survives([&] {
          parse_dataset(round % 2 == 0 ? "gpqa-diamond" : "aime25", bytes, round % 2 == 0 ? "f.csv" : "f.jsonl", {});
        })) {
      ++read;
    }
  }
  EXPECT_GT(read, 100U);
  EXPECT_LT(read, 3900U);
}

}  // namespace
}  // namespace dts::eval
