// Embedding, norms, RoPE with the KV write, SwiGLU, copies of pages: all bound by memory, one pass each.
#include "engine/native/cuda/kernels.h"
#include "engine/native/cuda/launch.cuh"

namespace dts::native::cuda {
namespace {

constexpr int kWarp = 32;
constexpr unsigned kAll = 0xFFFFFFFFU;

__device__ float warp_sum(float value) {
  for (int lane = kWarp / 2; lane > 0; lane /= 2) value += __shfl_xor_sync(kAll, value, lane);
  return value;
}

__device__ float warp_max(float value) {
  for (int lane = kWarp / 2; lane > 0; lane /= 2) value = fmaxf(value, __shfl_xor_sync(kAll, value, lane));
  return value;
}

__global__ void embed_kernel(const int* tokens, const f16* embedding, float* residual, int width) {
  wait_for_previous();
  const std::size_t row = blockIdx.x;
  const f16* from = embedding + static_cast<std::size_t>(tokens[row]) * width;
  for (int i = threadIdx.x; i < width; i += blockDim.x) residual[row * width + i] = __half2float(from[i]);
}

// A block a row; four elements a thread and turn, kept in registers between the two passes.
template <int kQuads>
__global__ void add_and_norm_kernel(NormArguments a) {
  wait_for_previous();
  __shared__ float sums[kWarp];
  const std::size_t row = a.select != nullptr ? a.select[blockIdx.x] : blockIdx.x;
  const int quads = a.width / 4;
  auto* residual = reinterpret_cast<float4*>(a.residual + row * a.width);
  const auto* slices = reinterpret_cast<const float4*>(a.slices + row * a.width);
  const std::size_t apart = static_cast<std::size_t>(a.slice_rows) * quads;
  float4 kept[kQuads];
  float squares = 0;
#pragma unroll
  for (int q = 0; q < kQuads; ++q) {
    const int i = threadIdx.x + q * blockDim.x;
    kept[q] = make_float4(0, 0, 0, 0);
    if (i >= quads) continue;
    float4 x = residual[i];
    float4 add[kMostSlices];
#pragma unroll
    for (int s = 0; s < kMostSlices; ++s) {
      if (s < a.n_slices) add[s] = slices[s * apart + i];
    }
#pragma unroll
    for (int s = 0; s < kMostSlices; ++s) {
      if (s < a.n_slices) x.x += add[s].x, x.y += add[s].y, x.z += add[s].z, x.w += add[s].w;
    }
    if (a.n_slices > 0 && a.select == nullptr) residual[i] = x;
    kept[q] = x;
    squares += x.x * x.x + x.y * x.y + x.z * x.z + x.w * x.w;
  }
  squares = warp_sum(squares);
  if (threadIdx.x % kWarp == 0) sums[threadIdx.x / kWarp] = squares;
  __syncthreads();
  float total = 0;
  for (int i = 0; i < static_cast<int>(blockDim.x) / kWarp; ++i) total += sums[i];
  const float scale = rsqrtf(total / static_cast<float>(a.width) + a.epsilon);
  const auto* gains = reinterpret_cast<const float4*>(a.weight);
  auto* to = reinterpret_cast<__half2*>(a.out + blockIdx.x * static_cast<std::size_t>(a.width));
#pragma unroll
  for (int q = 0; q < kQuads; ++q) {
    const int i = threadIdx.x + q * blockDim.x;
    if (i >= quads) continue;
    const float4 gain = gains[i];
    to[2 * i] = to_halves(kept[q].x * scale * gain.x, kept[q].y * scale * gain.y);
    to[2 * i + 1] = to_halves(kept[q].z * scale * gain.z, kept[q].w * scale * gain.w);
  }
}

__global__ void turns_kernel(const int* positions, const float* frequencies, float amplitude, float2* turns,
                             int pairs) {
  wait_for_previous();
  const std::size_t row = blockIdx.x;
  for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
    float sine = 0;
    float cosine = 0;
    sincosf(static_cast<float>(positions[row]) * frequencies[i], &sine, &cosine);
    turns[row * pairs + i] = make_float2(cosine * amplitude, sine * amplitude);
  }
}

constexpr int kHeadsPerBlock = 4;
constexpr int kMostPairs = 4;  // of a lane: heads of up to 256 elements

// One token's K, or V, of one head, by a warp: kv_rounding.h has the definition.
__device__ void store_eight_bits(const float* head, int head_size, int offset, unsigned char* page) {
  const int lane = threadIdx.x % kWarp;
  const int blocks = head_size / kScaleBlock;
  auto* to = reinterpret_cast<signed char*>(page) + offset * head_size;
  f16* scales = reinterpret_cast<f16*>(page + kPage * head_size) + offset * blocks;
  static_assert(kScaleBlock == kWarp);
  for (int block = 0; block < blocks; ++block) {
    const float value = within_half(head[block * kScaleBlock + lane]);
    const f16 rounded = __float2half_rn(__fdiv_rn(warp_max(fabsf(value)), 127.0F));
    const float scale = __half2float(rounded);
    const int whole = scale > 0 ? __float2int_rn(__fdiv_rn(value, scale)) : 0;
    to[block * kScaleBlock + lane] = static_cast<signed char>(min(max(whole, -127), 127));
    if (lane == 0) scales[block] = rounded;
  }
}

// A warp a head.
__global__ void rope_kernel(RopeArguments a) {
  wait_for_previous();
  __shared__ float turned_heads[kHeadsPerBlock][2 * kMostPairs * kWarp];  // on their way to 8 bits
  const int row = blockIdx.x;
  const int head = blockIdx.y * kHeadsPerBlock + threadIdx.x / kWarp;
  const int lane = threadIdx.x % kWarp;
  const int all_heads = a.heads + 2 * a.kv_heads;
  if (head >= all_heads) return;
  const bool is_query = head < a.heads;
  const bool is_value = head >= a.heads + a.kv_heads;
  const float* from = a.qkv + (static_cast<std::size_t>(row) * all_heads + head) * a.head_size;
  const int half = a.rotated / 2;
  float first[kMostPairs];
  float second[kMostPairs];
  int at_first[kMostPairs];
  int at_second[kMostPairs];
  float squares = 0;
#pragma unroll
  for (int k = 0; k < kMostPairs; ++k) {
    const int pair = lane + k * kWarp;
    if (pair >= a.head_size / 2) break;
    const bool apart = pair < half && !a.interleaved;
    at_first[k] = apart ? pair : 2 * pair;
    at_second[k] = apart ? pair + half : 2 * pair + 1;
    first[k] = from[at_first[k]];
    second[k] = from[at_second[k]];
    if (a.bias != nullptr) {
      const float* bias = a.bias + static_cast<std::size_t>(head) * a.head_size;
      first[k] += bias[at_first[k]];
      second[k] += bias[at_second[k]];
    }
    squares += first[k] * first[k] + second[k] * second[k];
  }
  const float* norm = is_value ? nullptr : (is_query ? a.query_norm : a.key_norm);
  float scale = 1;
  if (norm != nullptr) scale = rsqrtf(warp_sum(squares) / static_cast<float>(a.head_size) + a.epsilon);
  f16* to = nullptr;
  unsigned char* page = nullptr;  // of this KV head
  if (is_query) {
    to = a.queries + (static_cast<std::size_t>(row) * a.heads + head) * a.head_size;
  } else {
    const int kv_head = (head - a.heads) % a.kv_heads;
    page = (is_value ? a.values : a.keys) + (static_cast<std::size_t>(a.slot_pages[row]) * a.kv_heads + kv_head) *
                                                head_page_bytes(a.head_size, a.eight_bits);
    to = reinterpret_cast<f16*>(page) + a.slot_offsets[row] * a.head_size;
  }
  const bool eight_bits = a.eight_bits && !is_query;
  float* whole_head = turned_heads[threadIdx.x / kWarp];
#pragma unroll
  for (int k = 0; k < kMostPairs; ++k) {
    const int pair = lane + k * kWarp;
    if (pair >= a.head_size / 2) break;
    float x = first[k];
    float y = second[k];
    if (norm != nullptr) {
      x *= scale * norm[at_first[k]];
      y *= scale * norm[at_second[k]];
    }
    if (!is_value && pair < half) {
      const float2 turn = a.turns[static_cast<std::size_t>(row) * half + pair];
      const float turned = x * turn.x - y * turn.y;
      y = y * turn.x + x * turn.y;
      x = turned;
    }
    if (eight_bits) {
      whole_head[at_first[k]] = x;
      whole_head[at_second[k]] = y;
    } else {
      to[at_first[k]] = to_half(x);
      to[at_second[k]] = to_half(y);
    }
  }
  if (!eight_bits) return;
  __syncwarp();
  store_eight_bits(whole_head, a.head_size, a.slot_offsets[row], page);
}

// Eight elements a thread.
__global__ void gated_silu_kernel(const f16* gate_up, f16* out, int inner) {
  wait_for_previous();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= inner / 8) return;
  const std::size_t row = blockIdx.y;
  const auto* rows = reinterpret_cast<const uint4*>(gate_up + row * 2 * inner);
  const uint4 gates = rows[i];
  const uint4 ups = rows[inner / 8 + i];
  uint4 result;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const float2 gate = __half22float2(reinterpret_cast<const __half2*>(&gates)[k]);
    const float2 up = __half22float2(reinterpret_cast<const __half2*>(&ups)[k]);
    // A product that left half precision is infinite here.
    const auto gated = [](float g, float u) { return within_half(g) / (1.0F + __expf(-g)) * within_half(u); };
    reinterpret_cast<__half2*>(&result)[k] = to_halves(gated(gate.x, up.x), gated(gate.y, up.y));
  }
  reinterpret_cast<uint4*>(out + row * inner)[i] = result;
}

