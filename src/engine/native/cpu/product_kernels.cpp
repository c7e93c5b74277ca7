// Matrix products over panels; compiled once for every instruction set.
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "engine/native/cpu/compiled_kernels.h"
#include "engine/native/cpu/cpu_kernels.h"

// In this version of Highway asked for by name: it has the products of bytes that AVX-512 lacks.
#define HWY_WANT_AVX3_DL
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/native/cpu/product_kernels.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
// After foreach_target.h, as it wants.
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace dts::native {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

using F32 = hn::CappedTag<float, kPanelOutputs>;
using I32 = hn::RebindToSigned<F32>;
using U8 = hn::Repartition<std::uint8_t, F32>;
using FloatVec = hn::Vec<F32>;
using IntVec = hn::Vec<I32>;
using ByteVec = hn::Vec<U8>;

constexpr int kLanes = static_cast<int>(hn::MaxLanes(F32()));
constexpr int kColumnsOfPanel = kPanelOutputs / kLanes;  // vectors that a panel is wide
constexpr std::size_t kVector = 64;                      // bytes of a group of four inputs, all lanes of a panel
constexpr int kGroups = kBlockInputs / 4;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3  // and what is better
constexpr int kMostRows = 12;               // in registers, beside as many sums in single precision, times ...
constexpr int kColumns = 1;
constexpr int kMostFloatRows = 8;  // in registers, times ...
constexpr int kFloatColumns = 3;
#elif HWY_TARGET == HWY_AVX2
constexpr int kMostRows = 4;  // sums in single precision are in memory: they come once in 32 inputs
constexpr int kColumns = 2;   // a panel is read once, and a row's bytes serve both
constexpr int kMostFloatRows = 6;
constexpr int kFloatColumns = 2;
#else
constexpr int kMostRows = 4;
constexpr int kColumns = 2;
constexpr int kMostFloatRows = 2;
constexpr int kFloatColumns = 2;
#endif

static_assert(kColumns * kLanes <= kPanelOutputs);

// Asks memory for what will be read soon. Most weights come from memory in every step, and by itself the CPU looks
// ahead too little to keep it busy: never beyond a page of 4 kB, and no further than it has instructions in flight.
HWY_INLINE void fetch(const std::uint8_t* from, std::size_t bytes) {
  constexpr std::size_t kLine = 64;
  for (std::size_t at = 0; at < bytes; at += kLine) hwy::Prefetch(from + at);
}

// How four unsigned codes are multiplied with four signed bytes in each lane, and added up.
enum class Bytes : std::uint8_t {
  kAlways,  // as every CPU of this instruction set can
  kVnni,    // with AVX2 alone: by the one instruction that some of those CPUs have for it
};

HWY_INLINE IntVec four_of_all(const std::int8_t* four_bytes) {
  std::int32_t four = 0;
  std::memcpy(&four, four_bytes, sizeof four);
  return hn::Set(I32(), four);
}

// Sums of one row in each lane over the groups that share a scale. No code is above kMostCode, no byte beyond 127.
// Codes come less kLess: as they are, or signed.
template <int kMostCode, Bytes kBytes>
class ByteSum {
 public:
#if defined(__ARM_FEATURE_DOTPROD) && !defined(__ARM_FEATURE_MATMUL_INT8)
  static constexpr int kLess = kMostCode < 128 ? 0 : 128;  // only signed with signed
#else
  static constexpr int kLess = 0;
#endif
  HWY_INLINE void begin(std::int32_t with) { sum_ = hn::Set(I32(), with); }
  // Group `g` of those that are summed, in their order.
  HWY_INLINE void add(int g, ByteVec codes, const std::int8_t* four_bytes);
  HWY_INLINE IntVec sum() const { return sum_; }

 private:
  IntVec sum_;
};

#if HWY_TARGET == HWY_AVX3_DL

template <int kMostCode, Bytes kBytes>
HWY_INLINE void ByteSum<kMostCode, kBytes>::add(int /*g*/, ByteVec codes, const std::int8_t* four_bytes) {
  // By name: this version of Highway compiles the set without the one instruction that it is wanted for. Into a
  // variable of its own: GCC stores a member after each such instruction, which halves the speed.
  auto sum = sum_.raw;
  asm("vpdpbusd %2%{1to16%}, %1, %0"
      : "+v"(sum)
      : "v"(codes.raw), "m"(*reinterpret_cast<const std::int8_t(*)[4]>(four_bytes)));
  sum_.raw = sum;
}

#elif HWY_TARGET == HWY_AVX3

template <int kMostCode, Bytes kBytes>
HWY_INLINE void ByteSum<kMostCode, kBytes>::add(int /*g*/, ByteVec codes, const std::int8_t* four_bytes) {
  const __m512i bytes = four_of_all(four_bytes).raw;
  const __m512i ones = _mm512_set1_epi16(1);
  if constexpr (kMostCode < 128) {
    sum_.raw = _mm512_add_epi32(sum_.raw, _mm512_madd_epi16(_mm512_maddubs_epi16(codes.raw, bytes), ones));
  } else {
    // Two products of 255 and 127 do not fit 16 bits: the eighth bit apart.
    const __m512i high = _mm512_set1_epi8(static_cast<char>(0x80));
    const __m512i low = _mm512_madd_epi16(_mm512_maddubs_epi16(_mm512_andnot_si512(high, codes.raw), bytes), ones);
    const __m512i top = _mm512_madd_epi16(_mm512_maddubs_epi16(_mm512_and_si512(high, codes.raw), bytes), ones);
    sum_.raw = _mm512_add_epi32(sum_.raw, _mm512_add_epi32(low, top));
  }
}

#elif HWY_TARGET == HWY_AVX2

template <int kMostCode>
class ByteSum<kMostCode, Bytes::kVnni> {
 public:
  static constexpr int kLess = 0;
  HWY_INLINE void begin(std::int32_t with) { sum_ = hn::Set(I32(), with); }
  HWY_INLINE void add(int /*g*/, ByteVec codes, const std::int8_t* four_bytes) {
    auto sum = sum_.raw;  // as above
    asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum) : "x"(codes.raw), "x"(four_of_all(four_bytes).raw));
    sum_.raw = sum;
  }
  HWY_INLINE IntVec sum() const { return sum_; }

 private:
  IntVec sum_;
};

