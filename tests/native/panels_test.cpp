// Packed weights against ggml's own reading of the file, and products against plain sums of what a panel says.
#include "engine/native/cpu/panels.h"

#include <ggml.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/native/cpu/cpu_kernels.h"
#include "engine/native/cpu/step_team.h"

namespace dts::native {
namespace {

struct Type {
  PanelType panel;
  ggml_type ggml;
};
std::ostream& operator<<(std::ostream& out, const Type& type) { return out << name_of(type.panel); }

std::vector<float> random_floats(std::size_t n, unsigned seed, float spread = 1.0F) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.0F, spread);
  std::vector<float> out(n);
  for (float& x : out) x = normal(random);
  return out;
}

// A matrix as a file has it, and packed.
struct Packed {
  Packed(Type type, int outputs, int inputs) : file(row_bytes(type.panel, inputs) * static_cast<std::size_t>(outputs)) {
    const auto n = static_cast<std::size_t>(outputs) * static_cast<std::size_t>(inputs);
    const std::vector<float> weights = random_floats(n, 7, 0.05F);
    if (type.ggml == GGML_TYPE_F32) {
      std::memcpy(file.data(), weights.data(), file.size());
    } else {
      ggml_quantize_chunk(type.ggml, weights.data(), file.data(), 0, outputs, inputs, nullptr);
    }
    matrix = make_panels(type.panel, outputs, inputs);
    const std::size_t panel = kPanelOutputs * row_bytes(type.panel, inputs);
    for (int p = 0; p < matrix.panels(); ++p) pack_panel(matrix, p, file.data() + static_cast<std::size_t>(p) * panel);
  }

  std::vector<std::uint8_t> file;
  PanelMatrix matrix;
};

// Rows, in single precision and in codes, and if wanted in bf16.
struct Rows {
  Rows(int rows, int inputs, bool in_bf16)
      : Rows(random_floats(static_cast<std::size_t>(rows) * static_cast<std::size_t>(inputs), 11), inputs, in_bf16) {}
  Rows(std::vector<float> numbers, int inputs, bool in_bf16) : values(std::move(numbers)), bf16(in_bf16) {
    const std::size_t rows = values.size() / static_cast<std::size_t>(inputs);
    buffer.reserve(rows, static_cast<std::size_t>(inputs), {.codes = true, .bf16 = bf16});
    for (std::size_t r = 0; r < rows; ++r) {
      const float* from = values.data() + r * static_cast<std::size_t>(inputs);
      std::copy_n(from, inputs, buffer.row(r, inputs));
      cpu_kernels()->quantise(from, inputs / kBlockInputs * kBlockInputs, buffer.code_row(r, inputs));
      if (bf16) cpu_kernels()->to_bf16(from, inputs, buffer.bf16_row(r, inputs));
    }
  }

  // Input i of row r as weights of that type meet it.
  double met(PanelType type, std::size_t r, std::size_t i, int inputs) {
    if (is_quantised(type)) {
      const auto codes = buffer.code_row(r, inputs);
      return static_cast<double>(codes.codes[i]) * static_cast<double>(codes.scales[i / kBlockInputs]);
    }
    if (type == PanelType::kBf16 && bf16) {
      return static_cast<double>(std::bit_cast<float>(std::uint32_t{buffer.bf16_row(r, inputs)[i]} << 16U));
    }
    return static_cast<double>(buffer.row(r, inputs)[i]);
  }

  std::vector<float> values;
  bool bf16;
  ActivationBuffer buffer;
};

class PanelTypes : public ::testing::TestWithParam<Type> {
 protected:
  void SetUp() override {
    if (cpu_kernels() == nullptr) GTEST_SKIP() << "this CPU has no kernels";
  }
  // Odd where the type allows it: bf16 lies in pairs.
  int inputs() const {
    return GetParam().panel == PanelType::kF32 ? 70 : GetParam().panel == PanelType::kBf16 ? 511 : 512;
  }
  // bf16 weights are multiplied with rows in single precision, and with rows in bf16 where the CPU can.
  std::vector<bool> rows_in_bf16() const {
    return GetParam().panel == PanelType::kBf16 && cpu_kernels()->bf16_rows ? std::vector{false, true}
                                                                            : std::vector{false};
  }
};

TEST_P(PanelTypes, SayWhatTheFileSays) {
  constexpr int kOutputs = 39;  // the last panel is not full
  const Packed packed(GetParam(), kOutputs, inputs());
  const auto n = static_cast<std::size_t>(inputs());
  ASSERT_EQ(row_bytes(GetParam().panel, inputs()), ggml_row_size(GetParam().ggml, inputs()));
  std::vector<float> expected(kOutputs * n);
  if (GetParam().ggml == GGML_TYPE_F32) {
    std::memcpy(expected.data(), packed.file.data(), packed.file.size());
  } else {
    ggml_get_type_traits(GetParam().ggml)
        ->to_float(packed.file.data(), expected.data(), std::int64_t{kOutputs} * inputs());
  }
  std::vector<float> panel(kPanelOutputs * n);
  for (int p = 0; p < packed.matrix.panels(); ++p) {
    unpack_panel(packed.matrix, p, panel);
    for (int lane = 0; lane < kPanelOutputs; ++lane) {
      const int output = p * kPanelOutputs + lane;
      for (std::size_t i = 0; i < n; ++i) {
        const float weight = panel[static_cast<std::size_t>(lane) * n + i];
        const float said = output < kOutputs ? expected[static_cast<std::size_t>(output) * n + i] : 0.0F;
        ASSERT_NEAR(weight, said, 1e-6F * std::fabs(said)) << "output " << output << ", input " << i;
      }
    }
  }
  // Memory: a tenth more than the file at most.
  EXPECT_LE(panel_bytes(GetParam().panel, inputs()), row_bytes(GetParam().panel, inputs()) * kPanelOutputs * 11 / 10);
}

