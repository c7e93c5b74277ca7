// Tree attention on tensor cores. A block takes one item for one KV head: up to 16 query rows (step rows x query heads
// of the group) against a run of pages, which it streams through shared memory, some tiles ahead. Each of its warps
// sees its share of every tile with a running softmax of its own; they are merged at the end in a fixed order, and so
// are a row's parts, by a second kernel. Nothing of a row's result depends on the other rows of its tile. K and V in 8
// bits are expanded to half precision tile by tile, in shared memory.
#include <cstdint>

#include "engine/native/cuda/kernels.h"
#include "engine/native/cuda/launch.cuh"

namespace dts::native::cuda {
namespace {

constexpr int kRows = 16;  // of a tile: the tensor cores'
constexpr int kWarps = 4;
constexpr int kThreads = 32 * kWarps;
constexpr int kWarpTokens = 16;              // of a tile, a warp's
constexpr int kTile = kWarps * kWarpTokens;  // tokens
constexpr int kTilesOfPage = kPage / kTile;
constexpr int kStages = 2;
constexpr int kMergeWarps = 4;
constexpr unsigned kAll = 0xFFFFFFFFU;
constexpr float kNothing = -1e30F;  // a score that weighs nothing; finite, so that differences are

// A row of a tile in shared memory: eight elements more than a head, so that eight rows fall into different banks.
template <int kHead>
constexpr int kStride = kHead + 8;

// Half precision: tiles are used as they come.
template <int kHead, bool kEightBits>
struct Tiles {
  f16 keys[kStages][kTile * kStride<kHead>];
  f16 values[kStages][kTile * kStride<kHead>];
  f16 queries[kRows * kStride<kHead>];
};

// 8 bits: they come packed, and are expanded one at a time.
template <int kHead>
struct Tiles<kHead, true> {
  static constexpr int kTileBytes = head_page_bytes(kHead, true) / kTilesOfPage;
  alignas(16) unsigned char packed_keys[kStages][kTileBytes];
  alignas(16) unsigned char packed_values[kStages][kTileBytes];
  f16 keys[1][kTile * kStride<kHead>];
  f16 values[1][kTile * kStride<kHead>];
  f16 queries[kRows * kStride<kHead>];
};

// A row of a tile: a query, the last position it may see, counted from the run's first, and where its part goes.
struct TileRow {
  int query, last, part;
};

template <int kHead>
struct Merge {  // in the place of the tiles once they are done with
  float values[kWarps][kRows][kStride<kHead>];
  float max[kWarps][kRows];
  float sum[kWarps][kRows];
};

__device__ std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ void copy_async(void* to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from));
}
__device__ void commit_copies() { asm volatile("cp.async.commit_group;"); }
template <int kPending>
__device__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending));
}

// Four 8 x 8 matrices; lane l names row l % 8 of matrix l / 8.
__device__ void load_matrices(std::uint32_t (&out)[4], const f16* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
               : "r"(shared_address(row)));
}
__device__ void load_matrices_transposed(std::uint32_t (&out)[4], const f16* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
               : "r"(shared_address(row)));
}

