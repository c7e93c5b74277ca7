#include "eval/datasets/input_file.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <system_error>

#include "dts/error.h"

namespace dts::eval {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{1} << 30U;

void check_kind(const std::filesystem::path& file) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(file, error);
  switch (status.type()) {
    case std::filesystem::file_type::regular:
    case std::filesystem::file_type::fifo:
      return;
    case std::filesystem::file_type::not_found:
      throw Error(fmt::format("{}: no such file", file.string()));
    case std::filesystem::file_type::directory:
      throw Error(fmt::format("{}: is a directory; should be a parquet, csv or jsonl file", file.string()));
    case std::filesystem::file_type::none:
      throw Error(fmt::format("{}: {}", file.string(), error.message()));
    default:
      throw Error(fmt::format("{}: is not a regular file", file.string()));
  }
}

}  // namespace

std::string read_input_file(const std::filesystem::path& file) {
  check_kind(file);
  struct Close {
    void operator()(std::FILE* stream) const { std::fclose(stream); }
  };
  const std::unique_ptr<std::FILE, Close> stream(std::fopen(file.c_str(), "rb"));
  if (!stream) throw Error(fmt::format("{}: {}", file.string(), std::strerror(errno)));
  std::string bytes;
  std::array<char, 1 << 16> block{};
  while (const std::size_t count = std::fread(block.data(), 1, block.size(), stream.get())) {
    if (bytes.size() + count > kMaxBytes) throw Error(fmt::format("{}: is larger than 1 GiB", file.string()));
    bytes.append(block.data(), count);
  }
  if (std::ferror(stream.get()) != 0) throw Error(fmt::format("{}: {}", file.string(), std::strerror(errno)));
  return bytes;
}

}  // namespace dts::eval