// The sum as it is now. GCC would add up whole numbers in another order and keep the summands, in memory, until then.
HWY_INLINE __m256i in_order(__m256i sum) {
  asm("" : "+x"(sum));
  return sum;
}

// Pairs of products are added up in 16 bits for as many groups as are sure to fit: every second instruction is saved.
template <int kMostCode>
class ByteSum<kMostCode, Bytes::kAlways> {
 public:
  static constexpr int kLess = 0;
  HWY_INLINE void begin(std::int32_t with) { with_ = with; }
  HWY_INLINE void add(int g, ByteVec codes, const std::int8_t* four_bytes) {
    const __m256i products = _mm256_maddubs_epi16(codes.raw, four_of_all(four_bytes).raw);
    pairs_ = g % kTogether == 0 ? products : in_order(_mm256_add_epi16(pairs_, products));
    if (g % kTogether < kTogether - 1) return;
    const __m256i four = _mm256_madd_epi16(pairs_, _mm256_set1_epi16(1));
    sum_ = g < kTogether ? four : in_order(_mm256_add_epi32(sum_, four));
  }
  // What it began with comes last: that is one register less while it adds.
  HWY_INLINE IntVec sum() const { return IntVec{_mm256_add_epi32(sum_, _mm256_set1_epi32(with_))}; }

 private:
  static constexpr int kFits = 32767 / (2 * 127 * kMostCode);  // groups
  static constexpr int kTogether = kFits >= 8 ? 8 : kFits >= 4 ? 4 : kFits >= 2 ? 2 : 1;
  std::int32_t with_;
  __m256i sum_;
  __m256i pairs_;
};

// Two products of 255 and 127 do not fit 16 bits. Those of signed codes do, and what they are multiplied with takes
// their sign.
template <>
class ByteSum<255, Bytes::kAlways> {
 public:
  static constexpr int kLess = 128;
  HWY_INLINE void begin(std::int32_t with) { sum_ = hn::Set(I32(), with); }
  HWY_INLINE void add(int /*g*/, ByteVec codes, const std::int8_t* four_bytes) {
    const __m256i bytes = _mm256_sign_epi8(four_of_all(four_bytes).raw, codes.raw);
    const __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(codes.raw), bytes);
    sum_.raw = in_order(_mm256_add_epi32(sum_.raw, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1))));
  }
  HWY_INLINE IntVec sum() const { return sum_; }

 private:
  IntVec sum_;
};

#else

