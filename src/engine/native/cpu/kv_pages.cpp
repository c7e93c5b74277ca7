#include "engine/native/cpu/kv_pages.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "engine/native/cpu/half.h"
#include "engine/native/kv_rounding.h"

namespace dts::native {
namespace {

std::size_t bytes_of_head(const Geometry& geometry, NativeKvType type) {
  const auto elements = 2 * static_cast<std::size_t>(geometry.head_size) * kPageTokens;
  return type == NativeKvType::kQ8_0 ? elements + elements / kKvBlock * 2 : elements * 2;
}

PageElement element_of(NativeKvType type) {
  switch (type) {
    case NativeKvType::kBf16:
      return PageElement::kBf16;
    case NativeKvType::kQ8_0:
      return PageElement::kCode;
    case NativeKvType::kF16:
      break;
  }
  return PageElement::kF16;
}

// Rounded to bf16, `step` elements apart in `out`.
void to_bf16(const CpuKernels& kernels, const float* from, int n, std::uint16_t* out, std::size_t step) {
  constexpr int kPiece = 64;
  std::uint16_t piece[kPiece];
  for (int first = 0; first < n; first += kPiece) {
    const int count = std::min(kPiece, n - first);
    kernels.to_bf16(from + first, count, piece);
    for (int i = 0; i < count; ++i) out[static_cast<std::size_t>(first + i) * step] = piece[i];
  }
}

// The codes that round_to_eight_bits() stands for.
void to_codes(const CpuKernels& kernels, const float* block, std::uint8_t* codes, std::size_t step,
              std::uint16_t* scale) {
  constexpr float kMostHalf = 65504;
  float values[kKvBlock];
  float most = 0;
  for (std::size_t i = 0; i < kKvBlock; ++i) {
    values[i] = std::clamp(block[i], -kMostHalf, kMostHalf);
    most = std::max(most, std::fabs(values[i]));
  }
  most /= 127.0F;
  kernels.to_half(&most, 1, scale, 1);
  const float unit = half_to_float(*scale);
  for (std::size_t i = 0; i < kKvBlock; ++i) {
    const float code = unit > 0 ? std::clamp(std::nearbyint(values[i] / unit), -127.0F, 127.0F) : 0.0F;
    codes[i * step] = static_cast<std::uint8_t>(static_cast<std::int8_t>(code));
  }
}

}  // namespace

KvPages::KvPages(const Geometry& geometry, NativeKvType type, int pages)
    : element_(element_of(type)),
      layers_(geometry.layers),
      head_size_(geometry.head_size),
      pages_(static_cast<std::size_t>(pages)),
      kv_heads_(static_cast<std::size_t>(geometry.kv_heads)),
      elements_(static_cast<std::size_t>(geometry.head_size * kPageTokens)),
      element_bytes_(element_ == PageElement::kCode ? 1 : 2),
      head_bytes_(bytes_of_head(geometry, type)),
      bytes_(static_cast<std::size_t>(layers_) * pages_ * layer_bytes()) {}

std::int64_t KvPages::page_bytes(const Geometry& geometry, NativeKvType type) {
  return std::int64_t{geometry.layers} * geometry.kv_heads * static_cast<std::int64_t>(bytes_of_head(geometry, type));
}

const std::uint8_t* KvPages::at(int layer, PageId page, int head) const {
  const std::size_t index = static_cast<std::size_t>(layer) * pages_ + static_cast<std::size_t>(page);
  return bytes_.data() + index * layer_bytes() + static_cast<std::size_t>(head) * head_bytes_;
}

std::uint8_t* KvPages::at(int layer, PageId page, int head) {
  return const_cast<std::uint8_t*>(std::as_const(*this).at(layer, page, head));
}

PageView KvPages::view(int layer, PageId page, int head) const {
  const std::uint8_t* begin = at(layer, page, head);
  PageView view{.element = element_, .keys = begin, .values = begin + values_at()};
  if (element_ == PageElement::kCode) {
    view.key_scales = reinterpret_cast<const std::uint16_t*>(begin + scales_at());
    view.value_scales = view.key_scales + elements_ / kKvBlock;
  }
  return view;
}

void KvPages::write(const CpuKernels& kernels, int layer, KvSlot slot, int head, const float* key, const float* value) {
  std::uint8_t* keys = at(layer, slot.page, head);
  std::uint8_t* values = keys + values_at();
  const auto size = static_cast<std::size_t>(head_size_);
  const auto token = static_cast<std::size_t>(slot.offset);
  if (element_ != PageElement::kCode) {
    auto* key_at = reinterpret_cast<std::uint16_t*>(keys) + token;
    auto* value_at = reinterpret_cast<std::uint16_t*>(values) + token * size;
    if (element_ == PageElement::kF16) {
      kernels.to_half(key, head_size_, key_at, kPageTokens);
      kernels.to_half(value, head_size_, value_at, 1);
    } else {
      to_bf16(kernels, key, head_size_, key_at, kPageTokens);
      to_bf16(kernels, value, head_size_, value_at, 1);
    }
    return;
  }
  auto* key_scales = reinterpret_cast<std::uint16_t*>(keys + scales_at());
  std::uint16_t* value_scales = key_scales + elements_ / kKvBlock;
  for (std::size_t block = 0; block < size / kKvBlock; ++block) {
    const std::size_t first = block * kKvBlock;
    to_codes(kernels, key + first, keys + first * kPageTokens + token, kPageTokens,
             key_scales + block * kPageTokens + token);
    to_codes(kernels, value + first, values + token * size + first, 1,
             value_scales + token * (size / kKvBlock) + block);
  }
}

void KvPages::copy(int layer, const PageCopy& copy) {
  std::memcpy(at(layer, copy.to, 0), at(layer, copy.from, 0), layer_bytes());
}

void KvPages::save(std::span<const PageId> pages, std::span<std::byte> to) const {
  std::byte* next = to.data();
  for (const PageId page : pages) {
    for (int layer = 0; layer < layers_; ++layer, next += layer_bytes()) {
      std::memcpy(next, at(layer, page, 0), layer_bytes());
    }
  }
}

void KvPages::load(std::span<const PageId> pages, std::span<const std::byte> from) {
  const std::byte* next = from.data();
  for (const PageId page : pages) {
    for (int layer = 0; layer < layers_; ++layer, next += layer_bytes()) {
      std::memcpy(at(layer, page, 0), next, layer_bytes());
    }
  }
}

}  // namespace dts::native
