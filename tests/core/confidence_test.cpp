#include "dts/confidence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

namespace dts {
namespace {

TEST(Confidence, LowestWindowOfHandMadeTraces) {
  EXPECT_EQ(lowest_window_confidence({}, 4), 0.0);
  const std::vector<float> falling = {9, 8, 7, 6, 5, 4, 3, 2};
  EXPECT_DOUBLE_EQ(lowest_window_confidence(falling, 2), 2.5);
  EXPECT_DOUBLE_EQ(lowest_window_confidence(falling, 8), 5.5);
  EXPECT_DOUBLE_EQ(lowest_window_confidence(falling, 9), 5.5);  // shorter than the window: its mean
  const std::vector<float> dip = {5, 5, 1, 1, 5, 5, 5, 5};
  EXPECT_DOUBLE_EQ(lowest_window_confidence(dip, 2), 1.0);
  EXPECT_DOUBLE_EQ(lowest_window_confidence(dip, 4), 3.0);
  EXPECT_DOUBLE_EQ(lowest_window_confidence(dip, 1), 1.0);
}

// Its memory is that of the tokens it has seen, however long it may become: 2^31 - 1 floats would be 8 GiB.
TEST(Confidence, AWindowIsNotPaidForBeforeItIsFilled) {
  std::vector<ConfidenceWindow> windows(1000, ConfidenceWindow(std::numeric_limits<int>::max()));
  for (ConfidenceWindow& window : windows) {
    window.add(3);
    window.add(5);
    EXPECT_FALSE(window.full());
    EXPECT_DOUBLE_EQ(window.lowest(), 4.0);
  }
}

TEST(Confidence, OneTokenAtATimeEqualsAPlainScan) {
  std::mt19937 rng(3);
  std::uniform_real_distribution<float> uniform(0.0F, 20.0F);
  for (int round = 0; round < 300; ++round) {
    const auto n = static_cast<std::size_t>(rng() % 60);
    const auto window = static_cast<std::size_t>(1 + rng() % 20);
    std::vector<float> values(n);
    for (float& value : values) value = uniform(rng);
    double expected = n == 0 ? 0.0 : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(n);
    if (n >= window) {
      expected = 1e9;
      for (std::size_t i = 0; i + window <= n; ++i) {
        double sum = 0;
        for (std::size_t j = 0; j < window; ++j) sum += static_cast<double>(values[i + j]);
        expected = std::min(expected, sum / static_cast<double>(window));
      }
    }
    EXPECT_NEAR(lowest_window_confidence(values, static_cast<int>(window)), expected, 1e-9);
  }
}

// numpy.percentile's default: linear interpolation.
TEST(Confidence, QuantileInterpolates) {
  EXPECT_DOUBLE_EQ(quantile({3}, 0.9), 3.0);
  EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 0.9), 3.7);
  EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 0.1), 1.3);
  EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 0.0), 1.0);
  EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 1.0), 4.0);
}

}  // namespace
}  // namespace dts