template <int kMostCode, Bytes kBytes>
HWY_INLINE void ByteSum<kMostCode, kBytes>::add(int /*g*/, ByteVec codes, const std::int8_t* four_bytes) {
  const IntVec bytes = four_of_all(four_bytes);
#if defined(__ARM_FEATURE_MATMUL_INT8)
  sum_ = IntVec{vusdotq_s32(sum_.raw, codes.raw, vreinterpretq_s8_s32(bytes.raw))};
#elif defined(__ARM_FEATURE_DOTPROD)
  sum_ = IntVec{vdotq_s32(sum_.raw, vreinterpretq_s8_u8(codes.raw), vreinterpretq_s8_s32(bytes.raw))};
#else
  const I32 d;
  const hn::RebindToUnsigned<I32> du;
  const auto w = hn::BitCast(du, codes);
  const auto mask = hn::Set(du, 255U);
  const auto weight = [&](auto shifted) { return hn::BitCast(d, hn::And(shifted, mask)); };
  sum_ = hn::Add(sum_, hn::Mul(weight(w), hn::ShiftRight<24>(hn::ShiftLeft<24>(bytes))));
  sum_ = hn::Add(sum_, hn::Mul(weight(hn::ShiftRight<8>(w)), hn::ShiftRight<24>(hn::ShiftLeft<16>(bytes))));
  sum_ = hn::Add(sum_, hn::Mul(weight(hn::ShiftRight<16>(w)), hn::ShiftRight<24>(hn::ShiftLeft<8>(bytes))));
  sum_ = hn::Add(sum_, hn::Mul(weight(hn::ShiftRight<24>(w)), hn::ShiftRight<24>(bytes)));
#endif
}

#endif

HWY_INLINE FloatVec load_halves(const std::uint8_t* at) {
  const hn::Rebind<hwy::float16_t, F32> d;
  return hn::PromoteTo(F32(), hn::LoadU(d, reinterpret_cast<const hwy::float16_t*>(at)));
}

template <typename Byte>
HWY_INLINE FloatVec load_bytes(const std::uint8_t* at) {
  const hn::Rebind<Byte, I32> d;
  return hn::ConvertTo(F32(), hn::PromoteTo(I32(), hn::LoadU(d, reinterpret_cast<const Byte*>(at))));
}

HWY_INLINE ByteVec half_of(ByteVec both, int group) {
  const ByteVec low = hn::Set(U8(), std::uint8_t{15});
  return hn::And(group % 2 == 0 ? both : hn::ShiftRight<4>(both), low);
}

// A type of quantised weights: where block `b` of a panel lies, its codes group by group, and its scales. `lane` is the
// first of the lanes that are computed, and `column` says how many vectors further. Types with codes above 127 have
// them less 128 as well.
struct Q8 {  // q8_0
  static constexpr std::size_t kBlockBytes = 32 + 8 * kVector;
  static constexpr int kZero = 128;
  static constexpr int kScales = 1;  // to a block
  static constexpr int kMostCode = 255;
  static constexpr bool kMinima = false;
  const std::uint8_t* block;
  HWY_INLINE Q8(const std::uint8_t* panel, int b, int lane)
      : block(panel + static_cast<std::size_t>(b) * kBlockBytes), lane_(static_cast<std::size_t>(lane)) {}
  HWY_INLINE ByteVec codes(int group, int column) const {
    return hn::LoadU(U8(), block + 32 + static_cast<std::size_t>(group) * kVector + lane(column) * 4);
  }
  HWY_INLINE ByteVec signed_codes(int group, int column) const {
    return hn::Xor(codes(group, column), hn::Set(U8(), std::uint8_t{128}));
  }
  HWY_INLINE FloatVec scale(int /*part*/, int column) const { return load_halves(block + lane(column) * 2); }
  HWY_INLINE FloatVec minimum(int /*column*/) const { return hn::Zero(F32()); }

 private:
  HWY_INLINE std::size_t lane(int column) const { return lane_ + static_cast<std::size_t>(column * kLanes); }

  std::size_t lane_;
};

struct Q4 {  // q4_0
  static constexpr std::size_t kBlockBytes = 32 + 4 * kVector;
  static constexpr int kZero = 8;
  static constexpr int kScales = 1;
  static constexpr int kMostCode = 15;
  static constexpr bool kMinima = false;
  const std::uint8_t* block;
  HWY_INLINE Q4(const std::uint8_t* panel, int b, int lane)
      : block(panel + static_cast<std::size_t>(b) * kBlockBytes), lane_(static_cast<std::size_t>(lane)) {}
  HWY_INLINE ByteVec codes(int group, int column) const {
    return half_of(hn::LoadU(U8(), block + 32 + static_cast<std::size_t>(group / 2) * kVector + lane(column) * 4),
                   group);
  }
  HWY_INLINE FloatVec scale(int /*part*/, int column) const { return load_halves(block + lane(column) * 2); }
  HWY_INLINE FloatVec minimum(int /*column*/) const { return hn::Zero(F32()); }

