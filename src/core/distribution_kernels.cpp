// Compiled once for every instruction set; distribution_kernels() picks one at run time.
#include "core/distribution_kernels.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <numbers>

#ifndef DTS_DISTRIBUTION_KERNELS_ONCE
#define DTS_DISTRIBUTION_KERNELS_ONCE
namespace dts {

inline constexpr std::size_t kPowerTerms = 12;
struct PowerSeries {
  double coefficient[kPowerTerms];
};
// (ln 2)^k / k!
constexpr PowerSeries make_power_series() {
  PowerSeries series{};
  double term = 1;
  for (std::size_t k = 0; k < kPowerTerms; ++k) {
    series.coefficient[k] = term;
    term *= std::numbers::ln2 / static_cast<double>(k + 1);
  }
  return series;
}
inline constexpr PowerSeries kPowerSeries = make_power_series();

}  // namespace dts
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/distribution_kernels.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// After foreach_target.h, as it wants.
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace dts {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, 16>;
using FloatVec = hn::Vec<Floats>;
// Vectors between two flushes from float to double accumulators: short, so that float sums stay exact to about one
// unit in the last place, and the flush costs little.
constexpr std::size_t kChunkVectors = 8;
constexpr std::size_t kCacheLineFloats = 16;

#if HWY_TARGET == HWY_SCALAR
using Doubles = hn::Rebind<double, Floats>;
#else
using Doubles = hn::Repartition<double, Floats>;
#endif
using DoubleVec = hn::Vec<Doubles>;

HWY_INLINE DoubleVec promoted_sum(FloatVec v) {
#if HWY_TARGET == HWY_SCALAR
  return hn::PromoteTo(Doubles(), v);
#else
  const hn::Half<Floats> half;
  return hn::Add(hn::PromoteTo(Doubles(), hn::LowerHalf(half, v)), hn::PromoteTo(Doubles(), hn::UpperHalf(half, v)));
#endif
}

HWY_INLINE double total(DoubleVec v) { return hn::GetLane(hn::SumOfLanes(Doubles(), v)); }

// 2^(d * scale) for d in [floor, 0], to about 1.5e-7 relative to the weight. Adding a large number rounds d * scale to
// an integer and leaves integer + 127 in the low bits of the mantissa, from where a shift makes it an exponent; at the
// floor that exponent is 0, and so is the result.
HWY_INLINE FloatVec exponential(FloatVec d, const Temperature& t) {
  const Floats df;
  const hn::RebindToSigned<Floats> di;
  const FloatVec scale = hn::Set(df, t.scale);
  const FloatVec rounder = hn::Set(df, 0x1.8p23F + 127.0F);
  const FloatVec rounded = hn::MulAdd(d, scale, rounder);
  const FloatVec rest = hn::MulSub(d, scale, hn::Sub(rounded, rounder));  // [-0.5, 0.5]
  const FloatVec power = hn::BitCast(df, hn::ShiftLeft<23>(hn::BitCast(di, rounded)));
  // Minimax for 2^rest with the constant term held at 1: the most probable token weighs exactly 1.
  FloatVec p = hn::Set(df, 0x1.5bba16p-10F);
  p = hn::MulAdd(p, rest, hn::Set(df, 0x1.3cea88p-7F));
  p = hn::MulAdd(p, rest, hn::Set(df, 0x1.c6b752p-5F));
  p = hn::MulAdd(p, rest, hn::Set(df, 0x1.ebf9bcp-3F));
  p = hn::MulAdd(p, rest, hn::Set(df, 0x1.62e42ap-1F));
  p = hn::MulAdd(p, rest, hn::Set(df, 1.0F));
  return hn::Mul(p, power);
}

HWY_INLINE FloatVec clamped(FloatVec d, const Temperature& t) { return hn::Max(d, hn::Set(Floats(), t.floor)); }

BlockExtent extent(const float* HWY_RESTRICT z, std::size_t n) {
  const Floats df;
  const hn::RebindToSigned<Floats> di;
  const std::size_t lanes = hn::Lanes(df);
  FloatVec max0 = hn::Set(df, -std::numeric_limits<float>::infinity());
  FloatVec max1 = max0;
  auto magnitude0 = hn::Zero(di);  // of the bits without the sign: NaN has the largest
  auto magnitude1 = magnitude0;
  for (std::size_t i = 0; i < n; i += 2 * lanes) {
    const FloatVec a = hn::LoadU(df, z + i);
    const FloatVec b = hn::LoadU(df, z + i + lanes);
    max0 = hn::Max(max0, a);
    max1 = hn::Max(max1, b);
    magnitude0 = hn::Max(magnitude0, hn::BitCast(di, hn::Abs(a)));
    magnitude1 = hn::Max(magnitude1, hn::BitCast(di, hn::Abs(b)));
  }
  const std::int32_t infinity = std::bit_cast<std::int32_t>(std::numeric_limits<float>::infinity());
  BlockExtent result;
  result.max = hn::GetLane(hn::MaxOfLanes(df, hn::Max(max0, max1)));
  result.invalid = hn::GetLane(hn::MaxOfLanes(di, hn::Max(magnitude0, magnitude1))) > infinity ||
                   result.max > std::numeric_limits<float>::max();
  return result;
}

template <std::size_t kTemperatures>
BlockSums sums_at(const float* HWY_RESTRICT z, std::size_t n, float reference,
                  const Temperature* HWY_RESTRICT temperatures) {
  const Floats df;
  const Doubles dd;
  const std::size_t lanes = hn::Lanes(df);
  const FloatVec ref = hn::Set(df, reference);
  const Temperature t0 = temperatures[0];
  const Temperature t1 = temperatures[kTemperatures > 1 ? 1 : 0];
  const Temperature t2 = temperatures[kTemperatures > 2 ? 2 : 0];
  const FloatVec scale = hn::Set(df, t0.scale);

  DoubleVec weight0 = hn::Zero(dd);
  DoubleVec weight1 = hn::Zero(dd);
  DoubleVec weight2 = hn::Zero(dd);
  DoubleVec first = hn::Zero(dd);
  DoubleVec second = hn::Zero(dd);
  for (std::size_t i = 0; i < n; i += kChunkVectors * lanes) {
    FloatVec chunk_weight0 = hn::Zero(df);
    FloatVec chunk_weight1 = hn::Zero(df);
    FloatVec chunk_weight2 = hn::Zero(df);
    FloatVec chunk_first = hn::Zero(df);
    FloatVec chunk_second = hn::Zero(df);
    // The next block comes from memory while this one, from the L1 cache, keeps the arithmetic busy.
    for (std::size_t j = 0; j < kChunkVectors * lanes; j += kCacheLineFloats) hwy::Prefetch(z + n + i + j);
    for (std::size_t j = 0; j < kChunkVectors; ++j) {
      const FloatVec d = hn::Sub(hn::LoadU(df, z + i + j * lanes), ref);
      const FloatVec d0 = clamped(d, t0);
      const FloatVec w0 = exponential(d0, t0);
      const FloatVec x = hn::Mul(d0, scale);
      const FloatVec wx = hn::Mul(w0, x);
      chunk_weight0 = hn::Add(chunk_weight0, w0);
      chunk_first = hn::Add(chunk_first, wx);
      chunk_second = hn::MulAdd(wx, x, chunk_second);
      if constexpr (kTemperatures > 1) chunk_weight1 = hn::Add(chunk_weight1, exponential(clamped(d, t1), t1));
      if constexpr (kTemperatures > 2) chunk_weight2 = hn::Add(chunk_weight2, exponential(clamped(d, t2), t2));
    }
    weight0 = hn::Add(weight0, promoted_sum(chunk_weight0));
    first = hn::Add(first, promoted_sum(chunk_first));
    second = hn::Add(second, promoted_sum(chunk_second));
    if constexpr (kTemperatures > 1) weight1 = hn::Add(weight1, promoted_sum(chunk_weight1));
    if constexpr (kTemperatures > 2) weight2 = hn::Add(weight2, promoted_sum(chunk_weight2));
  }
  BlockSums result;
  result.weight[0] = total(weight0);
  result.weight[1] = total(weight1);
  result.weight[2] = total(weight2);
  result.first = total(first);
  result.second = total(second);
  return result;
}

BlockSums sums(const float* z, std::size_t n, float reference, const Temperature* temperatures,
               std::size_t n_temperatures) {
  switch (n_temperatures) {
    case 1:
      return sums_at<1>(z, n, reference, temperatures);
    case 2:
      return sums_at<2>(z, n, reference, temperatures);
    default:
      return sums_at<3>(z, n, reference, temperatures);
  }
}

void rough_weights(const float* HWY_RESTRICT z, std::size_t n, float reference, const Temperature& temperature,
                   float* HWY_RESTRICT w) {
  const Floats df;
  const FloatVec ref = hn::Set(df, reference);
  const Temperature t = temperature;
  for (std::size_t i = 0; i < n; i += hn::Lanes(df)) {
    const FloatVec d = hn::Sub(hn::LoadU(df, z + i), ref);
    hn::StoreU(exponential(clamped(d, t), t), df, w + i);
  }
}

// 2^x for x in [-1023, 0], to about 1e-14 relative: as exponential(), with the Taylor series of 2^rest.
HWY_INLINE DoubleVec exact_exponential(DoubleVec x) {
  const Doubles dd;
  const hn::RebindToSigned<Doubles> di;
  const DoubleVec rounder = hn::Set(dd, 0x1.8p52 + 1023.0);
  const DoubleVec rounded = hn::Add(x, rounder);
  const DoubleVec rest = hn::Sub(x, hn::Sub(rounded, rounder));  // [-0.5, 0.5]
  const DoubleVec power = hn::BitCast(dd, hn::ShiftLeft<52>(hn::BitCast(di, rounded)));
  DoubleVec p = hn::Set(dd, kPowerSeries.coefficient[kPowerTerms - 1]);
  for (std::size_t i = kPowerTerms - 1; i-- > 0;) p = hn::MulAdd(p, rest, hn::Set(dd, kPowerSeries.coefficient[i]));
  return hn::Mul(p, power);
}

// exp((z - reference) / T) in double precision. At 2^-1023 the exponent is 0, and so is the result.
HWY_INLINE DoubleVec exact_weight(DoubleVec z, DoubleVec reference, DoubleVec scale) {
  const Doubles dd;
  return exact_exponential(hn::Max(hn::Mul(hn::Sub(z, reference), scale), hn::Set(dd, -1023.0)));
}

void weights(const float* HWY_RESTRICT z, std::size_t n, float reference, const Temperature& temperature,
             double* HWY_RESTRICT w) {
  const Doubles dd;
  const hn::Rebind<float, Doubles> half;
  const DoubleVec ref = hn::Set(dd, static_cast<double>(reference));
  const DoubleVec scale = hn::Set(dd, temperature.inverse * std::numbers::log2e);
  for (std::size_t i = 0; i < n; i += hn::Lanes(dd)) {
    hn::StoreU(exact_weight(hn::PromoteTo(dd, hn::LoadU(half, z + i)), ref, scale), dd, w + i);
  }
}

BlockPartition partition(const float* HWY_RESTRICT z, std::size_t n, float reference, const Temperature& temperature,
                         float low, float high, float* HWY_RESTRICT out) {
  const Floats df;
  const Doubles dd;
  const hn::Rebind<float, Doubles> half;
  const DoubleVec ref = hn::Set(dd, static_cast<double>(reference));
  const DoubleVec scale = hn::Set(dd, temperature.inverse * std::numbers::log2e);
  const DoubleVec highs = hn::Set(dd, static_cast<double>(high));
  DoubleVec all = hn::Zero(dd);
  DoubleVec above = hn::Zero(dd);
  for (std::size_t i = 0; i < n; i += hn::Lanes(dd)) {
    const DoubleVec v = hn::PromoteTo(dd, hn::LoadU(half, z + i));
    const DoubleVec w = exact_weight(v, ref, scale);
    all = hn::Add(all, w);
    above = hn::Add(above, hn::IfThenElseZero(hn::Ge(v, highs), w));
  }
  BlockPartition result{.total = total(all), .above = total(above), .selected = 0};
  if (!(low < high)) return result;
  for (std::size_t i = 0; i < n; i += hn::Lanes(df)) {
    const FloatVec v = hn::LoadU(df, z + i);
    const auto between = hn::And(hn::Ge(v, hn::Set(df, low)), hn::Lt(v, hn::Set(df, high)));
    if (HWY_LIKELY(hn::AllFalse(df, between))) continue;
    result.selected += hn::CompressStore(v, between, df, out + result.selected);
  }
  return result;
}

std::size_t indices_above(const float* HWY_RESTRICT z, std::size_t n, std::size_t* position, float bound,
                          std::uint32_t* HWY_RESTRICT out, std::size_t capacity) {
  const Floats df;
  const std::size_t lanes = hn::Lanes(df);
  const FloatVec bounds = hn::Set(df, bound);
  std::size_t count = 0;
  std::size_t i = *position;
  for (; i < n && count + kLogitPadding <= capacity; i += 4 * lanes) {
    const FloatVec a = hn::LoadU(df, z + i);
    const FloatVec b = hn::LoadU(df, z + i + lanes);
    const FloatVec c = hn::LoadU(df, z + i + 2 * lanes);
    const FloatVec d = hn::LoadU(df, z + i + 3 * lanes);
    const FloatVec max = hn::Max(hn::Max(a, b), hn::Max(c, d));
    if (HWY_LIKELY(hn::AllFalse(df, hn::Gt(max, bounds)))) continue;
    for (std::size_t k = i; k < i + 4 * lanes; k += lanes) {
      std::uint8_t bytes[8] = {};
      hn::StoreMaskBits(df, hn::Gt(hn::LoadU(df, z + k), bounds), bytes);
      std::uint64_t bits = 0;
      std::memcpy(&bits, bytes, sizeof(bits));
      for (; bits != 0; bits &= bits - 1) {
        out[count++] = static_cast<std::uint32_t>(k) + static_cast<std::uint32_t>(std::countr_zero(bits));
      }
    }
  }
  *position = i;
  return count;
}

const DistributionKernels& kernels() {
  static constexpr DistributionKernels table = {.extent = extent,
                                                .sums = sums,
                                                .rough_weights = rough_weights,
                                                .weights = weights,
                                                .partition = partition,
                                                .indices_above = indices_above};
  return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace dts
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dts {

HWY_EXPORT(kernels);

const DistributionKernels& distribution_kernels() { return HWY_DYNAMIC_DISPATCH(kernels)(); }

Temperature Temperature::of(float t) {
  const double clamped = std::clamp(static_cast<double>(t), 1e-36, 1e36);
  Temperature result;
  result.inverse = 1.0 / clamped;
  result.scale = static_cast<float>(std::numbers::log2e / clamped);
  result.floor = static_cast<float>(kZeroExponent) / result.scale;
  return result;
}

}  // namespace dts
#endif  // HWY_ONCE
