// Logits to predictions where the logits are, by the definitions of docs/algorithm.md.
//
// The first kernel reads every logit once: sums a block of 2,048, the largest of each group of 256. The second, a block
// a row, puts them together. At least 64 logits are as large as the 64th largest group's largest: those that are make
// the ranking. Statistics are single precision within a block and double beyond. The weights that are drawn by are good
// to nine digits throughout; where a draw or a cut comes closer to its boundary than they can tell, they are taken
// again in full double precision. What is too close even then, or needs more of the ranking, is left to the host.
#include "engine/native/cuda/kernels.h"
#include "engine/native/cuda/launch.cuh"

namespace dts::native::cuda {
namespace {

constexpr int kScanThreads = 256;
constexpr int kEach = kBlockLogits / kScanThreads;  // logits of a thread
constexpr int kThreads = 1024;                      // of the second kernel
constexpr int kMostListed = 1024;
constexpr unsigned kAll = 0xFFFFFFFFU;
// How far sums of weights over a row can be off, relative to their total: by exp2_to_nine_digits(), and by exp().
constexpr double kRoughError = 2e-9;
constexpr double kExactError = 1e-12;
constexpr double kLn2 = 0.693147180559945309417232121458;

static_assert(kEach * 32 == kGroupLogits && kEach * 2 == kSmallGroupLogits, "a warp or two lanes read a group");

__device__ float infinity() { return __int_as_float(0x7F800000); }

__device__ float warp_max(float value) {
  for (int lane = 16; lane > 0; lane /= 2) value = fmaxf(value, __shfl_xor_sync(kAll, value, lane));
  return value;
}
__device__ float warp_sum(float value) {
  for (int lane = 16; lane > 0; lane /= 2) value += __shfl_xor_sync(kAll, value, lane);
  return value;
}

// 2^x for x <= 0. The series of e^(f ln 2) for |f| <= 1/2: what is left out is below 2e-10.
__device__ double exp2_to_nine_digits(double x) {
  if (x < -1000) return 0;
  const double whole = rint(x);
  const double y = (x - whole) * kLn2;
  double sum = 1.0 / 40320;
  sum = fma(sum, y, 1.0 / 5040);
  sum = fma(sum, y, 1.0 / 720);
  sum = fma(sum, y, 1.0 / 120);
  sum = fma(sum, y, 1.0 / 24);
  sum = fma(sum, y, 1.0 / 6);
  sum = fma(sum, y, 0.5);
  sum = fma(sum, y, 1.0);
  sum = fma(sum, y, 1.0);
  return sum * __longlong_as_double((static_cast<long long>(whole) + 1023) << 52);
}

__global__ void __launch_bounds__(kScanThreads) scan_kernel(PredictArguments a) {
  wait_for_previous();
  __shared__ float warp_maxima[kScanThreads / 32];
  __shared__ float warp_sums[4][kScanThreads / 32];
  __shared__ double warp_samples[kScanThreads / 32];
  __shared__ int any_invalid;
  const int block = blockIdx.x;
  const std::size_t row = blockIdx.y;
  const int warp = threadIdx.x / 32;
  const int first = block * kBlockLogits + threadIdx.x * kEach;
  const float* logits = a.logits + row * a.stride;
  if (threadIdx.x == 0) any_invalid = 0;
  __syncthreads();

  float z[kEach];
  float max = -infinity();
  bool invalid = false;
  if (first + kEach <= a.n_vocab) {  // rows begin at multiples of 32 bytes
    const float4 low = reinterpret_cast<const float4*>(logits + first)[0];
    const float4 high = reinterpret_cast<const float4*>(logits + first)[1];
    z[0] = low.x, z[1] = low.y, z[2] = low.z, z[3] = low.w;
    z[4] = high.x, z[5] = high.y, z[6] = high.z, z[7] = high.w;
  } else {
#pragma unroll
    for (int i = 0; i < kEach; ++i) z[i] = first + i < a.n_vocab ? logits[first + i] : -infinity();
  }
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    invalid = invalid || isnan(z[i]) || z[i] == infinity();
    max = fmaxf(max, z[i]);
  }
  if (invalid) any_invalid = 1;
  const bool small = group_logits_of(a.n_vocab) == kSmallGroupLogits;
  if (small) {  // two lanes' logits
    const float pair = fmaxf(max, __shfl_xor_sync(kAll, max, 1));
    const int group = first / kSmallGroupLogits;
    if (threadIdx.x % 2 == 0 && group < kMostGroups) a.group_max[row * kMostGroups + group] = pair;
  }
  max = warp_max(max);
  if (threadIdx.x % 32 == 0) {
    warp_maxima[warp] = max;
    const int group = block * (kBlockLogits / kGroupLogits) + warp;
    if (!small) a.group_max[row * kMostGroups + group] = max;
  }
  __syncthreads();
  for (const float other : warp_maxima) max = fmaxf(max, other);

