// What is done to one row at a time, and attention; compiled once for every instruction set.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "engine/native/cpu/compiled_kernels.h"
#include "engine/native/cpu/cpu_kernels.h"
#include "engine/native/cpu/half.h"
#include "engine/native/page_pool.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/native/cpu/row_kernels.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// After foreach_target.h, as it wants.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace dts::native {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

using F32 = hn::CappedTag<float, 16>;
using I32 = hn::RebindToSigned<F32>;
using F16 = hn::Rebind<hwy::float16_t, F32>;
using FloatVec = hn::Vec<F32>;

constexpr int kLanes = static_cast<int>(hn::MaxLanes(F32()));
#if HWY_TARGET == HWY_AVX3
constexpr int kMostQueries = 6;
constexpr int kTokenVectors = 4;  // whose scores are summed at once
#else
constexpr int kMostQueries = 4;
constexpr int kTokenVectors = 2;
#endif
constexpr int kElementVectors = 2;  // of a head, whose values are summed at once

HWY_INLINE FloatVec load_halves(const std::uint16_t* at) {
  return hn::PromoteTo(F32(), hn::LoadU(F16(), reinterpret_cast<const hwy::float16_t*>(at)));
}

// One vector of a page's elements as they are kept; a scale is not applied.
template <PageElement kElement>
HWY_INLINE FloatVec load_elements(const std::uint8_t* page, std::ptrdiff_t first) {
  if constexpr (kElement == PageElement::kF16) {
    return load_halves(reinterpret_cast<const std::uint16_t*>(page) + first);
  } else if constexpr (kElement == PageElement::kBf16) {
    // The upper half of a number in single precision.
    const hn::Rebind<std::uint16_t, I32> d;
    const auto upper = hn::LoadU(d, reinterpret_cast<const std::uint16_t*>(page) + first);
    return hn::BitCast(F32(), hn::ShiftLeft<16>(hn::PromoteTo(I32(), upper)));
  } else {
    const hn::Rebind<std::int8_t, I32> d;
    return hn::ConvertTo(F32(), hn::PromoteTo(I32(), hn::LoadU(d, reinterpret_cast<const std::int8_t*>(page) + first)));
  }
}

// e^x to about two units in the last place; 0 below -87.
HWY_INLINE FloatVec exponential(FloatVec x) {
  const F32 df;
  const I32 di;
  const FloatVec least = hn::Set(df, -87.0F);
  const auto vanishes = hn::Lt(x, least);
  x = hn::Min(hn::Max(x, least), hn::Set(df, 88.0F));
  const FloatVec n = hn::Round(hn::Mul(x, hn::Set(df, 1.44269504F)));
  // ln 2 in two parts: the first has so few digits that its multiples are exact.
  FloatVec r = hn::NegMulAdd(n, hn::Set(df, 0.693359375F), x);
  r = hn::NegMulAdd(n, hn::Set(df, -2.12194440e-4F), r);
  FloatVec p = hn::Set(df, 1.0F / 5040.0F);
  for (const float coefficient : {1.0F / 720.0F, 1.0F / 120.0F, 1.0F / 24.0F, 1.0F / 6.0F, 0.5F, 1.0F, 1.0F}) {
    p = hn::MulAdd(p, r, hn::Set(df, coefficient));
  }
  const auto exponent = hn::ShiftLeft<23>(hn::Add(hn::ConvertTo(di, n), hn::Set(di, 127)));
  return hn::IfThenZeroElse(vanishes, hn::Mul(p, hn::BitCast(df, exponent)));
}

HWY_INLINE float lane_sum(FloatVec v) { return hn::GetLane(hn::SumOfLanes(F32(), v)); }

// Elements beyond the last whole vector, as if they were followed by zeros.
HWY_INLINE FloatVec load_rest(const float* at, int n) {
  HWY_ALIGN float lanes[kLanes] = {};
  std::copy_n(at, n, lanes);
  return hn::Load(F32(), lanes);
}
HWY_INLINE void store_rest(FloatVec v, int n, float* to) {
  HWY_ALIGN float lanes[kLanes];
  hn::Store(v, F32(), lanes);
  std::copy_n(lanes, n, to);
}

