#include "core/parallel_for.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <new>
#include <vector>

namespace dts {
namespace {

TEST(ThreadPool, RunsEveryIndexOnceAndPassesOnExceptions) {
  ThreadPool pool(3);
  for (int repetition = 0; repetition < 200; ++repetition) {
    std::vector<std::atomic<int>> runs(17);
    pool.parallel_for(runs.size(), 3, [&](std::size_t index, int worker) {
      EXPECT_GE(worker, 0);
      EXPECT_LT(worker, 3);
      ++runs[index];
    });
    for (const auto& count : runs) EXPECT_EQ(count, 1);
  }
  EXPECT_THROW(pool.parallel_for(9, 3,
                                 [](std::size_t index, int) {
                                   if (index == 4) throw std::bad_alloc();
                                 }),
               std::bad_alloc);
  int calls = 0;
  pool.parallel_for(5, 1, [&](std::size_t, int worker) { calls += worker == 0 ? 1 : 0; });
  EXPECT_EQ(calls, 5) << "on the calling thread alone";
}

}  // namespace
}  // namespace dts
