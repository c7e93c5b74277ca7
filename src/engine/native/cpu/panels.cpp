#include "engine/native/cpu/panels.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/check.h"
#include "engine/native/cpu/half.h"

namespace dts::native {
namespace {

constexpr int kLanes = kPanelOutputs;
constexpr int kLanesAtOnce = 4;
constexpr int kGroup = 4;            // inputs that one product of bytes takes
constexpr std::size_t kVector = 64;  // bytes: a group of every lane
constexpr int kGroups = kBlockInputs / kGroup;
constexpr int kBlocksOfSuper = kSuperInputs / kBlockInputs;

std::uint16_t read_u16(const std::uint8_t* at) {
  std::uint16_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// Where the types with scales of scales keep what, in bytes: in a file's block of one row, and in a panel's.
struct SuperLayout {
  std::size_t file_bytes;
  std::size_t panel_bytes;
  std::size_t scales;  // in the panel: [scales of a super-block, lanes] bytes
  std::size_t minima;  // [blocks, lanes] bytes; 0: none
  std::size_t low;     // [groups / 2, 64] bytes
  std::size_t high;    // further bits; 0: none
};
// The panel begins with d of each lane as f16, and with d of the minima after it where there are any.
constexpr SuperLayout kQ4KLayout = {144, 2368, 64, 192, 320, 0};
constexpr SuperLayout kQ5KLayout = {176, 2880, 64, 192, 320, 2368};
constexpr SuperLayout kQ6KLayout = {210, 3360, 32, 0, 288, 2336};

// The six bits of block `b`'s scale and minimum among the twelve bytes that q4_K and q5_K have for eight of each.
struct ScaleMin {
  std::uint8_t scale;
  std::uint8_t minimum;
};
ScaleMin scale_min(const std::uint8_t* packed, int b) {
  if (b < 4) return {static_cast<std::uint8_t>(packed[b] & 63U), static_cast<std::uint8_t>(packed[b + 4] & 63U)};
  return {static_cast<std::uint8_t>((packed[b + 4] & 15U) | ((packed[b - 4] >> 6U) << 4U)),
          static_cast<std::uint8_t>((packed[b + 4] >> 4U) | ((packed[b] >> 6U) << 4U))};
}

// Sixteen bytes of a row, as the compiler's vectors: every CPU has an instruction that puts elements of two of them in
// turns, and packing is made of that.
using Halves [[gnu::vector_size(16)]] = std::uint16_t;
using Words [[gnu::vector_size(16)]] = std::uint32_t;
using Doubles [[gnu::vector_size(16)]] = std::uint64_t;

template <typename Vector>
Vector load(const std::uint8_t* from) {
  Vector v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

template <typename Vector>
void store(std::uint8_t* to, Vector v) {
  std::memcpy(to, &v, sizeof v);
}

// The lower and the upper halves of both, element by element in turns.
Halves lower(Halves a, Halves b) { return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11); }
Halves upper(Halves a, Halves b) { return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15); }
Words lower(Words a, Words b) { return __builtin_shufflevector(a, b, 0, 4, 1, 5); }
Words upper(Words a, Words b) { return __builtin_shufflevector(a, b, 2, 6, 3, 7); }
Doubles lower(Doubles a, Doubles b) { return __builtin_shufflevector(a, b, 0, 2); }
Doubles upper(Doubles a, Doubles b) { return __builtin_shufflevector(a, b, 1, 3); }

// Four words of each of four lanes become four lanes of each of four words.
struct FourWords {
  Words words[4];
};
FourWords turn(Words a, Words b, Words c, Words d) {
  const auto ab_low = std::bit_cast<Doubles>(lower(a, b));
  const auto cd_low = std::bit_cast<Doubles>(lower(c, d));
  const auto ab_high = std::bit_cast<Doubles>(upper(a, b));
  const auto cd_high = std::bit_cast<Doubles>(upper(c, d));
  return {std::bit_cast<Words>(lower(ab_low, cd_low)), std::bit_cast<Words>(upper(ab_low, cd_low)),
          std::bit_cast<Words>(lower(ab_high, cd_high)), std::bit_cast<Words>(upper(ab_high, cd_high))};
}

// Codes of a block of one lane, as the file has them: unsigned, a byte each.
struct LaneCodes {
  Words first = {};  // sixteen
  Words last = {};
};
constexpr std::uint32_t kLowHalves = 0x0F0F0F0FU;

// The groups of a block, each of four lanes.
struct Groups {
  Words groups[kGroups];
  explicit Groups(const LaneCodes (&lanes)[kLanesAtOnce]) {
    const FourWords first = turn(lanes[0].first, lanes[1].first, lanes[2].first, lanes[3].first);
    const FourWords last = turn(lanes[0].last, lanes[1].last, lanes[2].last, lanes[3].last);
    std::copy_n(first.words, 4, groups);
    std::copy_n(last.words, 4, groups + 4);
  }

