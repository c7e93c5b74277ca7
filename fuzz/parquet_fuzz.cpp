// libFuzzer: any bytes as a parquet file end in a table or an Error.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dts/error.h"
#include "eval/datasets/parquet/parquet_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // The names in tests/data/parquet, whose files are the corpus to begin with.
  static const std::vector<std::string> kColumns = {"text",   "label",  "whole", "small", "real",    "flag",  "day",
                                                    "moment", "single", "turns", "price", "Problem", "Answer"};
  try {
    dts::eval::read_parquet(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz", kColumns);
  } catch (const dts::Error&) {
    // Malformed, and said so.
  }
  return 0;
}