  const DeviceSpec& spec = a.specs[row];
  constexpr float kLog2E = 1.44269504088896340736F;
  float sums[4] = {};
  double sample = 0;
  const double sample_scale = spec.sample_inverse / kLn2;
  if (max > -infinity() && max < infinity()) {
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      if (!(z[i] > -infinity())) continue;
      const float below = z[i] - max;
      const float x = below * spec.stat_scale;
      const float weight = exp2f(x);
      sums[0] += weight;
      sums[1] += weight * x;
      sums[2] += weight * x * x;
      sums[3] += exp2f(below * kLog2E);
      sample += exp2_to_nine_digits((static_cast<double>(z[i]) - static_cast<double>(max)) * sample_scale);
    }
  }
#pragma unroll
  for (int s = 0; s < 4; ++s) {
    const float sum = warp_sum(sums[s]);
    if (threadIdx.x % 32 == 0) warp_sums[s][warp] = sum;
  }
  for (int lane = 16; lane > 0; lane /= 2) sample += __shfl_xor_sync(kAll, sample, lane);
  if (threadIdx.x % 32 == 0) warp_samples[warp] = sample;
  __syncthreads();
  if (threadIdx.x != 0) return;
  float totals[4];
  for (int s = 0; s < 4; ++s) {
    totals[s] = 0;
    for (const float sum : warp_sums[s]) totals[s] += sum;
  }
  sample = 0;
  for (const double sum : warp_samples) sample += sum;
  a.sums[row * gridDim.x + block] = {sample, max, totals[0], totals[1], totals[2], totals[3], any_invalid};
}

// Ascending. `n` is a power of two and at most the block's threads. Neighbours within a warp exchange directly.
template <typename Key>
__device__ void sort(Key* keys, int n) {
  const int i = threadIdx.x;
  Key own = i < n ? keys[i] : Key(0);
  for (int size = 2; size <= n; size *= 2) {
    for (int apart = size / 2; apart > 0; apart /= 2) {
      Key other;
      if (apart < 32) {
        other = __shfl_xor_sync(kAll, own, apart);
      } else {
        __syncthreads();
        if (i < n) keys[i] = own;
        __syncthreads();
        other = i < n ? keys[i ^ apart] : own;
      }
      const bool wants_lower = ((i & size) == 0) == ((i & apart) == 0);
      if (wants_lower ? other < own : other > own) own = other;
    }
  }
  __syncthreads();
  if (i < n) keys[i] = own;
  __syncthreads();
}

__device__ int power_of_two(int n) {
  int power = 1;
  while (power < n) power *= 2;
  return power;
}

// Ascending keys are descending logits; equal logits: the lower token first.
__device__ std::uint32_t descending(float logit) {
  const std::uint32_t bits = __float_as_uint(logit);
  return (bits >> 31U) != 0 ? bits : ~(bits | 0x80000000U);
}
__device__ float logit_of(std::uint64_t key) {
  const auto bits = static_cast<std::uint32_t>(key >> 32U);
  return __uint_as_float((bits >> 31U) != 0 ? bits : ~bits & 0x7FFFFFFFU);
}

struct DeviceRow {
  float max;
  double log_unit;  // log sum exp(z - max)
  double sample;    // sum exp((z - max) / T)
  int listed;       // logits that were as large as the bound
  int kept;         // of the ranking, by top-k, top-p and min-p
  int drawn;        // -1: not yet
  float drawn_logit;
  int block;      // that the draw falls into
  double before;  // weight before that block
  double target;
  bool by_host;
};

__device__ double unit_of(std::uint64_t draw) { return static_cast<double>(draw >> 11U) * 0x1.0p-53; }

