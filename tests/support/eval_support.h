// What the tests of the datasets and their file formats share.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include "dts/error.h"
#include "support/temporary_directory.h"

namespace dts::eval::test {

// The text of the Error that `action` must throw; it must be one line.
inline std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    std::string text = error.what();
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    EXPECT_LT(text.size(), 2000U) << text;
    return text;
  }
  ADD_FAILURE() << "no error";
  return {};
}

inline void expect_in(const std::string& part, const std::string& whole) {
  EXPECT_NE(whole.find(part), std::string::npos) << "'" << part << "' should be in: " << whole;
}

inline std::string read_whole(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  EXPECT_TRUE(stream) << file;
  return {std::istreambuf_iterator<char>(stream), {}};
}

inline std::filesystem::path data_file(const std::string& name) {
  return std::filesystem::path(DTS_TEST_DATA_DIR) / name;
}

using dts::test::TemporaryDirectory;
}  // namespace dts::eval::test