// K, or V, of one layer of one page, by a block.
__device__ void copy_page(unsigned char* to, const unsigned char* from, int bytes) {
  for (int i = threadIdx.x; i < bytes / 16; i += blockDim.x) {
    reinterpret_cast<uint4*>(to)[i] = reinterpret_cast<const uint4*>(from)[i];
  }
}

__device__ unsigned char* page_of(const Cache& cache, int layer, bool values, int page) {
  return (values ? cache.values : cache.keys) +
         (static_cast<std::size_t>(layer) * cache.pages + page) * cache.page_bytes;
}

// Grids of these: (pages, layers, K and V).
__global__ void copy_kernel(Cache cache, const Copy* copies) {
  wait_for_previous();
  const Copy copy = copies[blockIdx.x];
  const bool values = blockIdx.z == 1;
  copy_page(page_of(cache, blockIdx.y, values, copy.to), page_of(cache, blockIdx.y, values, copy.from),
            cache.page_bytes);
}

__device__ std::size_t place_in_stretch(const Cache& cache) {
  return ((static_cast<std::size_t>(blockIdx.x) * cache.layers + blockIdx.y) * 2 + blockIdx.z) * cache.page_bytes;
}

__global__ void gather_kernel(Cache cache, const int* pages, unsigned char* stretch) {
  wait_for_previous();
  copy_page(stretch + place_in_stretch(cache), page_of(cache, blockIdx.y, blockIdx.z == 1, pages[blockIdx.x]),
            cache.page_bytes);
}

