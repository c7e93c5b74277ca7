// Logits -> predictions, one step of 48 branches at a 152k vocabulary. "items" are rows.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "dts/distribution.h"
#include "oracle/distribution_oracle.h"

namespace {

constexpr std::size_t kVocabulary = 151936;
constexpr std::size_t kBranches = 48;

// What the rows look like: a trained model's next token (a few candidates far above a broad floor), or the nearly flat
// distribution of random weights, in which top-p keeps most of the vocabulary.
enum Shape : int { kPeaked = 0, kFlat = 1 };

constexpr std::size_t kAlignment = 64;  // bytes; an engine's logits are a matrix with rows aligned so
static_assert(kVocabulary * sizeof(float) % kAlignment == 0);

class Rows {
 public:
  Rows(std::size_t count, Shape shape) : storage_(count * kVocabulary + kAlignment / sizeof(float)) {
    void* start = storage_.data();
    std::size_t space = storage_.size() * sizeof(float);
    start_ = static_cast<float*>(std::align(kAlignment, count * kVocabulary * sizeof(float), start, space));
    for (std::size_t r = 0; r < count; ++r) {
      std::mt19937_64 random(r);
      std::normal_distribution<float> noise(0.0F, shape == kPeaked ? 2.0F : 0.5F);
      float* row = start_ + r * kVocabulary;
      for (std::size_t i = 0; i < kVocabulary; ++i) row[i] = noise(random);
      if (shape == kFlat) continue;
      for (int i = 0; i < 12; ++i) row[random() % kVocabulary] = 18.0F - 0.7F * static_cast<float>(i);
    }
  }

  std::span<const float> operator[](std::size_t r) const { return {start_ + r * kVocabulary, kVocabulary}; }

 private:
  std::vector<float> storage_;
  float* start_;
};

dts::PredictionSpec full_spec() {
  dts::PredictionSpec spec;
  spec.sampling.top_p = 0.95F;
  return spec;
}

// Entropy, varentropy and the top 3, and the most probable token instead of a sample.
dts::PredictionSpec statistics_spec() {
  dts::PredictionSpec spec;
  spec.confidence_k = 0;
  spec.stat_temperature = 1.0F;
  spec.sampling.temperature = 0;
  return spec;
}

void run(benchmark::State& state, const dts::PredictionSpec& spec, int threads, Shape shape) {
  const Rows logits(kBranches, shape);
  std::vector<dts::Prediction> out(kBranches);
  std::vector<dts::LogitsRow> rows(kBranches);
  for (std::size_t i = 0; i < kBranches; ++i) rows[i] = {.logits = logits[i], .draw = 0, .spec = &spec, .out = &out[i]};
  dts::Predictor predictor(threads);
  std::mt19937_64 random(1);
  for ([[maybe_unused]] auto _ : state) {
    for (dts::LogitsRow& row : rows) row.draw = random();
    predictor.predict(rows);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(kBranches) * state.iterations());
}

void run_oracle(benchmark::State& state, const dts::PredictionSpec& spec, Shape shape) {
  constexpr std::size_t kOracleRows = 4;
  const Rows logits(kOracleRows, shape);
  std::mt19937_64 random(1);
  for ([[maybe_unused]] auto _ : state) {
    for (std::size_t r = 0; r < kOracleRows; ++r) {
      benchmark::DoNotOptimize(dts::predict_oracle(logits[r], spec, random()));
    }
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(kOracleRows) * state.iterations());
}

void BM_Statistics(benchmark::State& state) {
  run(state, statistics_spec(), static_cast<int>(state.range(0)), kPeaked);
}
BENCHMARK(BM_Statistics)->ArgName("threads")->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

void BM_Prediction(benchmark::State& state) {
  run(state, full_spec(), static_cast<int>(state.range(0)), static_cast<Shape>(state.range(1)));
}
BENCHMARK(BM_Prediction)
    ->ArgNames({"threads", "flat"})
    ->ArgsProduct({{1, 2}, {kPeaked, kFlat}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

void BM_PredictionUntruncated(benchmark::State& state) {
  run(state, dts::PredictionSpec{}, static_cast<int>(state.range(0)), static_cast<Shape>(state.range(1)));
}
BENCHMARK(BM_PredictionUntruncated)
    ->ArgNames({"threads", "flat"})
    ->ArgsProduct({{1}, {kPeaked, kFlat}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

// Four rows an iteration.
void BM_OracleStatistics(benchmark::State& state) { run_oracle(state, statistics_spec(), kPeaked); }
BENCHMARK(BM_OracleStatistics)->Unit(benchmark::kMillisecond);

void BM_OraclePrediction(benchmark::State& state) {
  run_oracle(state, full_spec(), static_cast<Shape>(state.range(0)));
}
BENCHMARK(BM_OraclePrediction)->ArgName("flat")->Arg(kPeaked)->Arg(kFlat)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
