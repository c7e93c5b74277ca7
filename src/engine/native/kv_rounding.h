// What K and V are rounded to, in plain words: what the kernels do to them.
#pragma once

#include <span>

namespace dts::native {

inline constexpr int kKvBlock = 32;  // elements that share a scale

// Rounds each block of a head to whole multiples, -127 to 127, of a scale: the block's largest magnitude / 127, rounded
// to half precision. A block too small for a scale becomes zero. The head's size is a multiple of kKvBlock.
void round_to_eight_bits(std::span<float> head);

// Rounds each element to the nearest number with 8 binary digits, a tie to the even one.
void round_to_bf16(std::span<float> head);

}  // namespace dts::native
