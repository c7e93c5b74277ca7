#include "engine/native/cpu/aligned_buffer.h"

#include <sys/mman.h>

#include <new>

namespace dts::native {

AlignedBuffer::AlignedBuffer(std::size_t bytes) : size_(bytes) {
  if (bytes == 0) return;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  // Weights are read end to end every step: with small pages a tenth of the time is spent on finding them. A refusal is
  // no error. Small ones, too: mappings side by side are one to the kernel if they are advised alike.
  constexpr std::size_t kWorthIt = std::size_t{256} << 10U;
  if (bytes >= kWorthIt) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
  bytes_ = {static_cast<std::uint8_t*>(memory), Unmap{bytes}};
}

void AlignedBuffer::Unmap::operator()(std::uint8_t* memory) const { munmap(memory, bytes); }

}  // namespace dts::native