// c[16 x 8] += a[16 x 16] b[16 x 8]
__device__ void multiply_add(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ std::uint32_t packed(float low, float high) {
  const __half2 pair = __floats2half2_rn(low, high);  // weights of at most 1
  return *reinterpret_cast<const std::uint32_t*>(&pair);
}

// Starts the copy of one tile of one KV head to shared memory.
template <int kHead>
__device__ void load_tile(Tiles<kHead, false>& tiles, int stage, const AttentionArguments& a, int page, int tile,
                          int kv_head) {
  constexpr int kChunks = kHead / 8;  // of 16 bytes
  const std::size_t head_page = (static_cast<std::size_t>(page) * a.kv_heads + kv_head) * head_page_bytes(kHead, false);
  const int start = tile % kTilesOfPage * kTile * kHead;
  const f16* keys = reinterpret_cast<const f16*>(a.keys + head_page) + start;
  const f16* values = reinterpret_cast<const f16*>(a.values + head_page) + start;
  for (int i = threadIdx.x; i < kTile * kChunks; i += kThreads) {
    const int to = i / kChunks * kStride<kHead> + i % kChunks * 8;
    copy_async(&tiles.keys[stage][to], keys + i * 8);
    copy_async(&tiles.values[stage][to], values + i * 8);
  }
}

template <int kHead>
__device__ void load_tile(Tiles<kHead, true>& tiles, int stage, const AttentionArguments& a, int page, int /*tile*/,
                          int kv_head) {
  static_assert(kTilesOfPage == 1, "a tile has all of a page's scales");
  constexpr int kBytes = head_page_bytes(kHead, true);
  static_assert(kBytes % 16 == 0);
  const std::size_t start = (static_cast<std::size_t>(page) * a.kv_heads + kv_head) * kBytes;
  for (int i = threadIdx.x * 16; i < kBytes; i += kThreads * 16) {
    copy_async(&tiles.packed_keys[stage][i], a.keys + start + i);
    copy_async(&tiles.packed_values[stage][i], a.values + start + i);
  }
}

// Bytes 0 and 1 of `bytes`, or 2 and 3, as signed numbers. A half whose bits are 0x6400 + b is 1024 + b.
template <bool kUpper>
__device__ __half2 halves_of(std::uint32_t bytes) {
  const std::uint32_t raised = __byte_perm(bytes ^ 0x80808080U, 0x64646464U, kUpper ? 0x4342 : 0x4140);
  return __hsub2(*reinterpret_cast<const __half2*>(&raised), __float2half2_rn(1024 + 128));
}

// 16 elements a thread and turn; they are within one block, so they have one scale.
template <int kHead>
__device__ void expand(const unsigned char* packed, f16* tile) {
  constexpr int kChunks = kHead / 16;
  static_assert(kScaleBlock % 16 == 0);
  const f16* scales = reinterpret_cast<const f16*>(packed + kTile * kHead);
  for (int i = threadIdx.x; i < kTile * kChunks; i += kThreads) {
    const uint4 bytes = *reinterpret_cast<const uint4*>(packed + i * 16);
    const __half2 scale = __half2half2(scales[i * 16 / kScaleBlock]);
    __half2 out[8];
    const std::uint32_t words[4] = {bytes.x, bytes.y, bytes.z, bytes.w};
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      out[2 * w] = __hmul2(halves_of<false>(words[w]), scale);
      out[2 * w + 1] = __hmul2(halves_of<true>(words[w]), scale);
    }
    auto* to = reinterpret_cast<uint4*>(tile + i / kChunks * kStride<kHead> + i % kChunks * 16);
    to[0] = reinterpret_cast<const uint4*>(out)[0];
    to[1] = reinterpret_cast<const uint4*>(out)[1];
  }
}

