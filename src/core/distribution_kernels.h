// The SIMD inner loops over one block of logits. Everything that decides (what to sum, what to keep, which token) is in
// distribution_scan.cpp and distribution_sample.cpp and is plain C++; here are only the loops that touch every logit.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dts {

// A row is walked in blocks small enough to stay in the L1 cache between the loops over them, and large enough to make
// the work per block negligible. A row has at most one partial block, its last, which is padded with -infinity.
inline constexpr std::size_t kBlockLogits = 2048;
// What a block is padded to: eight vectors of the widest kind.
inline constexpr std::size_t kLogitPadding = 128;
static_assert(kBlockLogits % kLogitPadding == 0);

constexpr std::size_t padded(std::size_t n) { return (n + kLogitPadding - 1) / kLogitPadding * kLogitPadding; }

// A temperature as the exponential wants it: exp(d / T) = 2^(d * scale).
struct Temperature {
  float scale = 0;  // log2(e) / T
  float floor = 0;  // d below it are raised to it, where the exponential is exactly 0: -infinity never meets arithmetic
  double inverse = 0;  // 1 / T

  // T > 0. Clamped to [1e-36, 1e36], where neither the scale nor the floor leaves the range of float.
  static Temperature of(float t);
};

// The weight of a logit d below the reference, exp(d / T), is exactly 0 from here on down: 2^-127 in units of d *
// scale.
inline constexpr double kZeroExponent = -127.0;

struct BlockExtent {
  float max = 0;         // meaningless when invalid
  bool invalid = false;  // holds a NaN or +infinity
};

inline constexpr std::size_t kMaxTemperatures = 3;

// How far sums of float weights over a row can be off, relative to their total. A draw that comes closer than this to
// the boundary between two tokens is decided in double precision instead.
inline constexpr double kRoughError = 5e-6;

// Sums over a block of weights w = exp((z - reference) / T).
struct BlockSums {
  double weight[kMaxTemperatures] = {};  // sum w, one per temperature
  double first = 0;                      // sum w x   for the first temperature, x = (z - reference) * scale
  double second = 0;                     // sum w x^2 for the first temperature
};

// A block split by two bounds, in double precision.
struct BlockPartition {
  double total = 0;          // sum of all weights
  double above = 0;          // of those with z >= high
  std::size_t selected = 0;  // how many have low <= z < high
};

// The loops compiled for one instruction set. All lengths `n` are multiples of kLogitPadding.
struct DistributionKernels {
  BlockExtent (*extent)(const float* z, std::size_t n);

  // No z may exceed `reference`. `temperatures` [n_temperatures], 1 to kMaxTemperatures.
  BlockSums (*sums)(const float* z, std::size_t n, float reference, const Temperature* temperatures,
                    std::size_t n_temperatures);

  // w[i] = exp((z[i] - reference) / T), in float and to the last bits of a double. [n]
  void (*rough_weights)(const float* z, std::size_t n, float reference, const Temperature& temperature, float* w);
  void (*weights)(const float* z, std::size_t n, float reference, const Temperature& temperature, double* w);

  // Sums double weights, and appends all z with low <= z < high to `out`, which must have room for n + kLogitPadding.
  BlockPartition (*partition)(const float* z, std::size_t n, float reference, const Temperature& temperature, float low,
                              float high, float* out);

  // Writes the indices of all z > bound to `out` in ascending order, from z[*position] on, until fewer than
  // kLogitPadding of `capacity` are left or the block ends (*position == n). Returns how many.
  std::size_t (*indices_above)(const float* z, std::size_t n, std::size_t* position, float bound, std::uint32_t* out,
                               std::size_t capacity);
};

// Those for the best instruction set that this CPU has.
const DistributionKernels& distribution_kernels();

}  // namespace dts