 private:
  HWY_INLINE std::size_t lane(int column) const { return lane_ + static_cast<std::size_t>(column * kLanes); }

  std::size_t lane_;
};

struct Iq4Nl : Q4 {
  static constexpr int kZero = 128;
  static constexpr int kMostCode = 255;
  HWY_INLINE Iq4Nl(const std::uint8_t* panel, int b, int lane) : Q4(panel, b, lane) {}
  HWY_INLINE ByteVec codes(int group, int column) const {
    // kIq4NlValues + 128
    alignas(16) static constexpr std::uint8_t kValues[16] = {1,   24,  45,  63,  79,  93,  106, 118,
                                                             129, 141, 153, 166, 181, 197, 217, 241};
    return hn::TableLookupBytes(hn::LoadDup128(U8(), kValues), Q4::codes(group, column));
  }
  HWY_INLINE ByteVec signed_codes(int group, int column) const {
    const hn::RebindToSigned<U8> d;
    return hn::BitCast(U8(), hn::TableLookupBytes(hn::LoadDup128(d, kIq4NlValues), Q4::codes(group, column)));
  }
};

// Those with scales of scales; the offsets are pack_panel's.
template <std::size_t kBytes, std::size_t kScaleAt, std::size_t kLowAt>
struct Super {
  static constexpr std::size_t kBlockBytes = kBytes / 8;  // codes and scales taken together
  const std::uint8_t* super;
  HWY_INLINE Super(const std::uint8_t* panel, int b, int lane)
      : super(panel + static_cast<std::size_t>(b / 8) * kBytes),
        block_(static_cast<std::size_t>(b % 8)),
        lane_(static_cast<std::size_t>(lane)) {}
  HWY_INLINE ByteVec low(int group, int column) const {
    const std::uint8_t* at = super + kLowAt + (block_ * 4 + static_cast<std::size_t>(group / 2)) * kVector;
    return half_of(hn::LoadU(U8(), at + lane(column) * 4), group);
  }

 protected:
  HWY_INLINE std::size_t lane(int column) const { return lane_ + static_cast<std::size_t>(column * kLanes); }

  std::size_t block_;
  std::size_t lane_;
};

template <std::size_t kBytes>
struct WithMinima : Super<kBytes, 64, 320> {
  static constexpr int kZero = 0;
  static constexpr int kScales = 1;
  static constexpr bool kMinima = true;
  HWY_INLINE WithMinima(const std::uint8_t* panel, int b, int lane) : Super<kBytes, 64, 320>(panel, b, lane) {}
  HWY_INLINE FloatVec scale(int /*part*/, int column) const {
    return hn::Mul(load_halves(this->super + this->lane(column) * 2),
                   load_bytes<std::uint8_t>(this->super + 64 + this->block_ * 16 + this->lane(column)));
  }
  HWY_INLINE FloatVec minimum(int column) const {
    return hn::Mul(load_halves(this->super + 32 + this->lane(column) * 2),
                   load_bytes<std::uint8_t>(this->super + 192 + this->block_ * 16 + this->lane(column)));
  }
};

struct Q4K : WithMinima<2368> {
  static constexpr int kMostCode = 15;
  HWY_INLINE Q4K(const std::uint8_t* panel, int b, int lane) : WithMinima<2368>(panel, b, lane) {}
  HWY_INLINE ByteVec codes(int group, int column) const { return low(group, column); }
};

struct Q5K : WithMinima<2880> {
  static constexpr int kMostCode = 31;
  HWY_INLINE Q5K(const std::uint8_t* panel, int b, int lane) : WithMinima<2880>(panel, b, lane) {}
  HWY_INLINE ByteVec codes(int group, int column) const {
    const hn::Repartition<std::uint16_t, U8> d16;
    const ByteVec all = hn::LoadU(U8(), super + 2368 + block_ * kVector + lane(column) * 4);
    // The group's bit of every byte at 16.
    const auto wide = hn::BitCast(d16, all);
    const auto moved = group < 4 ? hn::ShiftLeftSame(wide, 4 - group) : hn::ShiftRightSame(wide, group - 4);
    const ByteVec fifth = hn::And(hn::BitCast(U8(), moved), hn::Set(U8(), std::uint8_t{16}));
    return hn::Or(low(group, column), fifth);
  }
};