// to[i] = operation(i's vectors) over n elements; `operation` is told where to load from.
template <typename Operation>
HWY_INLINE void for_vectors(int n, float* to, const Operation& operation) {
  int i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    hn::StoreU(operation([i](const float* from) HWY_ATTR { return hn::LoadU(F32(), from + i); }), F32(), to + i);
  }
  if (i == n) return;
  store_rest(operation([i, n](const float* from) HWY_ATTR { return load_rest(from + i, n - i); }), n - i, to + i);
}

void normalise(const float* x, const float* weight, int n, float epsilon, float* out) {
  const F32 df;
  FloatVec squares[2] = {hn::Zero(df), hn::Zero(df)};
  int i = 0;
  for (int which = 0; i + kLanes <= n; i += kLanes, which ^= 1) {
    const FloatVec v = hn::LoadU(df, x + i);
    squares[which] = hn::MulAdd(v, v, squares[which]);
  }
  if (i < n) {
    const FloatVec v = load_rest(x + i, n - i);
    squares[0] = hn::MulAdd(v, v, squares[0]);
  }
  const float mean = lane_sum(hn::Add(squares[0], squares[1])) / static_cast<float>(n);
  const FloatVec scale = hn::Set(df, 1.0F / std::sqrt(mean + epsilon));
  for_vectors(n, out, [&](auto load) HWY_ATTR { return hn::Mul(hn::Mul(load(x), scale), load(weight)); });
}

void gate(const float* gates, const float* up, int n, float* out) {
  const FloatVec one = hn::Set(F32(), 1.0F);
  for_vectors(n, out, [&](auto load) HWY_ATTR {
    const FloatVec g = load(gates);
    return hn::Mul(hn::Div(g, hn::Add(one, exponential(hn::Neg(g)))), load(up));
  });
}

void add(const float* from, int n, float* to) {
  for_vectors(n, to, [&](auto load) HWY_ATTR { return hn::Add(load(to), load(from)); });
}

void add_scaled(const float* from, float scale, int n, float* to) {
  const FloatVec factor = hn::Set(F32(), scale);
  for_vectors(n, to, [&](auto load) HWY_ATTR { return hn::MulAdd(load(from), factor, load(to)); });
}

void quantise(const float* values, int n, const ActivationBuffer::CodeRow& out) {
  const F32 df;
  const I32 di;
  const hn::Rebind<std::int8_t, I32> d8;
  for (int block = 0; block < n / kBlockInputs; ++block) {
    const float* from = values + std::ptrdiff_t{block} * kBlockInputs;
    FloatVec most = hn::Zero(df);
    auto none = hn::IsNaN(most);  // Max may lose one
    for (int i = 0; i < kBlockInputs; i += kLanes) {
      const FloatVec v = hn::LoadU(df, from + i);
      most = hn::Max(most, hn::Abs(v));
      none = hn::Or(none, hn::IsNaN(v));
    }
    const float amplitude = hn::GetLane(hn::MaxOfLanes(df, most));
    // What is not finite has no code: zeros, and a scale that says so further on.
    const bool sound = std::isfinite(amplitude) && hn::AllFalse(df, none);
    const float scale = sound ? amplitude / 127.0F : std::numeric_limits<float>::quiet_NaN();
    const FloatVec inverse = hn::Set(df, sound && amplitude > 0 ? 127.0F / amplitude : 0.0F);
    for (int half = 0; half < 2; ++half) {
      auto sum = hn::Zero(di);
      for (int i = half * 16; i < half * 16 + 16; i += kLanes) {
        const FloatVec v = sound ? hn::LoadU(df, from + i) : hn::Zero(df);
        const auto code = hn::NearestInt(hn::Mul(v, inverse));
        sum = hn::Add(sum, code);
        hn::StoreU(hn::DemoteTo(d8, code), d8, out.codes + std::ptrdiff_t{block} * kBlockInputs + i);
      }
      out.code_sums[block * 2 + half] = hn::GetLane(hn::SumOfLanes(di, sum));
    }
    out.scales[block] = scale;
    out.sums[block] = scale * static_cast<float>(out.code_sums[std::ptrdiff_t{block} * 2] +
                                                 out.code_sums[std::ptrdiff_t{block} * 2 + 1]);
  }
}