// Each of the values over the block, in every thread.
template <int kValues>
__device__ void sum_over_block(double (&values)[kValues], double* scratch) {
  constexpr int kWarps = kThreads / 32;
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  static_assert(kWarps == 32 && kValues <= kWarps);
  __syncthreads();
  for (int v = 0; v < kValues; ++v) {
    for (int n = 16; n > 0; n /= 2) values[v] += __shfl_xor_sync(kAll, values[v], n);
    if (lane == 0) scratch[v * kWarps + warp] = values[v];
  }
  __syncthreads();
  for (int v = 0; v < kValues; ++v) {
    values[v] = scratch[v * kWarps + lane];
    for (int n = 16; n > 0; n /= 2) values[v] += __shfl_xor_sync(kAll, values[v], n);
  }
  __syncthreads();
}

__device__ float max_over_block(float value, float* scratch) {
  __syncthreads();
  value = warp_max(value);
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = value;
  __syncthreads();
  value = warp_max(scratch[threadIdx.x % 32]);
  __syncthreads();
  return value;
}

// The weights of blocks in double precision: a warp a block.
__device__ void weigh_blocks(const float* logits, int n_vocab, int blocks, float max, double inverse, double* weights) {
  for (int block = threadIdx.x / 32; block < blocks; block += kThreads / 32) {
    double sum = 0;
    const int end = min(n_vocab, (block + 1) * kBlockLogits);
    for (int token = block * kBlockLogits + threadIdx.x % 32; token < end; token += 32) {
      if (logits[token] > -infinity()) sum += exp((static_cast<double>(logits[token]) - max) * inverse);
    }
    for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(kAll, sum, lane);
    if (threadIdx.x % 32 == 0) weights[block] = sum;
  }
  __syncthreads();
}

// Where the ranking ends, as Sampler::cut_top has it. One thread.
__device__ void cut_ranking(const double* weights, int ranked, int listed, bool limited, const DeviceSpec& spec,
                            double error, DeviceRow& r) {
  const bool all = limited || listed < kRanked;  // else there may be more than are ranked
  const int count = limited ? min(ranked, spec.sample_top_k) : ranked;
  double total = r.sample;
  if (all) {
    total = 0;
    for (int i = 0; i < count; ++i) total += weights[i];
  }
  const double uncertainty = all ? 0.0 : error * total;
  const double target = spec.top_p < 1 ? static_cast<double>(spec.top_p) * total : 1e300;
  double cumulative = 0;
  int kept = 0;
  for (; kept < count; ++kept) {
    const bool reached = cumulative >= target + uncertainty;
    if (kept > 0 && (reached || weights[kept] < static_cast<double>(spec.min_p))) break;
    if (kept > 0 && uncertainty > 0 && cumulative >= target - uncertainty) r.by_host = true;
    cumulative += weights[kept];
  }
  if (!(kept < count || all || cumulative >= target + uncertainty)) r.by_host = true;
  if (limited && spec.sample_top_k > kRanked) r.by_host = true;
  r.kept = kept;
}

// Of the kept ones, in ascending order of tokens.
__device__ void draw_from_ranking(const std::uint64_t* keys, const double* weights, const float* logits,
                                  const DeviceSpec& spec, double* by_token, std::uint32_t* tokens, DeviceRow& r) {
  const int t = threadIdx.x;
  if (t < r.kept) {
    int rank = 0;
    for (int i = 0; i < r.kept; ++i) rank += static_cast<std::uint32_t>(keys[i]) < static_cast<std::uint32_t>(keys[t]);
    by_token[rank] = weights[t];
    tokens[rank] = static_cast<std::uint32_t>(keys[t]);
  }
  __syncthreads();
  if (t == 0) {
    double total = 0;
    for (int i = 0; i < r.kept; ++i) total += by_token[i];
    const double target = unit_of(spec.draw) * total;
    double cumulative = 0;
    double margin = total;
    int drawn = 0;
    for (int i = 0; i < r.kept; ++i) {
      const double before = cumulative;
      cumulative += by_token[i];
      if (by_token[i] > 0) drawn = i;
      if (cumulative > target) {
        margin = fmin(cumulative - target, before > 0 ? target - before : total);
        break;
      }
    }
    r.by_host = margin < kExactError * total;  // exp() may differ in its last bits from the host's
    r.drawn = static_cast<int>(tokens[drawn]);
    r.drawn_logit = logits[r.drawn];
  }
  __syncthreads();
}

