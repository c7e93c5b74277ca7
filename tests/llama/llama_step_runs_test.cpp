// Cutting a step into evaluations, against trying every cut.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <random>
#include <vector>

#include "engine/llama/step_runs.h"

namespace dts {
namespace {

double cost_of(const std::vector<int>& cells, const std::vector<std::size_t>& ends, const RunCosts& costs) {
  double total = 0;
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    const auto first = cells.begin() + static_cast<std::ptrdiff_t>(begin);
    const int longest = *std::max_element(first, cells.begin() + static_cast<std::ptrdiff_t>(end));
    total += costs.evaluation + costs.cell * longest * static_cast<double>(end - begin);
    begin = end;
  }
  return total;
}

bool allowed(const std::vector<std::size_t>& ends, std::size_t rows, const RunCosts& costs) {
  if (ends.size() == 1) return true;
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    if (end - begin < costs.least || (end != rows && (end - begin) % costs.quantum != 0)) return false;
    begin = end;
  }
  return true;
}

TEST(RunCutter, NoOtherCutIsCheaper) {
  std::mt19937 rng(7);
  for (int round = 0; round < 3000; ++round) {
    const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(rng); };
    const auto rows = static_cast<std::size_t>(pick(1, 10));
    std::vector<int> cells(rows);
    for (int& n : cells) n = 256 * pick(1, 5);
    const RunCosts costs{.evaluation = static_cast<double>(pick(0, 4000)),
                         .cell = static_cast<double>(pick(0, 2)),
                         .quantum = static_cast<std::size_t>(pick(0, 2) == 0 ? 4 : 1),
                         .least = static_cast<std::size_t>(pick(1, 4))};
    RunCutter cutter(costs);
    const auto found = cutter.cut(cells);
    const std::vector<std::size_t> ends(found.begin(), found.end());
    ASSERT_EQ(ends.back(), rows);
    ASSERT_TRUE(allowed(ends, rows, costs));

    double least = std::numeric_limits<double>::infinity();
    for (unsigned cuts = 0; cuts < 1U << (rows - 1); ++cuts) {
      std::vector<std::size_t> candidate;
      for (std::size_t i = 1; i < rows; ++i) {
        if ((cuts >> (i - 1) & 1U) != 0) candidate.push_back(i);
      }
      candidate.push_back(rows);
      if (allowed(candidate, rows, costs)) least = std::min(least, cost_of(cells, candidate, costs));
    }
    ASSERT_DOUBLE_EQ(cost_of(cells, ends, costs), least);
  }
}

TEST(RunCutter, EqualLengthsAreOneEvaluation) {
  RunCutter cutter({.evaluation = 0, .cell = 1});
  EXPECT_EQ(cutter.cut(std::vector<int>(48, 512)).size(), 1U);
  EXPECT_TRUE(cutter.cut({}).empty());
}

}  // namespace
}  // namespace dts