TEST_P(PanelTypes, ProductsAreTheSumsThatTheyStandFor) {
  constexpr int kOutputs = 39;
  constexpr int kRows = 5;
  const Packed packed(GetParam(), kOutputs, inputs());
  const auto n = static_cast<std::size_t>(inputs());
  for (const bool bf16 : rows_in_bf16()) {
    SCOPED_TRACE(bf16 ? "rows in bf16" : "");
    Rows rows(kRows, inputs(), bf16);
    std::vector<float> out(std::size_t{kRows} * kOutputs, -1.0F);
    cpu_kernels()->multiply(packed.matrix, 0, packed.matrix.panels(), rows.buffer.view(inputs()), kRows, out.data(),
                            kOutputs);
    std::vector<float> panel(kPanelOutputs * n);
    for (int output = 0; output < kOutputs; ++output) {
      if (output % kPanelOutputs == 0) unpack_panel(packed.matrix, output / kPanelOutputs, panel);
      for (std::size_t r = 0; r < kRows; ++r) {
        double sum = 0;
        double size = 0;
        for (std::size_t i = 0; i < n; ++i) {
          const double weight = static_cast<double>(panel[static_cast<std::size_t>(output % kPanelOutputs) * n + i]);
          const double product = weight * rows.met(GetParam().panel, r, i, inputs());
          sum += product;
          size += std::fabs(product);
        }
        ASSERT_NEAR(static_cast<double>(out[r * kOutputs + static_cast<std::size_t>(output)]), sum, 1e-6 * size)
            << "row " << r << ", output " << output;
      }
    }
  }
}

// However many rows there are and however panels are shared out.
TEST_P(PanelTypes, ARowIsTheSameAmongOthersToTheLastBit) {
  constexpr int kOutputs = 16 * 11;
  const Packed packed(GetParam(), kOutputs, inputs());
  constexpr int kMost = 49;
  for (const bool bf16 : rows_in_bf16()) {
    SCOPED_TRACE(bf16 ? "rows in bf16" : "");
    const Rows rows(kMost, inputs(), bf16);
    std::vector<float> alone(std::size_t{kMost} * kOutputs);
    for (int r = 0; r < kMost; ++r) {
      const auto first = rows.values.begin() + std::ptrdiff_t{r} * inputs();
      const Rows one(std::vector<float>(first, first + inputs()), inputs(), bf16);
      cpu_kernels()->multiply(packed.matrix, 0, packed.matrix.panels(), one.buffer.view(inputs()), 1,
                              alone.data() + std::ptrdiff_t{r} * kOutputs, kOutputs);
    }
    for (int n = 1; n <= kMost; ++n) {
      std::vector<float> out(static_cast<std::size_t>(n) * kOutputs);
      const int panels = 1 + n % 4;
      for (int p = 0; p < packed.matrix.panels(); p += panels) {
        cpu_kernels()->multiply(packed.matrix, p, std::min(panels, packed.matrix.panels() - p),
                                rows.buffer.view(inputs()), n, out.data(), kOutputs);
      }
      ASSERT_EQ(std::memcmp(out.data(), alone.data(), out.size() * sizeof(float)), 0) << n << " rows";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, PanelTypes,
                         ::testing::Values(Type{PanelType::kF32, GGML_TYPE_F32}, Type{PanelType::kF16, GGML_TYPE_F16},
                                           Type{PanelType::kBf16, GGML_TYPE_BF16},
                                           Type{PanelType::kQ8_0, GGML_TYPE_Q8_0},
                                           Type{PanelType::kQ4_0, GGML_TYPE_Q4_0},
                                           Type{PanelType::kIq4Nl, GGML_TYPE_IQ4_NL},
                                           Type{PanelType::kQ4K, GGML_TYPE_Q4_K}, Type{PanelType::kQ5K, GGML_TYPE_Q5_K},
                                           Type{PanelType::kQ6K, GGML_TYPE_Q6_K}),
                         [](const auto& test) { return std::string(name_of(test.param.panel)); });

TEST(StepTeam, GoesThroughItsPhasesTogether) {
  for (const int threads : {1, 2, 5}) {
    StepTeam team(threads);
    constexpr std::size_t kPhases = 200;
    constexpr std::size_t kCount = 7;
    for (int step = 0; step < 20; ++step) {
      std::vector<std::atomic<int>> done(kPhases);
      std::atomic<int> early = 0;
      team.run([&](int /*worker*/) {
        for (std::size_t p = 0; p < kPhases; ++p) {
          team.phase(p % (kCount + 1), [&](std::size_t /*index*/) {
            if (p > 0 && done[p - 1] != static_cast<int>((p - 1) % (kCount + 1))) ++early;
            ++done[p];
          });
        }
      });
      EXPECT_EQ(early, 0);
      for (std::size_t p = 0; p < kPhases; ++p) EXPECT_EQ(done[p], static_cast<int>(p % (kCount + 1)));
    }
  }
}

}  // namespace
}  // namespace dts::native