// Of all: the block that the draw falls into, then the token. `scratch` has the blocks' weights and keeps them.
__device__ void draw_from_blocks(const float* logits, int n_vocab, int blocks, const DeviceSpec& spec, double error,
                                 double* scratch, DeviceRow& r) {
  const int t = threadIdx.x;
  if (t == 0) {
    r.target = unit_of(spec.draw) * r.sample;
    double cumulative = 0;
    int block = 0;
    for (; block + 1 < blocks && cumulative + scratch[block] <= r.target; ++block) cumulative += scratch[block];
    r.block = block;
    r.before = cumulative;
    r.by_host = true;  // unless a token claims it
  }
  __syncthreads();
  constexpr int kOwn = kBlockLogits / kThreads;
  const int token = r.block * kBlockLogits + kOwn * t;
  double own[kOwn] = {};
  double sum = 0;
  for (int i = 0; i < kOwn; ++i) {
    if (token + i < n_vocab && logits[token + i] > -infinity()) {
      own[i] = exp((static_cast<double>(logits[token + i]) - r.max) * spec.sample_inverse);
    }
    sum += own[i];
  }
  __syncthreads();
  scratch[t] = sum;
  __syncthreads();
  for (int n = 1; n < kThreads; n *= 2) {
    const double add = t >= n ? scratch[t - n] : 0;
    __syncthreads();
    scratch[t] += add;
    __syncthreads();
  }
  double cumulative = r.before + (t > 0 ? scratch[t - 1] : 0);
  for (int i = 0; i < kOwn; ++i) {
    const double after = cumulative + own[i];
    // Below the first token there is nothing to be confused with.
    const double below = cumulative > 0 ? r.target - cumulative : r.sample;
    if (own[i] > 0 && below >= error * r.sample && after - r.target >= error * r.sample) {
      r.drawn = token + i;
      r.drawn_logit = logits[token + i];
      r.by_host = false;
    }
    cumulative = after;
  }
  __syncthreads();
}