// What to attend to is there before a step starts: it is read while the kernel before this one still runs.
template <int kHead, bool kEightBits>
__global__ void __launch_bounds__(kThreads) attention_kernel(AttentionArguments a) {
  extern __shared__ __align__(128) unsigned char shared[];
  auto& tiles = *reinterpret_cast<Tiles<kHead, kEightBits>*>(shared);
  auto& merge = *reinterpret_cast<Merge<kHead>*>(shared);
  __shared__ TileRow rows[kRows];
  constexpr int kSlices = kHead / 16;
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int group = a.heads / a.kv_heads;
  const int head_tiles = (group + kRows - 1) / kRows;
  const WorkHeader header = *a.work;
  const auto* numbers = reinterpret_cast<const std::int32_t*>(a.work);
  const auto* items = reinterpret_cast<const Item*>(numbers + header.items);

  const int per_item = a.kv_heads * head_tiles;
  for (int work = blockIdx.x; work < header.n_items * per_item; work += gridDim.x) {
    const Item item = items[work / per_item];
    const int kv_head = work % per_item / head_tiles;
    const int first_head = kv_head * group + work % head_tiles * kRows;
    const int tile_heads = min(group - work % head_tiles * kRows, kRows);
    const int n_rows = item.n_rows * tile_heads;
    const std::int32_t* pages = numbers + header.pages + item.first_page;
    const int n_tiles = item.n_pages * kTilesOfPage;

    // A thread a row of the tile.
    const auto find_row = [&] {
      const int r = threadIdx.x;
      if (r >= kRows) return;
      rows[r] = {.query = -1, .last = 0, .part = 0};
      if (r >= n_rows) return;
      const int step_row = numbers[header.rows + item.first_row + r / tile_heads];
      const int head = first_head + r % tile_heads;
      rows[r] = {.query = step_row * a.heads + head,
                 .last = a.positions[step_row] - item.first_position,
                 .part = (a.part_starts[step_row] + item.part) * a.heads + head};
    };
    const bool first = work == static_cast<int>(blockIdx.x);
    if (first) {
      find_row();
      wait_for_previous();
    }

    __syncthreads();  // the last item's merge is read
#pragma unroll
    for (int stage = 0; stage < kStages; ++stage) {
      if (stage < n_tiles) load_tile(tiles, stage, a, pages[stage / kTilesOfPage], stage, kv_head);
      if (stage + 1 < kStages) commit_copies();  // one group a stage, be there a tile or not
    }
    if (!first) find_row();
    __syncthreads();
    for (int i = threadIdx.x; i < kRows * (kHead / 8); i += kThreads) {
      const int r = i / (kHead / 8);
      const int chunk = i % (kHead / 8) * 8;
      f16* to = &tiles.queries[r * kStride<kHead> + chunk];
      if (r < n_rows) {
        copy_async(to, a.queries + static_cast<std::size_t>(rows[r].query) * kHead + chunk);
      } else {
        *reinterpret_cast<uint4*>(to) = make_uint4(0, 0, 0, 0);
      }
    }
    commit_copies();  // with the last stage's: the first tile waits for all of them

    // This lane's two rows of the tile, and the last position each may see, counted from the run's first.
    const int row0 = lane / 4;
    const int row1 = row0 + 8;
    const int last0 = rows[row0].last;
    const int last1 = rows[row1].last;

    float max0 = kNothing, max1 = kNothing, sum0 = 0, sum1 = 0;
    float out[kHead / 8][4];
#pragma unroll
    for (int i = 0; i < kHead / 8; ++i) {
      out[i][0] = out[i][1] = out[i][2] = out[i][3] = 0;
    }
    std::uint32_t query[kSlices][4];

    for (int tile = 0; tile < n_tiles; ++tile) {
      const int ahead = tile + kStages;
      const int page_ahead = ahead < n_tiles ? pages[ahead / kTilesOfPage] : 0;
      if (tile == 0) {
        wait_for_copies<0>();
      } else {
        wait_for_copies<kStages - 1>();
      }
      __syncthreads();
      if (tile == 0) {
#pragma unroll
        for (int k = 0; k < kSlices; ++k) {
          load_matrices(query[k], &tiles.queries[(lane % 16) * kStride<kHead> + k * 16 + lane / 16 * 8]);
        }
      }
      int stage = tile % kStages;
      if constexpr (kEightBits) {
        expand<kHead>(tiles.packed_keys[stage], tiles.keys[0]);
        expand<kHead>(tiles.packed_values[stage], tiles.values[0]);
        __syncthreads();
        if (ahead < n_tiles) load_tile(tiles, stage, a, page_ahead, ahead, kv_head);  // what was there is expanded
        commit_copies();
        stage = 0;
      }
      const f16* keys = &tiles.keys[stage][warp * kWarpTokens * kStride<kHead>];
      const f16* values = &tiles.values[stage][warp * kWarpTokens * kStride<kHead>];
      float scores[2][4] = {{0, 0, 0, 0}, {0, 0, 0, 0}};  // [8 tokens each]
#pragma unroll
      for (int k = 0; k < kSlices; ++k) {
        std::uint32_t b[4];
        load_matrices(b, &keys[(lane % 8 + lane / 16 * 8) * kStride<kHead> + k * 16 + lane / 8 % 2 * 8]);
        multiply_add(scores[0], query[k], b[0], b[1]);
        multiply_add(scores[1], query[k], b[2], b[3]);
      }
      const int first = tile * kTile + warp * kWarpTokens + lane % 4 * 2;
      float new0 = max0;
      float new1 = max1;
#pragma unroll
      for (int j = 0; j < 2; ++j) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const int token = first + j * 8 + e;
          scores[j][e] = token <= last0 ? scores[j][e] * a.scale : kNothing;
          scores[j][e + 2] = token <= last1 ? scores[j][e + 2] * a.scale : kNothing;
          new0 = fmaxf(new0, scores[j][e]);
          new1 = fmaxf(new1, scores[j][e + 2]);
        }
      }
#pragma unroll
      for (int step = 1; step < 4; step *= 2) {
        new0 = fmaxf(new0, __shfl_xor_sync(kAll, new0, step));
        new1 = fmaxf(new1, __shfl_xor_sync(kAll, new1, step));
      }
      const float old0 = exp2f(max0 - new0);
      const float old1 = exp2f(max1 - new1);
      max0 = new0;
      max1 = new1;
      float add0 = 0;
      float add1 = 0;
#pragma unroll
      for (int j = 0; j < 2; ++j) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          // Where nothing was seen yet, the largest score is kNothing itself: such tokens must still weigh nothing.
          scores[j][e] = scores[j][e] == kNothing ? 0.0F : exp2f(scores[j][e] - max0);
          scores[j][e + 2] = scores[j][e + 2] == kNothing ? 0.0F : exp2f(scores[j][e + 2] - max1);
          add0 += scores[j][e];
          add1 += scores[j][e + 2];
        }
      }
