#include "dts/rng.h"

#include <array>

namespace dts {
namespace {

// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
using Block = std::array<std::uint32_t, 4>;

Block philox4x32(Block counter, std::uint64_t key) {
  constexpr std::uint64_t kMultiplier0 = 0xD2511F53U;
  constexpr std::uint64_t kMultiplier1 = 0xCD9E8D57U;
  constexpr std::uint32_t kWeyl0 = 0x9E3779B9U;
  constexpr std::uint32_t kWeyl1 = 0xBB67AE85U;
  auto key0 = static_cast<std::uint32_t>(key);
  auto key1 = static_cast<std::uint32_t>(key >> 32U);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = kMultiplier0 * counter[0];
    const std::uint64_t product1 = kMultiplier1 * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32U) ^ counter[1] ^ key0, static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32U) ^ counter[3] ^ key1, static_cast<std::uint32_t>(product0)};
    key0 += kWeyl0;
    key1 += kWeyl1;
  }
  return counter;
}

// The counter's third and fourth words say what a number is for, so that keys and draws never coincide.
std::uint64_t philox_bits(std::uint64_t key, std::uint64_t low, std::uint64_t high) {
  const Block out = philox4x32({static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low >> 32U),
                                static_cast<std::uint32_t>(high), static_cast<std::uint32_t>(high >> 32U)},
                               key);
  return (static_cast<std::uint64_t>(out[1]) << 32U) | out[0];
}

constexpr std::uint64_t kForDraw = 0;
constexpr std::uint64_t kForRoot = std::uint64_t{1} << 32U;
constexpr std::uint64_t kForChild = std::uint64_t{2} << 32U;

}  // namespace

PathKey root_key(std::uint64_t seed, std::uint64_t index) { return philox_bits(seed, index, kForRoot); }

PathKey child_key(PathKey parent, std::uint64_t position, std::uint64_t child) {
  return philox_bits(parent, position, kForChild | (child & 0xFFFFFFFFU));
}

std::uint64_t draw_bits(PathKey key, std::uint64_t position) { return philox_bits(key, position, kForDraw); }

}  // namespace dts
