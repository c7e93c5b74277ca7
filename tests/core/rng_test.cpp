#include "dts/rng.h"

#include <gtest/gtest.h>

#include <set>

namespace dts {
namespace {

// The generator's published known-answer test: counter 0, key 0.
TEST(Rng, IsPhilox4x32_10) { EXPECT_EQ(draw_bits(0, 0), 0xE169C58D6627E8D5U); }

TEST(Rng, UnitIsInHalfOpenInterval) {
  EXPECT_EQ(to_unit(0), 0.0);
  EXPECT_LT(to_unit(~std::uint64_t{0}), 1.0);
  double sum = 0;
  constexpr int kDraws = 100000;
  for (std::uint64_t i = 0; i < kDraws; ++i) sum += to_unit(draw_bits(42, i));
  EXPECT_NEAR(sum / kDraws, 0.5, 0.005);
}

TEST(Rng, PathsAndPositionsDoNotCollide) {
  std::set<std::uint64_t> seen;
  std::size_t made = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    for (std::uint64_t index = 0; index < 10; ++index) {
      const PathKey root = root_key(seed, index);
      seen.insert(root);
      ++made;
      for (std::uint64_t position = 0; position < 20; ++position) {
        seen.insert(draw_bits(root, position));
        ++made;
        for (std::uint64_t child = 1; child < 4; ++child) {
          seen.insert(child_key(root, position, child));
          ++made;
        }
      }
    }
  }
  EXPECT_EQ(seen.size(), made);
}

}  // namespace
}  // namespace dts