#pragma unroll
      for (int step = 1; step < 4; step *= 2) {
        add0 += __shfl_xor_sync(kAll, add0, step);
        add1 += __shfl_xor_sync(kAll, add1, step);
      }
      sum0 = sum0 * old0 + add0;
      sum1 = sum1 * old1 + add1;
#pragma unroll
      for (int i = 0; i < kHead / 8; ++i) {
        out[i][0] *= old0;
        out[i][1] *= old0;
        out[i][2] *= old1;
        out[i][3] *= old1;
      }
      const std::uint32_t weights[4] = {packed(scores[0][0], scores[0][1]), packed(scores[0][2], scores[0][3]),
                                        packed(scores[1][0], scores[1][1]), packed(scores[1][2], scores[1][3])};
#pragma unroll
      for (int i = 0; i < kSlices; ++i) {
        std::uint32_t b[4];
        load_matrices_transposed(b, &values[(lane % 16) * kStride<kHead> + i * 16 + lane / 16 * 8]);
        multiply_add(out[2 * i], weights, b[0], b[1]);
        multiply_add(out[2 * i + 1], weights, b[2], b[3]);
      }
      __syncthreads();
      if constexpr (!kEightBits) {
        if (ahead < n_tiles) load_tile(tiles, stage, a, page_ahead, ahead, kv_head);
        commit_copies();
      }
    }

#pragma unroll
    for (int i = 0; i < kHead / 8; ++i) {
      const int column = i * 8 + lane % 4 * 2;
      *reinterpret_cast<float2*>(&merge.values[warp][row0][column]) = make_float2(out[i][0], out[i][1]);
      *reinterpret_cast<float2*>(&merge.values[warp][row1][column]) = make_float2(out[i][2], out[i][3]);
    }
    if (lane % 4 == 0) {
      merge.max[warp][row0] = max0;
      merge.max[warp][row1] = max1;
      merge.sum[warp][row0] = sum0;
      merge.sum[warp][row1] = sum1;
    }
    __syncthreads();
    constexpr int kQuads = kHead / 4;
    for (int i = threadIdx.x; i < n_rows * kQuads; i += kThreads) {
      const int r = i / kQuads;
      const int column = i % kQuads * 4;
      float max = kNothing;
#pragma unroll
      for (int w = 0; w < kWarps; ++w) max = fmaxf(max, merge.max[w][r]);
      float sum = 0;
      float4 value = make_float4(0, 0, 0, 0);
#pragma unroll
      for (int w = 0; w < kWarps; ++w) {
        const float weight = exp2f(merge.max[w][r] - max);
        const float4 own = *reinterpret_cast<const float4*>(&merge.values[w][r][column]);
        sum += weight * merge.sum[w][r];
        value.x += weight * own.x;
        value.y += weight * own.y;
        value.z += weight * own.z;
        value.w += weight * own.w;
      }
      const auto part = static_cast<std::size_t>(rows[r].part);
      *reinterpret_cast<float4*>(&a.partial_values[part * kHead + column]) = value;
      if (column == 0) a.partial_sums[part] = make_float2(max, sum);
    }
  }
}