void to_half(const float* from, int n, std::uint16_t* out, std::size_t step) {
  const F32 df;
  const F16 dh;
  // Beyond the range of half precision is its end: no number here may make another row's result infinite.
  const FloatVec most = hn::Set(df, 65504.0F);
  for (int i = 0; i < n; i += kLanes) {
    const int count = std::min(kLanes, n - i);
    const FloatVec v = count == kLanes ? hn::LoadU(df, from + i) : load_rest(from + i, count);
    HWY_ALIGN hwy::float16_t halves[kLanes];
    hn::Store(hn::DemoteTo(dh, hn::Max(hn::Min(v, most), hn::Neg(most))), dh, halves);
    for (int k = 0; k < count; ++k) std::memcpy(out + static_cast<std::size_t>(i + k) * step, &halves[k], 2);
  }
}

void to_bf16(const float* from, int n, std::uint16_t* out) {
  const F32 df;
  const hn::RebindToUnsigned<F32> du;
  const hn::Rebind<std::uint16_t, F32> d16;
  int i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const FloatVec v = hn::LoadU(df, from + i);
    const auto bits = hn::BitCast(du, v);
    // Half of what is cut off, and a little less where that would make a tie odd.
    const auto even = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1U));
    const auto rounded = hn::ShiftRight<16>(hn::Add(hn::Add(bits, hn::Set(du, 0x7FFFU)), even));
    const auto none = hn::BitCast(du, hn::VecFromMask(df, hn::IsNaN(v)));
    const auto whole = hn::Or(hn::AndNot(none, rounded), hn::And(none, hn::Set(du, 0x7FC0U)));
    hn::StoreU(hn::DemoteTo(d16, hn::BitCast(I32(), whole)), d16, out + i);
  }
  for (; i < n; ++i) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, from + i, sizeof bits);
    const std::uint32_t rounded = (bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U;
    out[i] = static_cast<std::uint16_t>(std::isnan(from[i]) ? 0x7FC0U : rounded);
  }
  if (n % 2 != 0) out[n] = 0;
}

// As below, with keys of 8 bits: a block of elements is summed by itself, and then scaled.
template <int kQueries>
HWY_INLINE void score_codes(const PageView& page, int head_size, const RunningAttention* queries,
                            float (*scores)[kPageTokens]) {
  const F32 df;
  constexpr int kVectors = 2;
  for (int token = 0; token < kPageTokens; token += kVectors * kLanes) {
    FloatVec total[kQueries][kVectors];
    for (auto& row : total) {
      for (FloatVec& s : row) s = hn::Zero(df);
    }
    for (int block = 0; block < head_size / kBlockInputs; ++block) {
      FloatVec sum[kQueries][kVectors];
      for (auto& row : sum) {
        for (FloatVec& s : row) s = hn::Zero(df);
      }
      for (int e = block * kBlockInputs; e < (block + 1) * kBlockInputs; ++e) {
        FloatVec k[kVectors];
        for (int v = 0; v < kVectors; ++v)
          k[v] = load_elements<PageElement::kCode>(page.keys, e * kPageTokens + token + v * kLanes);
        for (int q = 0; q < kQueries; ++q) {
          const FloatVec x = hn::Set(df, queries[q].query[e]);
          for (int v = 0; v < kVectors; ++v) sum[q][v] = hn::MulAdd(k[v], x, sum[q][v]);
        }
      }
      for (int v = 0; v < kVectors; ++v) {
        const FloatVec scale =
            load_halves(page.key_scales + std::ptrdiff_t{block} * kPageTokens + token + std::ptrdiff_t{v} * kLanes);
        for (int q = 0; q < kQueries; ++q) total[q][v] = hn::MulAdd(sum[q][v], scale, total[q][v]);
      }
    }
    for (int q = 0; q < kQueries; ++q) {
      for (int v = 0; v < kVectors; ++v) hn::StoreU(total[q][v], df, scores[q] + token + std::ptrdiff_t{v} * kLanes);
    }
  }
}

