// A program of its own: it replaces the allocator by one that counts.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <random>
#include <vector>

#include "dts/distribution.h"

namespace {
std::atomic<std::int64_t> allocations{0};
}  // namespace

// Not inlined: the compiler would see memory of `new` passed to `free` and warn.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace dts {
namespace {

TEST(Distribution, AllocatesNothingOnceGrown) {
  // From flat, where top-p cuts far down the ranking, to peaked.
  std::vector<std::vector<float>> logits;
  std::mt19937_64 random(6);
  for (const float deviation : {0.0F, 0.1F, 1.0F, 3.0F, 10.0F}) {
    std::normal_distribution<float> noise(0.0F, deviation == 0 ? 1e-30F : deviation);
    logits.emplace_back();
    for (int i = 0; i < 40001; ++i) logits.back().push_back(noise(random));
  }
  std::vector<PredictionSpec> specs(4);
  specs[1].sampling.top_p = 0.9F;
  specs[2].sampling.min_p = 0.01F;
  specs[3].sampling.top_k = 500;

  std::vector<Prediction> out(logits.size() * specs.size());
  std::vector<LogitsRow> rows;
  for (const auto& row : logits) {
    for (const PredictionSpec& spec : specs) {
      rows.push_back({.logits = row, .draw = random(), .spec = &spec, .out = &out[rows.size()]});
    }
  }
  Predictor predictor;
  predictor.predict(rows);
  const std::int64_t before = allocations;
  predictor.predict(rows);
  EXPECT_EQ(allocations, before);
  EXPECT_GT(before, 0);
}

}  // namespace
}  // namespace dts
