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

 private:
  const std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;  // bytes
};

}  // namespace dts::native