__global__ void scatter_kernel(Cache cache, const int* pages, const unsigned char* stretch) {
  wait_for_previous();
  copy_page(page_of(cache, blockIdx.y, blockIdx.z == 1, pages[blockIdx.x]), stretch + place_in_stretch(cache),
            cache.page_bytes);
}

}  // namespace

void embed(const int* tokens, const f16* embedding, float* residual, int rows, int width, cudaStream_t stream) {
  launch(embed_kernel, rows, 256, 0, stream, tokens, embedding, residual, width);
}

void add_and_norm(const NormArguments& a, cudaStream_t stream) {
  constexpr int kThreads = 512;
  const int quads = (a.width / 4 + kThreads - 1) / kThreads;
  if (quads <= 1) {
    launch(add_and_norm_kernel<1>, a.rows, kThreads, 0, stream, a);
  } else if (quads <= 2) {
    launch(add_and_norm_kernel<2>, a.rows, kThreads, 0, stream, a);
  } else {
    launch(add_and_norm_kernel<8>, a.rows, kThreads, 0, stream, a);
  }
}

void compute_turns(const int* positions, const float* frequencies, float amplitude, float2* turns, int rows, int pairs,
                   cudaStream_t stream) {
  launch(turns_kernel, rows, 64, 0, stream, positions, frequencies, amplitude, turns, pairs);
}

void rope_and_store(const RopeArguments& a, cudaStream_t stream) {
  const int heads = a.heads + 2 * a.kv_heads;
  const dim3 grid(a.rows, (heads + kHeadsPerBlock - 1) / kHeadsPerBlock);
  launch(rope_kernel, grid, kHeadsPerBlock * kWarp, 0, stream, a);
}

void gated_silu(const f16* gate_up, f16* out, int rows, int inner, cudaStream_t stream) {
  const dim3 grid((inner / 8 + 255) / 256, rows);
  launch(gated_silu_kernel, grid, 256, 0, stream, gate_up, out, inner);
}

void copy_pages(const Cache& cache, const Copy* copies, int n_copies, cudaStream_t stream) {
  launch(copy_kernel, dim3(n_copies, cache.layers, 2), 256, 0, stream, cache, copies);
}

void gather_pages(const Cache& cache, const int* pages, int n_pages, unsigned char* stretch, cudaStream_t stream) {
  launch(gather_kernel, dim3(n_pages, cache.layers, 2), 256, 0, stream, cache, pages, stretch);
}

void scatter_pages(const Cache& cache, const int* pages, int n_pages, const unsigned char* stretch,
                   cudaStream_t stream) {
  launch(scatter_kernel, dim3(n_pages, cache.layers, 2), 256, 0, stream, cache, pages, stretch);
}

}  // namespace dts::native::cuda