struct Q6K : Super<3360, 32, 288> {
  static constexpr int kZero = 32;
  static constexpr int kScales = 2;
  static constexpr int kMostCode = 63;
  static constexpr bool kMinima = false;
  HWY_INLINE Q6K(const std::uint8_t* panel, int b, int lane) : Super<3360, 32, 288>(panel, b, lane) {}
  HWY_INLINE ByteVec codes(int group, int column) const {
    const hn::Repartition<std::uint16_t, U8> d16;
    const std::uint8_t* at = super + 2336 + (block_ * 2 + static_cast<std::size_t>(group / 4)) * kVector;
    const auto wide = hn::BitCast(d16, hn::LoadU(U8(), at + lane(column) * 4));
    // The group's two bits of every byte at 16 and 32.
    const int from = group % 4 * 2;
    const auto moved = from < 4 ? hn::ShiftLeftSame(wide, 4 - from) : hn::ShiftRightSame(wide, from - 4);
    const ByteVec high = hn::And(hn::BitCast(U8(), moved), hn::Set(U8(), std::uint8_t{48}));
    return hn::Or(low(group, column), high);
  }
  HWY_INLINE FloatVec scale(int part, int column) const {
    return hn::Mul(
        load_halves(super + lane(column) * 2),
        load_bytes<std::int8_t>(super + 32 + (block_ * 2 + static_cast<std::size_t>(part)) * 16 + lane(column)));
  }
  HWY_INLINE FloatVec minimum(int /*column*/) const { return hn::Zero(F32()); }
};

// Stores what lies within the matrix: the last panel may be wider.
HWY_INLINE void store(FloatVec v, float* out, int room) {
  if (room >= kLanes) {
    hn::StoreU(v, F32(), out);
    return;
  }
  HWY_ALIGN float lanes[kLanes];
  hn::Store(v, F32(), lanes);
  std::copy_n(lanes, std::max(room, 0), out);
}

// kRows rows with kColumns columns of a panel's lanes.
template <typename Type, Bytes kBytes, int kRows>
HWY_NOINLINE void quantised_tile(const std::uint8_t* panel, int lane, const Activations& a, int first_row, float* out,
                                 std::size_t stride, int room) {
  constexpr std::size_t kAhead = 4096;  // bytes; what follows a panel is the next one
  static_assert(!Type::kMinima || Type::kScales == 1, "a block has one minimum");
  using Sum = ByteSum<Type::kMostCode, kBytes>;
  const F32 df;
  const auto inputs = static_cast<std::size_t>(a.inputs);
  const std::size_t blocks = inputs / kBlockInputs;
  const auto first = static_cast<std::size_t>(first_row);
  const std::int8_t* codes = a.codes + first * inputs;
  const float* scales = a.scales + first * blocks;
  const float* sums = a.sums + first * blocks;
  const std::int32_t* code_sums = a.code_sums + first * blocks * 2;
  FloatVec total[kRows][kColumns];
  for (auto& row : total) {
    for (FloatVec& sum : row) sum = hn::Zero(df);
  }
  for (std::size_t b = 0; b < blocks; ++b) {
    const Type block(panel, static_cast<int>(b), lane);
    fetch(panel + b * Type::kBlockBytes + kAhead, Type::kBlockBytes);
    constexpr int kGroupsOfScale = kGroups / Type::kScales;
    for (int part = 0; part < Type::kScales; ++part) {
      Sum sum[kRows][kColumns];
      for (int r = 0; r < kRows; ++r) {
        constexpr int kZero = Type::kZero - Sum::kLess;
        if constexpr (kZero == 0) {
          for (Sum& one : sum[r]) one.begin(0);
        } else {
          const std::int32_t* here = code_sums + static_cast<std::size_t>(r) * blocks * 2 + b * 2;
          const std::int32_t with = -kZero * (Type::kScales == 2 ? here[part] : here[0] + here[1]);
          for (Sum& one : sum[r]) one.begin(with);
        }
      }
      HWY_UNROLL(8)
      for (int g = 0; g < kGroupsOfScale; ++g) {
        const int group = part * kGroupsOfScale + g;
        for (int c = 0; c < kColumns; ++c) {
          ByteVec w;
          if constexpr (Sum::kLess == 0) {
            w = block.codes(group, c);
          } else {
            w = block.signed_codes(group, c);
          }
          for (int r = 0; r < kRows; ++r) {
            const std::int8_t* four =
                codes + static_cast<std::size_t>(r) * inputs + b * kBlockInputs + std::ptrdiff_t{group} * 4;
            sum[r][c].add(g, w, four);
          }
        }
      }
      for (int c = 0; c < kColumns; ++c) {
        const FloatVec scale = block.scale(part, c);
        const FloatVec minimum = block.minimum(c);
        for (int r = 0; r < kRows; ++r) {
          const std::size_t here = static_cast<std::size_t>(r) * blocks + b;
          const FloatVec both = hn::Mul(scale, hn::Set(df, scales[here]));
          FloatVec so_far = hn::MulAdd(hn::ConvertTo(df, sum[r][c].sum()), both, total[r][c]);
          if constexpr (Type::kMinima) so_far = hn::NegMulAdd(minimum, hn::Set(df, sums[here]), so_far);
          total[r][c] = so_far;
        }
      }
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kColumns; ++c) {
      store(total[r][c], out + static_cast<std::size_t>(r) * stride + std::ptrdiff_t{c} * kLanes, room - c * kLanes);
    }
  }
}

