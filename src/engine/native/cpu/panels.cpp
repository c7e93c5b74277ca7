#include "engine/native/cpu/panels.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/check.h"
#include "engine/native/cpu/half.h"

namespace dts::native {
namespace {

constexpr int kLanes = kPanelOutputs;
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

// Codes of one lane of one block, as the file has them: unsigned.
using BlockCodes = std::uint8_t[kBlockInputs];

// Four inputs at a time: the lane's share of a group.
std::uint32_t group_of(const BlockCodes& block, int group) {
  std::uint32_t four = 0;
  std::memcpy(&four, block + std::ptrdiff_t{group} * kGroup, sizeof four);
  return four;
}

void put_group(std::uint8_t* vector, int lane, std::uint32_t four) {
  std::memcpy(vector + std::ptrdiff_t{lane} * kGroup, &four, sizeof four);
}

void put_bytes(std::uint8_t* codes, int lane, const BlockCodes& block) {
  for (int g = 0; g < kGroups; ++g) put_group(codes + static_cast<std::size_t>(g) * kVector, lane, group_of(block, g));
}

void put_low_halves(std::uint8_t* codes, int lane, const BlockCodes& block) {
  for (int g = 0; g < kGroups; g += 2) {
    const std::uint32_t low = group_of(block, g) & 0x0F0F0F0FU;
    const std::uint32_t high = group_of(block, g + 1) & 0x0F0F0F0FU;
    put_group(codes + static_cast<std::size_t>(g / 2) * kVector, lane, low | (high << 4U));
  }
}

// kBits further bits above the lowest four.
template <int kBits>
void put_high(std::uint8_t* codes, int lane, const BlockCodes& block) {
  constexpr int kGroupsAVector = 8 / kBits;
  for (int first = 0; first < kGroups; first += kGroupsAVector) {
    std::uint32_t all = 0;
    for (int g = 0; g < kGroupsAVector; ++g) {
      all |= ((group_of(block, first + g) >> 4U) & 0x0F0F0F0FU) << static_cast<unsigned>(g * kBits);
    }
    put_group(codes + static_cast<std::size_t>(first / kGroupsAVector) * kVector, lane, all);
  }
}

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

// All lanes of a few inputs at a time: what is written stays near.
template <typename Bits>
void pack_floats(int inputs, int lanes, const std::uint8_t* rows, std::uint8_t* panel) {
  constexpr int kInputsAtOnce = 32;
  const std::size_t stride = static_cast<std::size_t>(inputs) * sizeof(Bits);
  for (int first = 0; first < inputs; first += kInputsAtOnce) {
    const int end = std::min(inputs, first + kInputsAtOnce);
    for (int lane = 0; lane < lanes; ++lane) {
      const std::uint8_t* row = rows + static_cast<std::size_t>(lane) * stride;
      for (int i = first; i < end; ++i) {
        const std::size_t to = static_cast<std::size_t>(i) * kLanes + static_cast<std::size_t>(lane);
        std::memcpy(panel + to * sizeof(Bits), row + static_cast<std::size_t>(i) * sizeof(Bits), sizeof(Bits));
      }
    }
  }
}

void pack_bf16(int inputs, int lanes, const std::uint8_t* rows, std::uint8_t* panel) {
  constexpr int kInputsAtOnce = 64;
  const std::size_t stride = static_cast<std::size_t>(inputs) * 2;
  for (int first = 0; first < inputs; first += kInputsAtOnce) {
    const int end = std::min(inputs, first + kInputsAtOnce);
    for (int lane = 0; lane < lanes; ++lane) {
      const std::uint8_t* row = rows + static_cast<std::size_t>(lane) * stride;
      std::uint8_t* to = panel + static_cast<std::size_t>(first / 2) * kVector + static_cast<std::size_t>(lane) * 4;
      for (int i = first; i < end; i += 2, to += kVector) {
        std::uint32_t pair = 0;
        std::memcpy(&pair, row + static_cast<std::size_t>(i) * 2, i + 1 < inputs ? 4 : 2);
        std::memcpy(to, &pair, sizeof pair);
      }
    }
  }
}

// A scale of 16 bits, then the codes: signed ...
void pack_q8_0(int inputs, int lane, const std::uint8_t* row, std::uint8_t* panel) {
  const std::size_t from = row_bytes(PanelType::kQ8_0, kBlockInputs);
  const std::size_t to = panel_bytes(PanelType::kQ8_0, kBlockInputs);
  for (int b = 0; b < inputs / kBlockInputs; ++b, row += from, panel += to) {
    std::memcpy(panel + std::ptrdiff_t{lane} * 2, row, 2);
    BlockCodes codes;
    for (int i = 0; i < kBlockInputs; ++i) codes[i] = static_cast<std::uint8_t>(row[2 + i] ^ 0x80U);
    put_bytes(panel + 32, lane, codes);
  }
}

// ... or, in q4_0 and iq4_nl, the first sixteen in the low halves.
void pack_halves(PanelType type, int inputs, int lane, const std::uint8_t* row, std::uint8_t* panel) {
  const std::size_t from = row_bytes(type, kBlockInputs);
  const std::size_t to = panel_bytes(type, kBlockInputs);
  for (int b = 0; b < inputs / kBlockInputs; ++b, row += from, panel += to) {
    std::memcpy(panel + std::ptrdiff_t{lane} * 2, row, 2);
    BlockCodes codes;
    for (int i = 0; i < kBlockInputs / 2; ++i) {
      codes[i] = row[2 + i] & 15U;
      codes[kBlockInputs / 2 + i] = row[2 + i] >> 4U;
    }
    put_low_halves(panel + 32, lane, codes);
  }
}

const SuperLayout& layout_of(PanelType type) {
  return type == PanelType::kQ4K ? kQ4KLayout : type == PanelType::kQ5K ? kQ5KLayout : kQ6KLayout;
}

// q4_K and q5_K: d and dmin, twelve bytes of scales and minima, (32 bytes of fifth bits,) 128 bytes of codes: of each
// 64 inputs the first half in the low halves.
template <PanelType kType>
void pack_with_minima(int inputs, int lane, const std::uint8_t* row, std::uint8_t* panel) {
  constexpr bool kFifths = kType == PanelType::kQ5K;
  const SuperLayout& layout = layout_of(kType);
  for (int s = 0; s < inputs / kSuperInputs; ++s, row += layout.file_bytes, panel += layout.panel_bytes) {
    std::memcpy(panel + std::ptrdiff_t{lane} * 2, row, 2);
    std::memcpy(panel + 32 + std::ptrdiff_t{lane} * 2, row + 2, 2);
    const std::uint8_t* fifths = row + 16;
    const std::uint8_t* codes = row + (kFifths ? 48 : 16);
    for (int b = 0; b < kBlocksOfSuper; ++b) {
      const ScaleMin both = scale_min(row + 4, b);
      panel[layout.scales + static_cast<std::size_t>(std::ptrdiff_t{b} * kLanes + lane)] = both.scale;
      panel[layout.minima + static_cast<std::size_t>(std::ptrdiff_t{b} * kLanes + lane)] = both.minimum;
      BlockCodes block;
      for (int i = 0; i < kBlockInputs; ++i) {
        const unsigned byte = codes[b / 2 * kBlockInputs + i];
        const unsigned fifth = kFifths ? (fifths[i] >> static_cast<unsigned>(b)) & 1U : 0U;
        block[i] = static_cast<std::uint8_t>((b % 2 == 0 ? byte & 15U : byte >> 4U) | (fifth << 4U));
      }
      put_low_halves(panel + layout.low + static_cast<std::size_t>(b) * 4 * kVector, lane, block);
      if constexpr (kFifths) put_high<1>(panel + layout.high + static_cast<std::size_t>(b) * kVector, lane, block);
    }
  }
}

// q6_K: 128 bytes of low halves, 64 of high pairs of bits, sixteen signed scales, d. Of each 128 inputs the first 64
// lie in the low halves of 64 bytes, the others in the high ones; their high pairs lie in 32 bytes, 32 inputs to a
// pair.
void pack_q6(int inputs, int lane, const std::uint8_t* row, std::uint8_t* panel) {
  const SuperLayout& layout = kQ6KLayout;
  for (int s = 0; s < inputs / kSuperInputs; ++s, row += layout.file_bytes, panel += layout.panel_bytes) {
    std::memcpy(panel + std::ptrdiff_t{lane} * 2, row + 208, 2);
    for (int k = 0; k < 16; ++k) panel[layout.scales + static_cast<std::size_t>(k * kLanes + lane)] = row[192 + k];
    for (int b = 0; b < kBlocksOfSuper; ++b) {
      const int half = b / 4;
      const int quarter = b % 4;
      BlockCodes block;
      for (int i = 0; i < kBlockInputs; ++i) {
        const unsigned low = row[half * 64 + quarter % 2 * 32 + i] >> (quarter < 2 ? 0U : 4U);
        const unsigned high = row[128 + half * 32 + i] >> static_cast<unsigned>(2 * quarter);
        block[i] = static_cast<std::uint8_t>((low & 15U) | ((high & 3U) << 4U));
      }
      put_low_halves(panel + layout.low + static_cast<std::size_t>(b) * 4 * kVector, lane, block);
      put_high<2>(panel + layout.high + static_cast<std::size_t>(b) * 2 * kVector, lane, block);
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
  if (matrix.type == PanelType::kF32) return pack_floats<std::uint32_t>(matrix.inputs, lanes, rows, to);
  if (matrix.type == PanelType::kF16) return pack_floats<std::uint16_t>(matrix.inputs, lanes, rows, to);
  if (matrix.type == PanelType::kBf16) return pack_bf16(matrix.inputs, lanes, rows, to);
  for (int lane = 0; lane < lanes; ++lane) {
    const std::uint8_t* row = rows + static_cast<std::size_t>(lane) * stride;
    switch (matrix.type) {
      case PanelType::kQ8_0:
        pack_q8_0(matrix.inputs, lane, row, to);
        break;
      case PanelType::kQ4_0:
      case PanelType::kIq4Nl:
        pack_halves(matrix.type, matrix.inputs, lane, row, to);
        break;
      case PanelType::kQ4K:
        pack_with_minima<PanelType::kQ4K>(matrix.inputs, lane, row, to);
        break;
      case PanelType::kQ5K:
        pack_with_minima<PanelType::kQ5K>(matrix.inputs, lane, row, to);
        break;
      case PanelType::kQ6K:
        pack_q6(matrix.inputs, lane, row, to);
        break;
      case PanelType::kF32:
      case PanelType::kF16:
      case PanelType::kBf16:
        break;  // done above
    }
  }
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