// The parts of a head of a row, in their order, by a warp: a lane has four elements of the head. Padding rows have no
// parts: zeros.
template <int kHead>
__global__ void merge_kernel(AttentionArguments a) {
  constexpr int kTogether = 8;  // loads under way
  const int row = blockIdx.x;
  const int head = blockIdx.y * kMergeWarps + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (head >= a.heads) return;
  const int begin = a.part_starts[row];
  const int end = a.part_starts[row + 1];
  const int column = lane < kHead / 4 ? lane * 4 : 0;
  wait_for_previous();
  float max = kNothing;
  float sum = 0;
  float4 value = make_float4(0, 0, 0, 0);
  for (int first = begin; first < end; first += kTogether) {
    float4 parts[kTogether];
    float2 sums[kTogether];
#pragma unroll
    for (int k = 0; k < kTogether; ++k) {
      if (first + k >= end) continue;
      const std::size_t index = static_cast<std::size_t>(first + k) * a.heads + head;
      parts[k] = *reinterpret_cast<const float4*>(&a.partial_values[index * kHead + column]);
      sums[k] = a.partial_sums[index];
    }
    float larger = max;
#pragma unroll
    for (int k = 0; k < kTogether; ++k) {
      if (first + k < end) larger = fmaxf(larger, sums[k].x);
    }
    const float old = exp2f(max - larger);
    max = larger;
    sum *= old;
    value = make_float4(value.x * old, value.y * old, value.z * old, value.w * old);
#pragma unroll
    for (int k = 0; k < kTogether; ++k) {
      if (first + k >= end) continue;
      const float weight = exp2f(sums[k].x - max);
      sum += weight * sums[k].y;
      value.x += weight * parts[k].x;
      value.y += weight * parts[k].y;
      value.z += weight * parts[k].z;
      value.w += weight * parts[k].w;
    }
  }
  if (lane >= kHead / 4) return;
  const float scale = begin < end ? 1.0F / sum : 0.0F;
  const __half2 halves[2] = {to_halves(value.x * scale, value.y * scale), to_halves(value.z * scale, value.w * scale)};
  f16* to = a.out + (static_cast<std::size_t>(row) * a.heads + head) * kHead + column;
  *reinterpret_cast<uint2*>(to) = *reinterpret_cast<const uint2*>(halves);
}

template <int kHead, bool kEightBits>
constexpr std::size_t shared_bytes() {
  constexpr std::size_t tiles = sizeof(Tiles<kHead, kEightBits>);
  return tiles > sizeof(Merge<kHead>) ? tiles : sizeof(Merge<kHead>);
}

template <typename Action>
void for_head_size(int head_size, Action action) {
  switch (head_size) {
    case 32:
      return action.template operator()<32>();
    case 64:
      return action.template operator()<64>();
    case 96:
      return action.template operator()<96>();
    case 128:
      return action.template operator()<128>();
    default:
      return;
  }
}

template <int kHead, bool kEightBits>
int blocks_at_once() {
  int blocks = 0;
  constexpr std::size_t bytes = shared_bytes<kHead, kEightBits>();
  const auto kernel = attention_kernel<kHead, kEightBits>;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, kThreads, bytes);
  return blocks;
}

}  // namespace

bool has_attention_for(int head_size) {
  return head_size == 32 || head_size == 64 || head_size == 96 || head_size == 128;
}

int attention_tile(int heads, int kv_heads) {
  const int group = heads / kv_heads;
  return group >= kRows ? 1 : kRows / group;
}

int attention_blocks(int head_size, bool eight_bits) {
  int device = 0;
  int processors = 0;
  int blocks = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  for_head_size(head_size, [&]<int kHead>() {
    blocks = eight_bits ? blocks_at_once<kHead, true>() : blocks_at_once<kHead, false>();
  });
  return processors * (blocks > 0 ? blocks : 1);
}

void tree_attention(const AttentionArguments& a, int blocks, cudaStream_t stream) {
  for_head_size(a.head_size, [&]<int kHead>() {
    if (a.eight_bits) {
      launch(attention_kernel<kHead, true>, blocks, kThreads, shared_bytes<kHead, true>(), stream, a);
    } else {
      launch(attention_kernel<kHead, false>, blocks, kThreads, shared_bytes<kHead, false>(), stream, a);
    }
  });
}

void merge_parts(const AttentionArguments& a, cudaStream_t stream) {
  for_head_size(a.head_size, [&]<int kHead>() {
    launch(merge_kernel<kHead>, dim3(a.rows, (a.heads + kMergeWarps - 1) / kMergeWarps), 32 * kMergeWarps, 0, stream,
           a);
  });
}

}  // namespace dts::native::cuda