// A type of weights that are numbers by themselves: kTogether inputs of a lane lie in kBytes.
struct PlainF32 {
  static constexpr std::size_t kBytes = 4;
  static constexpr int kTogether = 1;
  static HWY_INLINE FloatVec load(const std::uint8_t* at, int /*which*/) {
    return hn::LoadU(F32(), reinterpret_cast<const float*>(at));
  }
};
struct PlainF16 {
  static constexpr std::size_t kBytes = 2;
  static constexpr int kTogether = 1;
  static HWY_INLINE FloatVec load(const std::uint8_t* at, int /*which*/) { return load_halves(at); }
};
struct PlainBf16 {
  static constexpr std::size_t kBytes = 4;
  static constexpr int kTogether = 2;
  static HWY_INLINE FloatVec load(const std::uint8_t* at, int which) {
    const auto pair = hn::LoadU(I32(), reinterpret_cast<const std::int32_t*>(at));
    return hn::BitCast(F32(), which == 0 ? hn::ShiftLeft<16>(pair)
                                         : hn::And(pair, hn::Set(I32(), static_cast<std::int32_t>(0xFFFF0000U))));
  }
};

HWY_INLINE const std::uint8_t* column_at(const PanelMatrix& matrix, int column, std::size_t lane_bytes) {
  return matrix.panel(column / kColumnsOfPanel) +
         static_cast<std::size_t>(column % kColumnsOfPanel * kLanes) * lane_bytes;
}

template <int kRows, int kColumns>
HWY_INLINE void store_tile(const FloatVec (&total)[kRows][kColumns], const PanelMatrix& matrix, int first_column,
                           float* out, std::size_t stride) {
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kColumns; ++c) {
      const int output = (first_column + c) * kLanes;
      store(total[r][c], out + static_cast<std::size_t>(r) * stride + output, matrix.outputs - output);
    }
  }
}

// kRows rows with kColumns columns of lanes, `first_column` counted over all panels: a lone row has sums enough to keep
// the units busy.
template <typename Type, int kRows, int kColumns>
HWY_NOINLINE void float_tile(const PanelMatrix& matrix, int first_column, const Activations& a, int first_row,
                             float* out, std::size_t stride) {
  constexpr std::size_t kAhead = 1024;  // bytes of each column
  const F32 df;
  const auto inputs = static_cast<std::size_t>(a.inputs);
  const float* values = a.values + static_cast<std::size_t>(first_row) * inputs;
  const std::uint8_t* weights[kColumns];
  for (int c = 0; c < kColumns; ++c) weights[c] = column_at(matrix, first_column + c, Type::kBytes);
  FloatVec total[kRows][kColumns];
  for (auto& row : total) {
    for (FloatVec& sum : row) sum = hn::Zero(df);
  }
  const auto add = [&](std::size_t step, int which) HWY_ATTR {
    FloatVec w[kColumns];
    for (int c = 0; c < kColumns; ++c) {
      w[c] = Type::load(weights[c] + step * kPanelOutputs * Type::kBytes, which);
    }
    const std::size_t k = step * Type::kTogether + static_cast<std::size_t>(which);
    for (int r = 0; r < kRows; ++r) {
      const FloatVec x = hn::Set(df, values[static_cast<std::size_t>(r) * inputs + k]);
      for (int c = 0; c < kColumns; ++c) total[r][c] = hn::MulAdd(w[c], x, total[r][c]);
    }
  };
  const std::size_t steps = inputs / Type::kTogether;
  for (std::size_t step = 0; step < steps; ++step) {
    for (int c = 0; c < kColumns; ++c) {
      fetch(weights[c] + step * kPanelOutputs * Type::kBytes + kAhead, kLanes * Type::kBytes);
    }
    for (int which = 0; which < Type::kTogether; ++which) add(step, which);
  }
  if (inputs % Type::kTogether != 0) add(steps, 0);
  store_tile<kRows, kColumns>(total, matrix, first_column, out, stride);
}