__global__ void __launch_bounds__(kThreads) predict_kernel(PredictArguments a) {
  wait_for_previous();
  __shared__ double scratch[kThreads];
  __shared__ std::uint64_t keys[kMostListed];
  __shared__ float maxima[kMostGroups];
  __shared__ double weights[kRanked];
  __shared__ double by_token[kRanked];
  __shared__ std::uint32_t tokens_by_token[kRanked];
  __shared__ DeviceRow r;
  const std::size_t row = blockIdx.x;
  const int t = threadIdx.x;
  const DeviceSpec spec = a.specs[row];
  DevicePrediction& out = a.out[row];
  const float* logits = a.logits + row * a.stride;
  const int blocks = (a.n_vocab + kBlockLogits - 1) / kBlockLogits;
  const int group_logits = group_logits_of(a.n_vocab);
  const int groups = (a.n_vocab + group_logits - 1) / group_logits;
  const DeviceBlockSums* sums = a.sums + row * blocks;
  if (spec.by_host != 0) {
    if (t == 0) out.status = DevicePrediction::kByHost;
    return;
  }

  // The row's largest; is it a row at all?
  DeviceBlockSums own = {0, -infinity(), 0, 0, 0, 0, 0};
  if (t < blocks) own = sums[t];
  const bool invalid = __syncthreads_or(own.invalid) != 0;
  const float max = max_over_block(own.max, maxima);
  if (invalid || !(max > -infinity())) {
    if (t == 0) out.status = DevicePrediction::kNotANumber;
    return;
  }

  // Sums relative to it.
  const bool empty = !(own.max > -infinity());
  const double below = empty ? 0 : static_cast<double>(own.max) - static_cast<double>(max);
  const double shift = below * spec.stat_scale;
  const double factor = empty ? 0 : exp2(shift);
  const double own_sample = empty ? 0 : exp(below * spec.sample_inverse) * own.sample;
  double totals[5] = {factor * own.stat, factor * (own.stat_first + shift * own.stat),
                      factor * (own.stat_second + 2 * shift * own.stat_first + shift * shift * own.stat),
                      empty ? 0 : exp(below) * own.unit, own_sample};
  sum_over_block(totals, scratch);
  const auto [stat, first, second, unit, sample] = totals;

  // The ranking.
  maxima[t] = t < groups ? a.group_max[row * kMostGroups + t] : -infinity();
  __syncthreads();
  const float own_group = maxima[t];
  auto* order = reinterpret_cast<std::uint32_t*>(scratch);
  order[t] = descending(own_group);
  __syncthreads();
  sort(order, power_of_two(groups));
  // Of fewer groups all logits are listed: there are no more than the list can hold.
  const std::uint32_t bound = groups < kRanked ? ~0U : order[kRanked - 1];
  if (t == 0) r = {max, log(unit), sample, 0, 0, -1, 0, 0, 0, 0, false};
  __syncthreads();
  const int lanes = min(32, group_logits);
  for (int group = t / lanes; group < groups; group += kThreads / lanes) {
    if (descending(maxima[group]) > bound) continue;
    for (int i = t % lanes; i < group_logits; i += lanes) {
      const int token = group * group_logits + i;
      if (token >= a.n_vocab) break;
      const float z = logits[token];
      if (descending(z) > bound || !(z > -infinity())) continue;
      const int place = atomicAdd(&r.listed, 1);
      if (place < kMostListed) keys[place] = (static_cast<std::uint64_t>(descending(z)) << 32U) | token;
    }
  }
  __syncthreads();
  const int listed = min(r.listed, kMostListed);
  if (r.listed > kMostListed) {
    if (t == 0) out.status = DevicePrediction::kByHost;
    return;
  }
  const int padded = power_of_two(listed);
  if (t >= listed && t < padded) keys[t] = ~std::uint64_t{0};
  __syncthreads();
  sort(keys, padded);

  const int ranked = min(listed, kRanked);
  if (t < ranked) {
    const double logprob = static_cast<double>(logit_of(keys[t])) - max - r.log_unit;
    out.tokens[t] = static_cast<std::int32_t>(keys[t]);
    out.logprobs[t] = static_cast<float>(logprob);
    weights[t] =
        spec.sample_inverse > 0 ? exp((static_cast<double>(logit_of(keys[t])) - max) * spec.sample_inverse) : 0;
  }
  __syncthreads();

  const bool limited = spec.sample_top_k > 0 && spec.sample_top_k < a.n_vocab;
  const bool cuts = limited || spec.top_p < 1 || spec.min_p > 0;
  if (t == 0) {
    out.n_ranked = ranked;
    const double mean = first / stat;
    out.entropy = static_cast<float>(kLn2 * (log2(stat) - mean));
    out.varentropy = static_cast<float>(fmax(0.0, kLn2 * kLn2 * (second / stat - mean * mean)));
    const int k = min(spec.confidence_k, ranked);
    double confidence = 0;
    for (int i = 0; i < k; ++i) confidence -= static_cast<double>(logit_of(keys[i])) - max - r.log_unit;
    out.confidence = k > 0 ? static_cast<float>(confidence / k) : 0.0F;
    if (!(spec.sample_inverse > 0)) {
      r.drawn = static_cast<int>(keys[0]);
      r.drawn_logit = max;
    }
  }
  scratch[t] = t < blocks ? own_sample : 0;  // the blocks' weights
  __syncthreads();

  // Twice: with the sums there are, and where those cannot tell, with exact ones.
  for (int attempt = 0; attempt < 2 && r.drawn < 0; ++attempt) {
    const bool exact = attempt == 1;
    if (exact) {
      weigh_blocks(logits, a.n_vocab, blocks, max, spec.sample_inverse, scratch);
      if (t == 0) {
        r.sample = 0;
        for (int i = 0; i < blocks; ++i) r.sample += scratch[i];
        r.by_host = false;
      }
      __syncthreads();
    }
    const double error = exact ? kExactError : kRoughError;
    if (!cuts) {
      draw_from_blocks(logits, a.n_vocab, blocks, spec, error, scratch, r);
      continue;
    }
    if (t == 0) cut_ranking(weights, ranked, listed, limited, spec, error, r);
    __syncthreads();
    if (!r.by_host) draw_from_ranking(keys, weights, logits, spec, by_token, tokens_by_token, r);
    if (limited) break;  // exact as it is
  }
  if (t != 0) return;
  if (r.drawn < 0 || r.by_host) {
    out.status = DevicePrediction::kByHost;
    return;
  }
  out.sampled = r.drawn;
  out.sampled_logprob = static_cast<float>(static_cast<double>(r.drawn_logit) - max - r.log_unit);
  out.status = DevicePrediction::kOk;
}

}  // namespace

void predict(const PredictArguments& a, cudaStream_t stream) {
  launch(scan_kernel, dim3(blocks_of(a.n_vocab), a.rows), kScanThreads, 0, stream, a);
  launch(predict_kernel, a.rows, kThreads, 0, stream, a);
}

}  // namespace dts::native::cuda
