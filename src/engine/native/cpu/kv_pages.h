// K and V of all pages, in half precision, bf16 or 8 bits (kv_rounding.h). A page that was never written takes no
// memory.
#pragma once

#include <cstddef>
#include <span>

#include "dts/native.h"
#include "engine/native/branch_table.h"
#include "engine/native/cpu/aligned_buffer.h"
#include "engine/native/cpu/cpu_kernels.h"
#include "engine/native/geometry.h"

namespace dts::native {

class KvPages {
 public:
  KvPages(const Geometry& geometry, NativeKvType type, int pages);

  // Of one page, all layers.
  static std::int64_t page_bytes(const Geometry& geometry, NativeKvType type);

  PageView view(int layer, PageId page, int head) const;
  void write(const CpuKernels& kernels, int layer, KvSlot slot, int head, const float* key, const float* value);
  void copy(int layer, const PageCopy& copy);

  // All layers of each page, one page after the other.
  void save(std::span<const PageId> pages, std::span<std::byte> to) const;
  void load(std::span<const PageId> pages, std::span<const std::byte> from);

 private:
  // In a page of one head, bytes: K, V, and where they are codes the scales of K and of V.
  std::size_t values_at() const { return elements_ * element_bytes_; }
  std::size_t scales_at() const { return 2 * values_at(); }
  std::size_t layer_bytes() const { return kv_heads_ * head_bytes_; }
  std::uint8_t* at(int layer, PageId page, int head);
  const std::uint8_t* at(int layer, PageId page, int head) const;

  PageElement element_;
  int layers_;
  int head_size_;
  std::size_t pages_;
  std::size_t kv_heads_;
  std::size_t elements_;  // of K, or V, of one head in a page
  std::size_t element_bytes_;
  std::size_t head_bytes_;  // K and V of one head in a page
  AlignedBuffer bytes_;     // [layer][page][kv head]
};

}  // namespace dts::native