#if HWY_TARGET == HWY_AVX3_DL
#define DTS_HAS_BF16_TILE 1

// sum + the two products, in each lane, of bf16 with bf16, in single precision. By name, as the products of bytes are.
// Where the CPU has it: see cpu_kernels.cpp.
HWY_INLINE FloatVec add_pairs(FloatVec sum, IntVec weights, IntVec row) {
  asm("vdpbf16ps %2, %1, %0" : "+v"(sum.raw) : "v"(weights.raw), "v"(row.raw));
  return sum;
}

// As above, of weights and rows in bf16: two inputs an instruction.
template <int kRows, int kColumns>
HWY_NOINLINE void bf16_tile(const PanelMatrix& matrix, int first_column, const Activations& a, int first_row,
                            float* out, std::size_t stride) {
  constexpr std::size_t kAhead = 1024;
  const std::size_t pairs = (static_cast<std::size_t>(a.inputs) + 1) / 2;
  const std::uint16_t* rows = a.bf16 + static_cast<std::size_t>(first_row) * pairs * 2;
  const std::uint8_t* weights[kColumns];
  for (int c = 0; c < kColumns; ++c) weights[c] = column_at(matrix, first_column + c, 4);
  FloatVec total[kRows][kColumns];
  for (auto& row : total) {
    for (FloatVec& sum : row) sum = hn::Zero(F32());
  }
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    IntVec w[kColumns];
    for (int c = 0; c < kColumns; ++c) {
      const std::uint8_t* at = weights[c] + pair * kVector;
      fetch(at + kAhead, kVector);
      w[c] = hn::LoadU(I32(), reinterpret_cast<const std::int32_t*>(at));
    }
    for (int r = 0; r < kRows; ++r) {
      std::int32_t two = 0;
      std::memcpy(&two, rows + (static_cast<std::size_t>(r) * pairs + pair) * 2, sizeof two);
      const IntVec x = hn::Set(I32(), two);
      for (int c = 0; c < kColumns; ++c) total[r][c] = add_pairs(total[r][c], w[c], x);
    }
  }
  store_tile<kRows, kColumns>(total, matrix, first_column, out, stride);
}
#endif

// Rows are shared out evenly: 16 are 8 and 8, not 12 and 4.
int rows_of_tile(int rows, int most) {
  const int tiles = (rows + most - 1) / most;
  return (rows + tiles - 1) / tiles;
}

template <typename Type, Bytes kBytes, int... kRows>
void multiply_quantised(std::integer_sequence<int, kRows...> /*rows*/, const PanelMatrix& matrix, int first, int count,
                        const Activations& a, int rows, float* out, std::size_t stride) {
  using QuantisedTile = void (*)(const std::uint8_t*, int, const Activations&, int, float*, std::size_t, int);
  static constexpr QuantisedTile kTiles[] = {quantised_tile<Type, kBytes, kRows + 1>...};
  const int step = rows_of_tile(rows, kMostRows);
  for (int row = 0; row < rows; row += step) {
    const int n = std::min(step, rows - row);
    for (int panel = first; panel < first + count; ++panel) {
      for (int lane = 0; lane < kPanelOutputs; lane += kColumns * kLanes) {
        const int output = panel * kPanelOutputs + lane;
        kTiles[n - 1](matrix.panel(panel), lane, a, row, out + static_cast<std::size_t>(row) * stride + output, stride,
                      matrix.outputs - output);
      }
    }
  }
}

using Tile = void (*)(const PanelMatrix&, int, const Activations&, int, float*, std::size_t);

