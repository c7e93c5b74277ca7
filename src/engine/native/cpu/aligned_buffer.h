// Memory that kernels stream through: on a page boundary, in large pages where the system has them to give.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace dts::native {

class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  // Zeros. Throws std::bad_alloc when the system has no room.
  explicit AlignedBuffer(std::size_t bytes);

  std::size_t size() const { return size_; }
  std::uint8_t* data() { return bytes_.get(); }
  const std::uint8_t* data() const { return bytes_.get(); }

 private:
  struct Unmap {
    std::size_t bytes;
    void operator()(std::uint8_t* memory) const;
  };
  std::size_t size_ = 0;  // bytes asked for
  std::unique_ptr<std::uint8_t[], Unmap> bytes_;
};

}  // namespace dts::native