// The scores of kQueries queries with all tokens of a page.
template <int kQueries, PageElement kElement>
HWY_INLINE void score(const PageView& page, int head_size, const RunningAttention* queries,
                      float (*scores)[kPageTokens]) {
  const F32 df;
  for (int token = 0; token < kPageTokens; token += kTokenVectors * kLanes) {
    FloatVec sum[kQueries][kTokenVectors];
    for (auto& row : sum) {
      for (FloatVec& s : row) s = hn::Zero(df);
    }
    for (int e = 0; e < head_size; ++e) {
      FloatVec k[kTokenVectors];
      for (int v = 0; v < kTokenVectors; ++v)
        k[v] = load_elements<kElement>(page.keys, e * kPageTokens + token + v * kLanes);
      for (int q = 0; q < kQueries; ++q) {
        const FloatVec x = hn::Set(df, queries[q].query[e]);
        for (int v = 0; v < kTokenVectors; ++v) sum[q][v] = hn::MulAdd(k[v], x, sum[q][v]);
      }
    }
    for (int q = 0; q < kQueries; ++q) {
      for (int v = 0; v < kTokenVectors; ++v) hn::StoreU(sum[q][v], df, scores[q] + token + std::ptrdiff_t{v} * kLanes);
    }
  }
}

// Scores become weights relative to the running maximum. Returns what the query's earlier weights are worth now.
HWY_INLINE float weigh(float* scores, bool first, RunningAttention& query) {
  const F32 df;
  const int tokens = std::clamp(query.tokens, 0, kPageTokens);
  if (tokens == 0) {
    std::fill_n(scores, kPageTokens, 0.0F);
    return 1.0F;
  }
  std::fill(scores + tokens, scores + kPageTokens, -std::numeric_limits<float>::infinity());
  FloatVec most = hn::LoadU(df, scores);
  for (int t = kLanes; t < kPageTokens; t += kLanes) most = hn::Max(most, hn::LoadU(df, scores + t));
  const float here = hn::GetLane(hn::MaxOfLanes(df, most));
  const float max = first ? here : std::max(here, query.max);
  const FloatVec from = hn::Set(df, max);
  FloatVec sum = hn::Zero(df);
  for (int t = 0; t < kPageTokens; t += kLanes) {
    const FloatVec weight = exponential(hn::Sub(hn::LoadU(df, scores + t), from));
    hn::StoreU(weight, df, scores + t);
    sum = hn::Add(sum, weight);
  }
  const float kept = first ? 0.0F : hn::GetLane(exponential(hn::Set(df, query.max - max)));
  // By name: a compiler may join a product and a sum for some numbers of queries and not for others.
  query.sum = first ? lane_sum(sum) : std::fma(query.sum, kept, lane_sum(sum));
  query.max = max;
  return kept;
}