template <typename Type>
struct FloatTiles {
  template <int kRows, int kColumns>
  static constexpr Tile kTile = float_tile<Type, kRows, kColumns>;
};
#if DTS_HAS_BF16_TILE
struct Bf16Tiles {
  template <int kRows, int kColumns>
  static constexpr Tile kTile = bf16_tile<kRows, kColumns>;
};
#endif

template <typename Tiles, int kColumns, int... kRows>
void multiply_columns(std::integer_sequence<int, kRows...> /*rows*/, const PanelMatrix& matrix, int column,
                      const Activations& a, int row, int rows, float* out, std::size_t stride) {
  static constexpr Tile kTiles[] = {Tiles::template kTile<kRows + 1, kColumns>...};
  kTiles[rows - 1](matrix, column, a, row, out + static_cast<std::size_t>(row) * stride, stride);
}

template <typename Tiles>
void multiply_floats(const PanelMatrix& matrix, int first, int count, const Activations& a, int rows, float* out,
                     std::size_t stride) {
  constexpr int kLoneColumns = 4;
  const std::make_integer_sequence<int, kMostFloatRows> all;
  const std::make_integer_sequence<int, 1> one;
  const int end = (first + count) * kColumnsOfPanel;
  const int step = rows_of_tile(rows, kMostFloatRows);
  for (int row = 0; row < rows; row += step) {
    const int n = std::min(step, rows - row);
    int column = first * kColumnsOfPanel;
    if (n == 1) {
      for (; column + kLoneColumns <= end; column += kLoneColumns) {
        multiply_columns<Tiles, kLoneColumns>(one, matrix, column, a, row, n, out, stride);
      }
    }
    for (; column + kFloatColumns <= end; column += kFloatColumns) {
      multiply_columns<Tiles, kFloatColumns>(all, matrix, column, a, row, n, out, stride);
    }
    for (; column < end; ++column) multiply_columns<Tiles, 1>(all, matrix, column, a, row, n, out, stride);
  }
}

template <Bytes kBytes>
void multiply(const PanelMatrix& matrix, int first, int count, const Activations& a, int rows, float* out,
              std::size_t stride) {
  const std::make_integer_sequence<int, kMostRows> all;
  switch (matrix.type) {
    case PanelType::kF32:
      return multiply_floats<FloatTiles<PlainF32>>(matrix, first, count, a, rows, out, stride);
    case PanelType::kF16:
      return multiply_floats<FloatTiles<PlainF16>>(matrix, first, count, a, rows, out, stride);
    case PanelType::kBf16:
#if DTS_HAS_BF16_TILE
      if (a.bf16 != nullptr) return multiply_floats<Bf16Tiles>(matrix, first, count, a, rows, out, stride);
#endif
      return multiply_floats<FloatTiles<PlainBf16>>(matrix, first, count, a, rows, out, stride);
    case PanelType::kQ8_0:
      return multiply_quantised<Q8, kBytes>(all, matrix, first, count, a, rows, out, stride);
    case PanelType::kQ4_0:
      return multiply_quantised<Q4, kBytes>(all, matrix, first, count, a, rows, out, stride);
    case PanelType::kIq4Nl:
      return multiply_quantised<Iq4Nl, kBytes>(all, matrix, first, count, a, rows, out, stride);
    case PanelType::kQ4K:
      return multiply_quantised<Q4K, kBytes>(all, matrix, first, count, a, rows, out, stride);
    case PanelType::kQ5K:
      return multiply_quantised<Q5K, kBytes>(all, matrix, first, count, a, rows, out, stride);
    case PanelType::kQ6K:
      return multiply_quantised<Q6K, kBytes>(all, matrix, first, count, a, rows, out, stride);
  }
}

decltype(CpuKernels::multiply) choose_multiply(bool further) {
#if HWY_TARGET == HWY_AVX2
  if (further) return multiply<Bytes::kVnni>;
#endif
  static_cast<void>(further);
  return multiply<Bytes::kAlways>;
}

#else

decltype(CpuKernels::multiply) choose_multiply(bool /*further*/) { return nullptr; }

#endif
#undef DTS_HAS_BF16_TILE

}  // namespace HWY_NAMESPACE
}  // namespace dts::native
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dts::native {
HWY_EXPORT(choose_multiply);

decltype(CpuKernels::multiply) product_kernel(bool further) { return HWY_DYNAMIC_DISPATCH(choose_multiply)(further); }
}  // namespace dts::native
#endif