  // To the place of these lanes in the panel: whole codes, ...
  void put(std::uint8_t* to) const {
    for (std::size_t g = 0; g < kGroups; ++g) store(to + g * kVector, groups[g]);
  }
  // ... their lowest four bits, ...
  void put_low_halves(std::uint8_t* to) const {
    for (std::size_t g = 0; g < kGroups; g += 2) {
      store(to + g / 2 * kVector, (groups[g] & kLowHalves) | ((groups[g + 1] & kLowHalves) << 4U));
    }
  }
  // ... and kBits further bits above those.
  template <unsigned kBits>
  void put_high(std::uint8_t* to) const {
    constexpr std::size_t kGroupsAVector = 8 / kBits;
    for (std::size_t first = 0; first < kGroups; first += kGroupsAVector) {
      Words all = {};
      for (unsigned g = 0; g < kGroupsAVector; ++g) {
        all |= ((groups[first + g] >> 4U) & kLowHalves) << (g * kBits);
      }
      store(to + first / kGroupsAVector * kVector, all);
    }
  }
};

unsigned low_half(const std::uint8_t* codes, int lane, int input) {
  const int group = input / kGroup;
  const unsigned byte =
      codes[static_cast<std::size_t>(group / 2) * kVector + static_cast<std::size_t>(lane * kGroup + input % kGroup)];
  return group % 2 == 0 ? byte & 15U : byte >> 4U;
}

unsigned high_bits(const std::uint8_t* codes, int lane, int input, int bits) {
  const int group = input / kGroup;
  const int groups_a_vector = 8 / bits;
  const unsigned byte = codes[static_cast<std::size_t>(group / groups_a_vector) * kVector +
                              static_cast<std::size_t>(lane * kGroup + input % kGroup)];
  return (byte >> static_cast<unsigned>(group % groups_a_vector * bits)) & ((1U << static_cast<unsigned>(bits)) - 1U);
}

// Eight numbers of 16 bits of each of eight lanes, likewise; half a kVector apart.
void turn_halves(const std::uint8_t* rows, std::size_t stride, std::uint8_t* to) {
  Halves lanes[8];
  for (std::size_t lane = 0; lane < 8; ++lane) lanes[lane] = load<Halves>(rows + lane * stride);
  const auto store_four = [](std::uint8_t* at, const Words(&pairs)[4]) {  // [lanes / 2], each of four numbers
    for (const bool high : {false, true}) {
      const auto turn = [&](Words a, Words b) { return std::bit_cast<Doubles>(high ? upper(a, b) : lower(a, b)); };
      const Doubles first = turn(pairs[0], pairs[1]);
      const Doubles last = turn(pairs[2], pairs[3]);
      store(at, lower(first, last));
      store(at + kVector / 2, upper(first, last));
      at += kVector;
    }
  };
  Words low[4];
  Words high[4];
  for (std::size_t p = 0; p < 4; ++p) {
    low[p] = std::bit_cast<Words>(lower(lanes[2 * p], lanes[2 * p + 1]));
    high[p] = std::bit_cast<Words>(upper(lanes[2 * p], lanes[2 * p + 1]));
  }
  store_four(to, low);
  store_four(to + 2 * kVector, high);
}

// Rows of `row` bytes, in elements of kBytes, to lanes side by side. What is not whole vectors of a full panel goes one
// by one; an element that the row has only a part of is filled with zeros.
template <std::size_t kBytes>
void pack_elements(std::size_t row, int lanes, const std::uint8_t* rows, std::uint8_t* panel) {
  constexpr std::size_t kAtOnce = 16;  // bytes of a row
  constexpr std::size_t kElement = kBytes * kLanes;
  std::size_t done = 0;
  for (; lanes == kLanes && done + kAtOnce <= row; done += kAtOnce) {
    std::uint8_t* to = panel + done / kBytes * kElement;
    if constexpr (kBytes == 4) {
      for (std::size_t lane = 0; lane < kLanes; lane += 4) {
        const auto words = [&](std::size_t k) { return load<Words>(rows + (lane + k) * row + done); };
        const FourWords turned = turn(words(0), words(1), words(2), words(3));
        for (std::size_t i = 0; i < 4; ++i) store(to + i * kVector + lane * kBytes, turned.words[i]);
      }
    } else {
      static_assert(kBytes == 2);
      for (std::size_t lane = 0; lane < kLanes; lane += 8) {
        turn_halves(rows + lane * row + done, row, to + lane * kBytes);
      }
    }
  }
  for (std::size_t lane = 0; lane < static_cast<std::size_t>(lanes); ++lane) {
    for (std::size_t at = done; at < row; at += kBytes) {
      std::uint8_t* to = panel + at / kBytes * kElement + lane * kBytes;
      std::memset(to, 0, kBytes);
      std::memcpy(to, rows + lane * row + at, std::min(kBytes, row - at));
    }
  }
}

// What follows packs a block of four lanes, the first of which is `lane`. Where the matrix has fewer the last row
// stands in for the others, too, and their scales stay zero.
struct LaneRows {
  const std::uint8_t* rows[kLanesAtOnce];
  int lane;
  int count;  // that the matrix has