// Elements [begin, end) of a head, as many vectors of them at once as kVectors.
template <int kQueries, PageElement kElement, int kVectors>
HWY_INLINE void add_values(const PageView& page, int head_size, int begin, int end, bool first, int tokens,
                           const float* kept, const float (*weights)[kPageTokens], RunningAttention* queries) {
  const F32 df;
  for (int e = begin; e < end; e += kVectors * kLanes) {
    FloatVec sum[kQueries][kVectors];
    for (int q = 0; q < kQueries; ++q) {
      for (int v = 0; v < kVectors; ++v) {
        sum[q][v] =
            first ? hn::Zero(df)
                  : hn::Mul(hn::LoadU(df, queries[q].value + e + std::ptrdiff_t{v} * kLanes), hn::Set(df, kept[q]));
      }
    }
    for (int t = 0; t < tokens; ++t) {
      FloatVec x[kVectors];
      for (int v = 0; v < kVectors; ++v) {
        const int at = t * head_size + e + v * kLanes;
        x[v] = load_elements<kElement>(page.values, at);
        if constexpr (kElement == PageElement::kCode) {
          x[v] = hn::Mul(x[v], hn::Set(df, half_to_float(page.value_scales[at / kBlockInputs])));
        }
      }
      for (int q = 0; q < kQueries; ++q) {
        const FloatVec weight = hn::Set(df, weights[q][t]);
        for (int v = 0; v < kVectors; ++v) sum[q][v] = hn::MulAdd(x[v], weight, sum[q][v]);
      }
    }
    for (int q = 0; q < kQueries; ++q) {
      for (int v = 0; v < kVectors; ++v) hn::StoreU(sum[q][v], df, queries[q].value + e + std::ptrdiff_t{v} * kLanes);
    }
  }
}

template <int kQueries, PageElement kElement>
void attend_some(const PageView& page, int head_size, bool first, RunningAttention* queries) {
  float scores[kQueries][kPageTokens];
  float kept[kQueries];
  if constexpr (kElement == PageElement::kCode) {
    score_codes<kQueries>(page, head_size, queries, scores);
  } else {
    score<kQueries, kElement>(page, head_size, queries, scores);
  }
  int tokens = 0;
  for (int q = 0; q < kQueries; ++q) {
    kept[q] = weigh(scores[q], first, queries[q]);
    tokens = std::max(tokens, std::min(queries[q].tokens, kPageTokens));
  }
  const int whole = head_size / (kElementVectors * kLanes) * (kElementVectors * kLanes);
  add_values<kQueries, kElement, kElementVectors>(page, head_size, 0, whole, first, tokens, kept, scores, queries);
  add_values<kQueries, kElement, 1>(page, head_size, whole, head_size, first, tokens, kept, scores, queries);
}

template <PageElement kElement, int... kCounts>
void attend_counted(std::integer_sequence<int, kCounts...> /*counts*/, const PageView& page, int head_size, bool first,
                    RunningAttention* queries, int n) {
  using Attend = void (*)(const PageView&, int, bool, RunningAttention*);
  static constexpr Attend kAttend[] = {attend_some<kCounts + 1, kElement>...};
  const int blocks = (n + kMostQueries - 1) / kMostQueries;
  const int step = (n + blocks - 1) / blocks;
  for (int q = 0; q < n; q += step) kAttend[std::min(step, n - q) - 1](page, head_size, first, queries + q);
}

void attend(const PageView& page, int head_size, bool first, RunningAttention* queries, int n) {
  const std::make_integer_sequence<int, kMostQueries> counts;
  switch (page.element) {
    case PageElement::kF16:
      return attend_counted<PageElement::kF16>(counts, page, head_size, first, queries, n);
    case PageElement::kBf16:
      return attend_counted<PageElement::kBf16>(counts, page, head_size, first, queries, n);
    case PageElement::kCode:
      return attend_counted<PageElement::kCode>(counts, page, head_size, first, queries, n);
  }
}

CpuKernels choose_rows() {
  return {.name = nullptr,
          .bf16_rows = false,
          .multiply = nullptr,
          .quantise = quantise,
          .normalise = normalise,
          .gate = gate,
          .add = add,
          .attend = attend,
          .to_half = to_half,
          .to_bf16 = to_bf16,
          .add_scaled = add_scaled};
}

#else

CpuKernels choose_rows() { return {}; }

#endif

}  // namespace HWY_NAMESPACE
}  // namespace dts::native
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dts::native {
HWY_EXPORT(choose_rows);

CpuKernels row_kernels() { return HWY_DYNAMIC_DISPATCH(choose_rows)(); }
}  // namespace dts::native
#endif
