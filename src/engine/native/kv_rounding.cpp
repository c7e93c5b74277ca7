#include "engine/native/kv_rounding.h"

#include <ggml.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace dts::native {

void round_to_eight_bits(std::span<float> head) {
  constexpr float kMostHalf = 65504;
  check(head.size() % kKvBlock == 0, "a head is whole blocks");
  for (std::size_t start = 0; start < head.size(); start += kKvBlock) {
    const std::span<float> block = head.subspan(start, kKvBlock);
    float most = 0;
    for (float& value : block) {
      value = std::clamp(value, -kMostHalf, kMostHalf);
      most = std::max(most, std::fabs(value));
    }
    const float scale = ggml_fp16_to_fp32(ggml_fp32_to_fp16(most / 127.0F));
    for (float& value : block) {
      value = scale > 0 ? std::clamp(std::nearbyint(value / scale), -127.0F, 127.0F) * scale : 0.0F;
    }
  }
}

void round_to_bf16(std::span<float> head) {
  for (float& value : head) value = ggml_bf16_to_fp32(ggml_fp32_to_bf16(value));
}

}  // namespace dts::native
