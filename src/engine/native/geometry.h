// The shape of a dense decoder: what the kernels must know beside the weights.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dts::native {

// Rotary positions: pair i of a head turns by position x frequency i.
struct Rope {
  int rotated = 0;           // leading elements of a head that turn; the others stay
  bool interleaved = false;  // pairs are (2i, 2i + 1), as llama's files have them; else (i, i + rotated / 2)
  float base = 10000.0F;
  float scale = 1.0F;      // of positions: 1 / factor of linear scaling
  float amplitude = 1.0F;  // of the turned elements: long RoPE's attention factor
  // What each frequency is divided by; empty: 1. Where a model has two sets, the long one is for contexts beyond the
  // original.
  std::vector<float> factors;       // [rotated / 2]
  std::vector<float> long_factors;  // [rotated / 2]
  int original_context = 0;

  // [rotated / 2] radians a position, for branches of at most `context` tokens.
  std::vector<float> frequencies(int context) const;
};

struct Geometry {
  std::string architecture;  // as general.architecture names it
  int layers = 0;
  int width = 0;  // of the residual stream
  int heads = 0;  // query heads
  int kv_heads = 0;
  int head_size = 0;
  int feed_forward = 0;
  int n_vocab = 0;
  int context = 0;  // tokens it was trained for
  float norm_epsilon = 1e-6F;
  bool qkv_bias = false;    // qwen2
  bool head_norms = false;  // qwen3: RMSNorm on every head of q and k
  bool tied = false;        // the head is the embedding
  Rope rope;

  int group() const { return heads / kv_heads; }
  int q_width() const { return heads * head_size; }
  int kv_width() const { return kv_heads * head_size; }
  int qkv_width() const { return q_width() + 2 * kv_width(); }
  std::int64_t parameters() const;
  // Elements of K and V of one token over all layers.
  std::int64_t kv_elements() const { return std::int64_t{2} * layers * kv_width(); }
};

}  // namespace dts::native