  std::size_t offset() const { return static_cast<std::size_t>(lane) * kGroup; }  // of their codes, within a vector
  // 16 bits of each lane's row.
  void put_scales(std::size_t at, std::uint8_t* to) const {
    for (int k = 0; k < count; ++k) std::memcpy(to + std::ptrdiff_t{lane + k} * 2, rows[k] + at, 2);
  }
};

// A scale of 16 bits, then the codes: signed in q8_0; in q4_0 and iq4_nl the first sixteen in the low halves.
template <PanelType kType>
void pack_block(const LaneRows& from, std::uint8_t* panel) {
  LaneCodes codes[kLanesAtOnce];
  from.put_scales(0, panel);
  for (int k = 0; k < kLanesAtOnce; ++k) {
    const std::uint8_t* row = from.rows[k];
    if constexpr (kType == PanelType::kQ8_0) {
      codes[k] = {load<Words>(row + 2) ^ 0x80808080U, load<Words>(row + 18) ^ 0x80808080U};
    } else {
      const auto both = load<Words>(row + 2);
      codes[k] = {both & kLowHalves, (both >> 4U) & kLowHalves};
    }
  }
  std::uint8_t* to = panel + 32 + from.offset();
  if constexpr (kType == PanelType::kQ8_0) {
    Groups(codes).put(to);
  } else {
    Groups(codes).put_low_halves(to);
  }
}

const SuperLayout& layout_of(PanelType type) {
  return type == PanelType::kQ4K ? kQ4KLayout : type == PanelType::kQ5K ? kQ5KLayout : kQ6KLayout;
}

// q4_K and q5_K: d and dmin, twelve bytes of scales and minima, (32 bytes of fifth bits,) 128 bytes of codes: of each
// 64 inputs the first half in the low halves.
template <PanelType kType>
void pack_with_minima(const LaneRows& from, std::uint8_t* panel) {
  constexpr bool kFifths = kType == PanelType::kQ5K;
  const SuperLayout& layout = layout_of(kType);
  from.put_scales(0, panel);
  from.put_scales(2, panel + 32);
  for (unsigned b = 0; b < kBlocksOfSuper; ++b) {
    LaneCodes block[kLanesAtOnce];
    for (int k = 0; k < kLanesAtOnce; ++k) {
      const std::uint8_t* row = from.rows[k];
      const ScaleMin both = scale_min(row + 4, static_cast<int>(b));
      const std::size_t at = std::size_t{b} * kLanes + static_cast<std::size_t>(from.lane + k);
      panel[layout.scales + at] = both.scale;
      panel[layout.minima + at] = both.minimum;
      const auto codes_at = [&](std::size_t i) {
        const auto codes = load<Words>(row + (kFifths ? 48 : 16) + std::size_t{b / 2} * kBlockInputs + i);
        const Words four = (codes >> (b % 2 * 4)) & kLowHalves;
        return kFifths ? four | (((load<Words>(row + 16 + i) >> b) & 0x01010101U) << 4U) : four;
      };
      block[k] = {codes_at(0), codes_at(16)};
    }
    const Groups groups(block);
    groups.put_low_halves(panel + layout.low + std::size_t{b} * 4 * kVector + from.offset());
    if constexpr (kFifths) groups.put_high<1>(panel + layout.high + std::size_t{b} * kVector + from.offset());
  }
}

// q6_K: 128 bytes of low halves, 64 of high pairs of bits, sixteen signed scales, d. Of each 128 inputs the first 64
// lie in the low halves of 64 bytes, the others in the high ones; their high pairs lie in 32 bytes, 32 inputs to a
// pair.
void pack_q6(const LaneRows& from, std::uint8_t* panel) {
  const SuperLayout& layout = kQ6KLayout;
  from.put_scales(208, panel);
  for (int k = 0; k < kLanesAtOnce; ++k) {
    std::uint8_t* scales = panel + layout.scales + from.lane + k;
    for (std::ptrdiff_t i = 0; i < 16; ++i) scales[i * kLanes] = from.rows[k][192 + i];
  }
  for (unsigned b = 0; b < kBlocksOfSuper; ++b) {
    const std::size_t half = b / 4;
    const unsigned quarter = b % 4;
    LaneCodes block[kLanesAtOnce];
    for (int k = 0; k < kLanesAtOnce; ++k) {
      const std::uint8_t* row = from.rows[k];
      const auto codes_at = [&](std::size_t i) {
        const auto low = load<Words>(row + half * 64 + std::size_t{quarter % 2} * 32 + i);
        const auto high = load<Words>(row + 128 + half * 32 + i);
        return ((low >> (quarter / 2 * 4)) & kLowHalves) | (((high >> (2 * quarter)) & 0x03030303U) << 4U);
      };
      block[k] = {codes_at(0), codes_at(16)};
    }
    const Groups groups(block);
    groups.put_low_halves(panel + layout.low + std::size_t{b} * 4 * kVector + from.offset());
    groups.put_high<2>(panel + layout.high + std::size_t{b} * 2 * kVector + from.offset());
  }
}

// Block after block, and of each all lanes: what is written is written once.
void pack_quantised(PanelMatrix& matrix, int lanes, const std::uint8_t* rows, std::uint8_t* panel) {
  const auto pack = [&] {
    switch (matrix.type) {
      case PanelType::kQ8_0:
        return pack_block<PanelType::kQ8_0>;
      case PanelType::kQ4_0:
      case PanelType::kIq4Nl:
        return pack_block<PanelType::kQ4_0>;
      case PanelType::kQ4K:
        return pack_with_minima<PanelType::kQ4K>;
      case PanelType::kQ5K:
        return pack_with_minima<PanelType::kQ5K>;
      default:
        return pack_q6;
    }
  }();
  const int block = block_inputs(matrix.type);
  const std::size_t stride = row_bytes(matrix.type, matrix.inputs);
  const std::size_t from_bytes = row_bytes(matrix.type, block);
  const std::size_t to_bytes = panel_bytes(matrix.type, block);
  for (int b = 0; b < matrix.inputs / block; ++b, rows += from_bytes, panel += to_bytes) {
    for (int lane = 0; lane < lanes; lane += kLanesAtOnce) {
      LaneRows from = {.rows = {}, .lane = lane, .count = std::min(kLanesAtOnce, lanes - lane)};
      for (int k = 0; k < kLanesAtOnce; ++k) {
        from.rows[k] = rows + static_cast<std::size_t>(lane + std::min(k, from.count - 1)) * stride;
      }
      pack(from, panel);
    }
  }
}

float unpack_block_weight(PanelType type, const std::uint8_t* panel, int lane, int input) {
  panel += static_cast<std::size_t>(input / kBlockInputs) * panel_bytes(type, kBlockInputs);
  const float d = half_to_float(read_u16(panel + std::ptrdiff_t{lane} * 2));
  const int i = input % kBlockInputs;
  if (type == PanelType::kQ8_0) {
    const int code = panel[32 + static_cast<std::size_t>(i / kGroup) * kVector +
                           static_cast<std::size_t>(lane * kGroup + i % kGroup)];
    return d * static_cast<float>(code - 128);
  }
  const unsigned code = low_half(panel + 32, lane, i);
  return d * (type == PanelType::kQ4_0 ? static_cast<float>(code) - 8.0F : static_cast<float>(kIq4NlValues[code]));
}

float unpack_super_weight(PanelType type, const std::uint8_t* panel, int lane, int input) {
  const SuperLayout& layout = layout_of(type);
  panel += static_cast<std::size_t>(input / kSuperInputs) * layout.panel_bytes;
  const int b = input % kSuperInputs / kBlockInputs;
  const int i = input % kBlockInputs;
  const float d = half_to_float(read_u16(panel + std::ptrdiff_t{lane} * 2));
  const unsigned low = low_half(panel + layout.low + static_cast<std::size_t>(b) * 4 * kVector, lane, i);
  if (type == PanelType::kQ6K) {
    const unsigned high = high_bits(panel + layout.high + static_cast<std::size_t>(b) * 2 * kVector, lane, i, 2);
    const auto scale = static_cast<std::int8_t>(
        panel[layout.scales + static_cast<std::size_t>(input % kSuperInputs / 16 * kLanes + lane)]);
    return d * static_cast<float>(scale) * (static_cast<float>(low | (high << 4U)) - 32.0F);
  }
  const unsigned high =
      type == PanelType::kQ5K ? high_bits(panel + layout.high + static_cast<std::size_t>(b) * kVector, lane, i, 1) : 0;
  const float dmin = half_to_float(read_u16(panel + 32 + std::ptrdiff_t{lane} * 2));
  const auto at = static_cast<std::size_t>(std::ptrdiff_t{b} * kLanes + lane);
  return d * static_cast<float>(panel[layout.scales + at]) * static_cast<float>(low | (high << 4U)) -
         dmin * static_cast<float>(panel[layout.minima + at]);
}

float unpack_float(PanelType type, const std::uint8_t* panel, int lane, int input) {
  const std::size_t at = static_cast<std::size_t>(input) * kLanes + static_cast<std::size_t>(lane);
  if (type == PanelType::kBf16) {
    const std::size_t pair = static_cast<std::size_t>(input / 2) * kVector + static_cast<std::size_t>(lane) * 4;
    return std::bit_cast<float>(std::uint32_t{read_u16(panel + pair + static_cast<std::size_t>(input % 2) * 2)} << 16U);
  }
  if (type == PanelType::kF32) {
    float value = 0;
    std::memcpy(&value, panel + at * 4, 4);
    return value;
  }
  return half_to_float(read_u16(panel + at * 2));
}

bool has_supers(PanelType type) {
  return type == PanelType::kQ4K || type == PanelType::kQ5K || type == PanelType::kQ6K;
}

}  // namespace

std::string_view name_of(PanelType type) {
  switch (type) {
    case PanelType::kF32:
      return "f32";
    case PanelType::kF16:
      return "f16";
    case PanelType::kBf16:
      return "bf16";
    case PanelType::kQ8_0:
      return "q8_0";
    case PanelType::kQ4_0:
      return "q4_0";
    case PanelType::kIq4Nl:
      return "iq4_nl";
    case PanelType::kQ4K:
      return "q4_K";
    case PanelType::kQ5K:
      return "q5_K";
    case PanelType::kQ6K:
      return "q6_K";
  }
  return {};
}

bool is_quantised(PanelType type) { return type >= PanelType::kQ8_0; }

int block_inputs(PanelType type) { return has_supers(type) ? kSuperInputs : is_quantised(type) ? kBlockInputs : 1; }

std::size_t panel_bytes(PanelType type, int inputs) {
  const auto n = static_cast<std::size_t>(inputs);
  if (has_supers(type)) return n / kSuperInputs * layout_of(type).panel_bytes;
  if (type == PanelType::kQ8_0) return n / kBlockInputs * (32 + 8 * kVector);
  if (is_quantised(type)) return n / kBlockInputs * (32 + 4 * kVector);
  if (type == PanelType::kBf16) return (n + 1) / 2 * kVector;
  return n * kLanes * (type == PanelType::kF32 ? 4 : 2);
}

std::size_t row_bytes(PanelType type, int inputs) {
  const auto n = static_cast<std::size_t>(inputs);
  if (has_supers(type)) return n / kSuperInputs * layout_of(type).file_bytes;
  if (type == PanelType::kQ8_0) return n / kBlockInputs * 34;
  if (is_quantised(type)) return n / kBlockInputs * 18;
  return n * (type == PanelType::kF32 ? 4 : 2);
}

PanelMatrix make_panels(PanelType type, int outputs, int inputs) {
  check(outputs > 0 && inputs > 0 && inputs % block_inputs(type) == 0, "a matrix has whole blocks");
  PanelMatrix matrix{.type = type, .outputs = outputs, .inputs = inputs};
  matrix.bytes = AlignedBuffer(static_cast<std::size_t>(matrix.panels()) * matrix.stride());
  return matrix;
}

void pack_panel(PanelMatrix& matrix, int panel, const std::uint8_t* rows) {
  const std::size_t stride = row_bytes(matrix.type, matrix.inputs);
  std::uint8_t* to = matrix.bytes.data() + static_cast<std::size_t>(panel) * matrix.stride();
  const int lanes = std::min(kLanes, matrix.outputs - panel * kLanes);
  if (lanes < kLanes) std::memset(to, 0, matrix.stride());
  if (matrix.type == PanelType::kF16) return pack_elements<2>(stride, lanes, rows, to);
  if (!is_quantised(matrix.type)) return pack_elements<4>(stride, lanes, rows, to);  // bf16 in pairs
  pack_quantised(matrix, lanes, rows, to);
}

void unpack_panel(const PanelMatrix& matrix, int panel, std::span<float> out) {
  const std::uint8_t* from = matrix.panel(panel);
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int i = 0; i < matrix.inputs; ++i) {
      out[static_cast<std::size_t>(lane) * static_cast<std::size_t>(matrix.inputs) + static_cast<std::size_t>(i)] =
          has_supers(matrix.type)     ? unpack_super_weight(matrix.type, from, lane, i)
          : is_quantised(matrix.type) ? unpack_block_weight(matrix.type, from, lane, i)
                                      : unpack_float(matrix.type, from, lane, i);
    }
  }
}

}  // namespace dts::native
