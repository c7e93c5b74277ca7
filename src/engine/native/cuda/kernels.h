// The kernels, as the backend launches them. Rows are padded to a bucket: padding rows are computed like all others and
// read by nobody. All pointers are the device's.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

namespace dts::native::cuda {

// Half precision: as fast as bf16 on tensor cores, and eight times as fine. Its range is enough for weights and for
// what goes into a product; sums and the residual stream are single precision.
using f16 = __half;

inline constexpr int kPage = 64;        // tokens of a page; kPageTokens, which this file cannot see
inline constexpr int kScaleBlock = 32;  // elements of a head that share a scale in 8 bits; kKvBlock

// K, or V, of one KV head of a page, in one layer: [kPage, head_size] in half precision; or in 8 bits
// [kPage, head_size], then their scales, [kPage, head_size / kScaleBlock] in half precision.
constexpr int head_page_bytes(int head_size, bool eight_bits) {
  return eight_bits ? kPage * (head_size + head_size / kScaleBlock * 2) : kPage * head_size * 2;
}

// residual[r] = embedding[tokens[r]].  [rows, width]
void embed(const int* tokens, const f16* embedding, float* residual, int rows, int width, cudaStream_t stream);

inline constexpr int kMostSlices = 4;

// x[r] = residual[r] + the slices' [r], in their order; out[r] = x[r] / rms * weight, and x[r] is the new residual[r].
// With `select`, out[i] is made for row select[i], and the residual stays as it is.
struct NormArguments {
  float* residual = nullptr;      // [rows, width]
  const float* slices = nullptr;  // [n_slices, slice_rows, width]
  const int* select = nullptr;    // [rows] or null
  const float* weight = nullptr;  // [width]
  f16* out = nullptr;             // [rows, width]
  int n_slices = 0, slice_rows = 0, rows = 0, width = 0;
  float epsilon = 0;
};
void add_and_norm(const NormArguments& arguments, cudaStream_t stream);

// turns[r, i] = amplitude * (cos, sin)(positions[r] * frequencies[i]): the same for all layers.  [rows, pairs]
void compute_turns(const int* positions, const float* frequencies, float amplitude, float2* turns, int rows, int pairs,
                   cudaStream_t stream);

// Bias, head norms, RoPE; queries to `queries`, keys and values to their slots.
struct RopeArguments {
  const float* qkv = nullptr;         // [rows, (heads + 2 kv_heads) * head_size]
  const float* bias = nullptr;        // [(heads + 2 kv_heads) * head_size] or null
  const float* query_norm = nullptr;  // [head_size] or null
  const float* key_norm = nullptr;
  const float2* turns = nullptr;      // [rows, rotated / 2]
  const int* slot_pages = nullptr;    // [rows]
  const int* slot_offsets = nullptr;  // [rows]
  f16* queries = nullptr;             // [rows, heads, head_size]
  unsigned char* keys = nullptr;      // [pages, kv_heads, head_page_bytes()] of this layer
  unsigned char* values = nullptr;
  int rows = 0, heads = 0, kv_heads = 0, head_size = 0, rotated = 0;
  bool interleaved = false;
  bool eight_bits = false;
  float epsilon = 0;
};
void rope_and_store(const RopeArguments& arguments, cudaStream_t stream);

// out = silu(gate) * up.  gate_up [rows, 2 * inner], out [rows, inner]
void gated_silu(const f16* gate_up, f16* out, int rows, int inner, cudaStream_t stream);

// K and V: keys, values [layers, pages, page_bytes]
struct Cache {
  unsigned char* keys = nullptr;
  unsigned char* values = nullptr;
  int layers = 0;
  std::size_t pages = 0;
  int page_bytes = 0;  // a multiple of 16
};

// Whole pages of all layers.
struct Copy {
  int from = 0;
  int to = 0;
};
void copy_pages(const Cache& cache, const Copy* copies, int n_copies, cudaStream_t stream);

// The same to one stretch of memory, and back: stretch [n_pages, layers, (K, V), page_bytes]
void gather_pages(const Cache& cache, const int* pages, int n_pages, unsigned char* stretch, cudaStream_t stream);
void scatter_pages(const Cache& cache, const int* pages, int n_pages, const unsigned char* stretch,
                   cudaStream_t stream);

// ---- attention

struct Item {
  std::int32_t first_page, n_pages, first_position, part, first_row, n_rows;
};

// Where a step's attention lies in its buffer of 32-bit numbers.
struct WorkHeader {
  std::int32_t n_items = 0;
  std::int32_t items = 0;  // offsets, in numbers
  std::int32_t rows = 0;
  std::int32_t pages = 0;
};

struct AttentionArguments {
  const f16* queries = nullptr;         // [rows, heads, head_size]
  const unsigned char* keys = nullptr;  // [pages, kv_heads, head_page_bytes()] of this layer
  const unsigned char* values = nullptr;
  const WorkHeader* work = nullptr;  // followed by the numbers that it points into
  const int* positions = nullptr;    // [rows]
  const int* part_starts = nullptr;  // [rows + 1]
  float* partial_values = nullptr;   // [parts, heads, head_size]
  float2* partial_sums = nullptr;    // [parts, heads]: largest score (base 2), sum
  f16* out = nullptr;                // [rows, heads, head_size]
  int rows = 0, heads = 0, kv_heads = 0, head_size = 0;
  float scale = 1;  // of the scores, times log2(e)
  bool eight_bits = false;
};
bool has_attention_for(int head_size);
int attention_tile(int heads, int kv_heads);  // step rows that an item may have
void tree_attention(const AttentionArguments& arguments, int blocks, cudaStream_t stream);
int attention_blocks(int head_size, bool eight_bits);  // that run at once on this device
void merge_parts(const AttentionArguments& arguments, cudaStream_t stream);

// ---- predictions

inline constexpr int kRanked = 64;            // candidates that the device keeps
inline constexpr int kBlockLogits = 2048;     // a block's sums
inline constexpr int kGroupLogits = 256;      // a group's largest
inline constexpr int kSmallGroupLogits = 16;  // in vocabularies with too few of those
inline constexpr int kMostGroups = 1024;
inline constexpr int kMostVocabulary = kMostGroups * kGroupLogits;

struct DeviceSpec {
  std::uint64_t draw = 0;
  double sample_inverse = 0;  // 1 / T; 0: the most probable
  float stat_scale = 1;       // log2(e) / T_stat
  std::int32_t confidence_k = 0;
  std::int32_t sample_top_k = 0;  // 0: no limit
  float top_p = 1;
  float min_p = 0;
  std::int32_t by_host = 0;  // beyond the device: the host takes the row's logits
};

struct DevicePrediction {
  enum Status : std::int32_t { kOk, kNotANumber, kByHost };
  std::int32_t status = kOk;
  float entropy = 0, varentropy = 0, confidence = 0;
  std::int32_t sampled = 0;
  float sampled_logprob = 0;
  std::int32_t n_ranked = 0;
  std::int32_t tokens[kRanked] = {};
  float logprobs[kRanked] = {};
};

struct DeviceBlockSums {
  double sample;
  float max, stat, stat_first, stat_second, unit;
  std::int32_t invalid;
};

struct PredictArguments {
  const float* logits = nullptr;  // [rows, stride]
  const DeviceSpec* specs = nullptr;
  float* group_max = nullptr;       // [rows, kMostGroups]
  DeviceBlockSums* sums = nullptr;  // [rows, blocks]
  DevicePrediction* out = nullptr;
  int rows = 0, n_vocab = 0, stride = 0;
};
constexpr int group_logits_of(int n_vocab) {
  return n_vocab < kRanked * kGroupLogits ? kSmallGroupLogits : kGroupLogits;
}
inline int blocks_of(int n_vocab) { return (n_vocab + kBlockLogits - 1) / kBlockLogits; }
void predict(const PredictArguments& arguments, cudaStream_t stream);

}  // namespace dts::native::cuda
