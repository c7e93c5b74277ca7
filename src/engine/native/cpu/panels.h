// A matrix of weights in the order in which kernels read it: panels of sixteen outputs, one to a lane.
//
// What a file keeps row by row is repacked once, at its own number of bits: a panel has the bytes of sixteen rows, give
// or take the scales. Within a panel inputs come in blocks, and each block has its codes and its scales together, so
// that one stream of memory is read from end to end.
//
// Codes are unsigned. A weight is scale x (code - zero) with a fixed zero, or scale x code - minimum (q4_K, q5_K).
// Codes of 8 bits lie in groups of four inputs, 64 bytes: lane 0's four, lane 1's four, and so on. Of 4-bit codes two
// groups share 64 bytes: the even group has the low halves. Further bits of q5_K and q6_K lie apart, eight groups (of
// one bit) or four (of two) to 64 bytes, the first group in the lowest bits. bf16 lies in pairs of inputs, 64 bytes:
// lane 0's two, lane 1's two, and so on; an odd last one is beside a zero.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "engine/native/cpu/aligned_buffer.h"

namespace dts::native {

inline constexpr int kPanelOutputs = 16;
inline constexpr int kBlockInputs = 32;   // inputs that share an activation's scale
inline constexpr int kSuperInputs = 256;  // of the types with scales of scales

enum class PanelType : std::uint8_t { kF32, kF16, kBf16, kQ8_0, kQ4_0, kIq4Nl, kQ4K, kQ5K, kQ6K };

std::string_view name_of(PanelType type);  // as ggml spells it: "q4_K"
bool is_quantised(PanelType type);
// Inputs must be a multiple of it.
int block_inputs(PanelType type);
std::size_t panel_bytes(PanelType type, int inputs);
// Bytes of one row as the file has it.
std::size_t row_bytes(PanelType type, int inputs);

// iq4_nl's sixteen values.
alignas(16) inline constexpr std::int8_t kIq4NlValues[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                                             1,    13,   25,  38,  53,  69,  89,  113};

struct PanelMatrix {
  PanelType type = PanelType::kF32;
  int outputs = 0;
  int inputs = 0;
  AlignedBuffer bytes = {};  // [panels, panel_bytes]

  int panels() const { return (outputs + kPanelOutputs - 1) / kPanelOutputs; }
  std::size_t stride() const { return panel_bytes(type, inputs); }
  const std::uint8_t* panel(int index) const { return bytes.data() + static_cast<std::size_t>(index) * stride(); }
};

PanelMatrix make_panels(PanelType type, int outputs, int inputs);

// Writes one panel from the rows of a file that belong to it. Lanes beyond the matrix's outputs are zero weights.
void pack_panel(PanelMatrix& matrix, int panel, const std::uint8_t* rows);

// What a panel says, one weight at a time: the oracle of packing and of the kernels. [kPanelOutputs, inputs]
void unpack_panel(const PanelMatrix& matrix, int panel, std::span<float> out);

}  // namespace dts::native
