// A file in memory, read only, a page at a time as it is looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace dts::native {

class MappedFile {
 public:
  // Throws dts::Error naming the file.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::uint8_t* data() const { return data_; }
  std::size_t size() const { return size_; }
  // Reads a stretch of it into memory. False when that fails, as on a bad disk or a file that has become shorter.
  static bool fetch(const std::uint8_t* from, std::size_t bytes);
  // Takes a stretch of it out of this process's memory; it is read from the file again when it is looked at.
  static void let_go(const std::uint8_t* from, std::size_t bytes);

 private:
  const std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;  // bytes
};

}  // namespace dts::native
