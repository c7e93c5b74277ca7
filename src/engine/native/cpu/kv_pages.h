// K and V of all pages in half precision. A page that was never written takes no memory.
#pragma once

#include <cstring>

#include "engine/native/branch_table.h"
#include "engine/native/cpu/aligned_buffer.h"
#include "engine/native/cpu/cpu_kernels.h"
#include "engine/native/geometry.h"

namespace dts::native {

class KvPages {
 public:
  KvPages(const Geometry& geometry, int pages)
      : pages_(static_cast<std::size_t>(pages)),
        kv_heads_(static_cast<std::size_t>(geometry.kv_heads)),
        half_(static_cast<std::size_t>(geometry.head_size) * kPageTokens),
        bytes_(static_cast<std::size_t>(geometry.layers) * pages_ * page_bytes()) {}

  PageView view(int layer, PageId page, int head) const {
    const std::uint16_t* keys = at(layer, page, head);
    return {.keys = keys, .values = keys + half_};
  }

  void write(const CpuKernels& kernels, int layer, KvSlot slot, int head, int head_size, const float* key,
             const float* value) {
    std::uint16_t* keys = const_cast<std::uint16_t*>(at(layer, slot.page, head));
    kernels.to_half(key, head_size, keys + slot.offset, kPageTokens);
    kernels.to_half(value, head_size, keys + half_ + static_cast<std::size_t>(slot.offset * head_size), 1);
  }

  void copy(int layer, const PageCopy& copy) {
    std::memcpy(const_cast<std::uint16_t*>(at(layer, copy.to, 0)), at(layer, copy.from, 0), page_bytes());
  }

 private:
  std::size_t page_bytes() const { return kv_heads_ * half_ * 2 * sizeof(std::uint16_t); }  // of one layer
  // [layer][page][kv head][K: element, token; V: token, element]
  const std::uint16_t* at(int layer, PageId page, int head) const {
    const std::size_t index = static_cast<std::size_t>(layer) * pages_ + static_cast<std::size_t>(page);
    return reinterpret_cast<const std::uint16_t*>(bytes_.data() + index * page_bytes()) +
           static_cast<std::size_t>(head) * half_ * 2;
  }

  std::size_t pages_;
  std::size_t kv_heads_;
  std::size_t half_;  // elements of K, or V, of one head
  AlignedBuffer bytes_;
};

}  // namespace dts::native
