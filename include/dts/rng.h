// Counter-based randomness: every number is a pure function of (seed, the branch's path in the tree, position), so a
// branch draws the same numbers whatever else is in the batch, however many threads run, and in whatever order
// requests arrive.
#pragma once

#include <cstdint>

namespace dts {

// Identifies a branch's stream of random numbers. Child 0 of a decision goes on in its parent's place and keeps the
// parent's key; that is why a tree that never branches draws exactly what standard decoding draws.
using PathKey = std::uint64_t;

// Trajectory `index` of a search: 0 for a method that starts with one.
PathKey root_key(std::uint64_t seed, std::uint64_t index);

// Child `child` >= 1 of a branch with key `parent`, born as the token at `position` (0: the first generated token).
PathKey child_key(PathKey parent, std::uint64_t position, std::uint64_t child);

// 64 random bits for the token at `position` of the branch: Philox4x32-10 with the path as its key.
std::uint64_t draw_bits(PathKey key, std::uint64_t position);

// The upper 53 bits as a double in [0, 1).
constexpr double to_unit(std::uint64_t bits) { return static_cast<double>(bits >> 11U) * 0x1.0p-53; }

}  // namespace dts
