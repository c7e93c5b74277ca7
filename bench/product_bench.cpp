// Products of the native engine's CPU kernels on one thread, beside a plain read of as much memory: weights that no
// cache holds, with 1 to 48 rows. "bytes" are those of the weights, "items" multiplications. DTS_CPU_KERNELS takes
// another instruction set than the best.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "engine/native/cpu/activations.h"
#include "engine/native/cpu/cpu_kernels.h"
#include "engine/native/cpu/panels.h"

namespace {

namespace native = dts::native;

constexpr int kInputs = 1536;
constexpr std::size_t kWeightBytes = std::size_t{256} << 20U;
constexpr int kPanelsAtOnce = 16;  // as a thread takes them in a step

// Any codes. No byte is above 0x3B, so that no scale and no weight in half precision is above 1.
native::PanelMatrix random_panels(native::PanelType type) {
  const auto panels = static_cast<int>(kWeightBytes / native::panel_bytes(type, kInputs)) / kPanelsAtOnce;
  native::PanelMatrix matrix = native::make_panels(type, panels * kPanelsAtOnce * native::kPanelOutputs, kInputs);
  std::mt19937_64 random(1);
  for (std::size_t at = 0; at + 8 <= matrix.bytes.size(); at += 8) {
    const std::uint64_t eight = random() & 0x3B3B3B3B3B3B3B3BU;
    std::memcpy(matrix.bytes.data() + at, &eight, 8);
  }
  return matrix;
}

void fill_rows(native::ActivationBuffer& buffer, int rows) {
  const native::CpuKernels& kernels = *native::cpu_kernels();
  buffer.reserve(static_cast<std::size_t>(rows), kInputs, {.codes = true, .bf16 = kernels.bf16_rows});
  std::mt19937 random(2);
  std::normal_distribution<float> normal;
  for (int r = 0; r < rows; ++r) {
    const auto row = static_cast<std::size_t>(r);
    float* values = buffer.row(row, kInputs);
    std::generate_n(values, kInputs, [&] { return normal(random); });
    kernels.quantise(values, kInputs, buffer.code_row(row, kInputs));
    if (kernels.bf16_rows) kernels.to_bf16(values, kInputs, buffer.bf16_row(row, kInputs));
  }
}

void BM_Product(benchmark::State& state) {
  const auto type = static_cast<native::PanelType>(state.range(0));
  const auto rows = static_cast<int>(state.range(1));
  const native::CpuKernels* kernels = native::cpu_kernels();
  if (kernels == nullptr) return state.SkipWithError("this CPU has no kernels");
  const native::PanelMatrix matrix = random_panels(type);
  native::ActivationBuffer buffer;
  fill_rows(buffer, rows);
  std::vector<float> out(static_cast<std::size_t>(rows) * static_cast<std::size_t>(matrix.outputs));
  for ([[maybe_unused]] auto _ : state) {
    for (int first = 0; first < matrix.panels(); first += kPanelsAtOnce) {
      kernels->multiply(matrix, first, kPanelsAtOnce, buffer.view(kInputs), rows, out.data(),
                        static_cast<std::size_t>(matrix.outputs));
    }
    benchmark::DoNotOptimize(out.data());
  }
  state.SetLabel(std::string(native::name_of(type)) + ", " + kernels->name);
  state.SetBytesProcessed(static_cast<std::int64_t>(matrix.bytes.size()) * state.iterations());
  state.SetItemsProcessed(std::int64_t{matrix.outputs} * kInputs * rows * state.iterations());
}
BENCHMARK(BM_Product)
    ->ArgNames({"type", "rows"})
    ->ArgsProduct({benchmark::CreateDenseRange(0, static_cast<int>(native::PanelType::kQ6K), 1), {1, 2, 8, 48}})
    ->Unit(benchmark::kMillisecond);

void BM_Read(benchmark::State& state) {
  const native::PanelMatrix matrix = random_panels(native::PanelType::kQ8_0);
  std::vector<std::uint64_t> words(matrix.bytes.size() / sizeof(std::uint64_t));
  std::memcpy(words.data(), matrix.bytes.data(), words.size() * sizeof(std::uint64_t));
  for ([[maybe_unused]] auto _ : state) {
    std::uint64_t sum = 0;
    for (const std::uint64_t word : words) sum += word;
    benchmark::DoNotOptimize(sum);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(words.size() * sizeof(std::uint64_t)) * state.iterations());
}
BENCHMARK(BM_Read)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
