// The CPU's kernels by themselves: products of whole numbers, which come out exactly on every instruction set, codes,
// and attention. Needs nothing but the kernels, so that it can be built for another CPU: scripts/arm_tests.sh.
#include "engine/native/cpu/cpu_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "engine/native/cpu/half.h"
#include "engine/native/page_pool.h"

namespace dts::native {
namespace {

std::vector<float> random_floats(std::size_t n, unsigned seed, float spread = 1.0F) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.0F, spread);
  std::vector<float> out(n);
  for (float& x : out) x = normal(random);
  return out;
}

// Rows of a file whose weights are whole numbers: any codes, and the largest in the first row; every scale of 16 bits
// being one.
std::vector<std::uint8_t> whole_weights(PanelType type, int outputs, int inputs, std::mt19937& random) {
  constexpr std::uint16_t kOne = 0x3C00;
  const auto rows = static_cast<std::size_t>(outputs);
  std::vector<std::uint8_t> file(rows * row_bytes(type, inputs));
  if (is_quantised(type)) {
    for (std::uint8_t& byte : file) byte = static_cast<std::uint8_t>(random());
    const std::size_t row = row_bytes(type, inputs);
    const std::size_t block = row_bytes(type, block_inputs(type));
    std::fill_n(file.begin(), row, type == PanelType::kQ8_0 ? std::uint8_t{127} : std::uint8_t{255});
    if (type == PanelType::kQ4K || type == PanelType::kQ5K) {  // with scales so small that sums stay exact
      for (std::size_t at = 4; at < row; at += block) std::fill_n(file.data() + at, 12, std::uint8_t{1});
    }
    for (std::size_t at = 0; at < file.size(); at += block) {
      std::memcpy(file.data() + at + (type == PanelType::kQ6K ? block - 2 : 0), &kOne, 2);
      if (type == PanelType::kQ4K || type == PanelType::kQ5K) std::memcpy(file.data() + at + 2, &kOne, 2);
    }
    return file;
  }
  const std::size_t size = row_bytes(type, 1);
  for (std::size_t at = 0; at < file.size(); at += size) {
    const float weight = static_cast<float>(random() % 17) - 8.0F;
    const auto bits = std::bit_cast<std::uint32_t>(weight);
    const auto upper = static_cast<std::uint16_t>(bits >> 16U);
    std::uint16_t half = 0;
    cpu_kernels()->to_half(&weight, 1, &half, 1);
    std::memcpy(file.data() + at,
                size == 4                 ? static_cast<const void*>(&bits)
                : type == PanelType::kF16 ? &half
                                          : &upper,
                size);
  }
  return file;
}

class WholeProducts : public ::testing::TestWithParam<PanelType> {
 protected:
  void SetUp() override {
    if (cpu_kernels() == nullptr) GTEST_SKIP() << "this CPU has no kernels";
  }
};

TEST_P(WholeProducts, AreExactForAnyNumberOfRows) {
  constexpr int kOutputs = 16 * 5 + 7;
  constexpr int kInputs = 256;
  constexpr int kMostRows = 50;
  std::mt19937 random(17);
  PanelMatrix matrix = make_panels(GetParam(), kOutputs, kInputs);
  std::vector<std::uint8_t> file = whole_weights(GetParam(), kOutputs, kInputs, random);
  std::vector<float> panel(std::size_t{kPanelOutputs} * kInputs);
  std::vector<float> weights;  // [outputs, inputs], and what fills the last panel
  for (int p = 0; p < matrix.panels(); ++p) {
    pack_panel(matrix, p, file.data() + static_cast<std::size_t>(p) * kPanelOutputs * row_bytes(GetParam(), kInputs));
    unpack_panel(matrix, p, panel);
    weights.insert(weights.end(), panel.begin(), panel.end());
  }
  // The ends of the range in the first two rows: that is where sums of 16 bits would not fit. Half of the inputs, so
  // that no sum is beyond 2^24, up to which single precision has every whole number.
  ActivationBuffer buffer;
  const bool bf16 = cpu_kernels()->bf16_rows;
  buffer.reserve(kMostRows, kInputs, {.codes = true, .bf16 = bf16});
  for (std::size_t r = 0; r < kMostRows; ++r) {
    const auto row = buffer.code_row(r, kInputs);
    for (int i = 0; i < kInputs; ++i) {
      const int end = i < kInputs / 2 ? 127 : 0;
      const int code = r == 0 ? end : r == 1 ? -end : static_cast<int>(random() % 255) - 127;
      row.codes[i] = static_cast<std::int8_t>(code);
      buffer.row(r, kInputs)[i] = static_cast<float>(code);
    }
    if (bf16) cpu_kernels()->to_bf16(buffer.row(r, kInputs), kInputs, buffer.bf16_row(r, kInputs));
    for (std::size_t h = 0; h < kInputs / 16; ++h)
      row.code_sums[h] = std::accumulate(row.codes + h * 16, row.codes + h * 16 + 16, 0);
    for (std::size_t b = 0; b < kInputs / kBlockInputs; ++b) {
      row.scales[b] = 1.0F;
      row.sums[b] = static_cast<float>(row.code_sums[2 * b] + row.code_sums[2 * b + 1]);
    }
  }
  for (int rows = 1; rows <= kMostRows; rows += rows < 17 ? 1 : 11) {
    std::vector<float> out(static_cast<std::size_t>(rows) * kOutputs);
    cpu_kernels()->multiply(matrix, 0, matrix.panels(), buffer.view(kInputs), rows, out.data(), kOutputs);
    for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r) {
      for (std::size_t o = 0; o < kOutputs; ++o) {
        const float* weight = weights.data() + o * kInputs;
        const double sum = std::inner_product(weight, weight + kInputs, buffer.row(r, kInputs), 0.0);
        ASSERT_EQ(static_cast<double>(out[r * kOutputs + o]), sum) << rows << " rows: row " << r << ", output " << o;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, WholeProducts,
                         ::testing::Values(PanelType::kF32, PanelType::kF16, PanelType::kBf16, PanelType::kQ8_0,
                                           PanelType::kQ4_0, PanelType::kIq4Nl, PanelType::kQ4K, PanelType::kQ5K,
                                           PanelType::kQ6K),
                         [](const auto& test) { return std::string(name_of(test.param)); });

TEST(CpuKernels, CodesAreTheNearestAndSumUp) {
  if (cpu_kernels() == nullptr) GTEST_SKIP() << "this CPU has no kernels";
  constexpr int kInputs = 96;
  ActivationBuffer buffer;
  buffer.reserve(1, kInputs, {.codes = true});
  std::vector<float> values = random_floats(kInputs, 3);
  std::fill_n(values.data(), 32, 0.0F);  // a block of nothing
  const auto out = buffer.code_row(0, kInputs);
  cpu_kernels()->quantise(values.data(), kInputs, out);
  for (std::size_t b = 0; b < kInputs / kBlockInputs; ++b) {
    int sums[2] = {};
    for (std::size_t i = 0; i < kBlockInputs; ++i) {
      const std::int8_t code = out.codes[b * kBlockInputs + i];
      sums[i / 16] += code;
      const float value = values[b * kBlockInputs + i];
      EXPECT_LE(std::fabs(static_cast<float>(code) * out.scales[b] - value), 0.5001F * out.scales[b]);
    }
    EXPECT_EQ(out.code_sums[b * 2], sums[0]);
    EXPECT_EQ(out.code_sums[b * 2 + 1], sums[1]);
    EXPECT_FLOAT_EQ(out.sums[b], out.scales[b] * static_cast<float>(sums[0] + sums[1]));
  }
}

// One of them, wherever it stands, makes the whole block's products no number.
TEST(CpuKernels, NoNumberIsNotLostAmongNumbers) {
  if (cpu_kernels() == nullptr) GTEST_SKIP() << "this CPU has no kernels";
  for (const float bad : {std::nanf(""), -std::nanf(""), std::numeric_limits<float>::infinity()}) {
    for (std::size_t at = 0; at < kBlockInputs; ++at) {
      ActivationBuffer buffer;
      buffer.reserve(1, kBlockInputs, {.codes = true});
      std::vector<float> values = random_floats(kBlockInputs, 3);
      values[at] = bad;
      const auto out = buffer.code_row(0, kBlockInputs);
      cpu_kernels()->quantise(values.data(), kBlockInputs, out);
      EXPECT_TRUE(std::isnan(out.scales[0]) && std::isnan(out.sums[0])) << at;
      EXPECT_EQ(out.code_sums[0], 0) << at;
      EXPECT_EQ(out.code_sums[1], 0) << at;
      for (std::size_t i = 0; i < kBlockInputs; ++i) EXPECT_EQ(out.codes[i], 0) << at;
    }
  }
}

// Every bit pattern's upper half, just above and below the middle between two, at it, and what is no number.
TEST(CpuKernels, Bf16IsTheNearest) {
  if (cpu_kernels() == nullptr) GTEST_SKIP() << "this CPU has no kernels";
  std::vector<float> values;
  for (std::uint32_t upper = 0; upper < 0x10000; ++upper) {
    for (const std::uint32_t lower : {0U, 1U, 0x7FFFU, 0x8000U, 0x8001U, 0xFFFFU}) {
      values.push_back(std::bit_cast<float>((upper << 16U) | lower));
    }
  }
  values.pop_back();  // an odd number of them
  std::vector<std::uint16_t> out(values.size() + 1, 7);
  cpu_kernels()->to_bf16(values.data(), static_cast<int>(values.size()), out.data());
  EXPECT_EQ(out.back(), 0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(values[i]);
    const auto got = std::bit_cast<float>(std::uint32_t{out[i]} << 16U);
    if (std::isnan(values[i])) {
      ASSERT_TRUE(std::isnan(got)) << std::hex << bits;
      continue;
    }
    const std::uint32_t below = bits >> 16U;
    const std::uint32_t rest = bits & 0xFFFFU;
    const bool up = rest > 0x8000U || (rest == 0x8000U && below % 2 == 1);
    ASSERT_EQ(out[i], below + (up ? 1U : 0U)) << std::hex << bits;
  }
}

// A page of random K and V, and what attention over its first tokens is in double precision.
TEST(CpuKernels, AttentionOverPagesIsASoftmax) {
  if (cpu_kernels() == nullptr) GTEST_SKIP() << "this CPU has no kernels";
  for (const auto& kept :
       {std::pair(32, PageElement::kF16), std::pair(64, PageElement::kF16), std::pair(96, PageElement::kF16),
        std::pair(128, PageElement::kF16), std::pair(48, PageElement::kBf16), std::pair(128, PageElement::kBf16)}) {
    const int size = kept.first;
    const PageElement element = kept.second;
    const bool half = element == PageElement::kF16;
    const auto number = [half](std::uint16_t bits) {
      return static_cast<double>(half ? half_to_float(bits)
                                      : std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U));
    };
    constexpr int kPages = 3;
    constexpr int kQueries = 17;
    const auto n = static_cast<std::size_t>(size);
    const std::size_t cells = std::size_t{kPages} * kPageTokens;
    const std::vector<float> k = random_floats(cells * n, 5, 0.5F);
    const std::vector<float> v = random_floats(cells * n, 6);
    const std::vector<float> q = random_floats(kQueries * n, 8, 0.7F);
    std::vector<std::uint16_t> keys(cells * n);
    std::vector<std::uint16_t> values(cells * n);
    for (std::size_t t = 0; t < cells; ++t) {
      const std::size_t page = t / kPageTokens * kPageTokens * n;
      if (half) {
        cpu_kernels()->to_half(k.data() + t * n, size, keys.data() + page + t % kPageTokens, kPageTokens);
        cpu_kernels()->to_half(v.data() + t * n, size, values.data() + t * n, 1);
        continue;
      }
      std::vector<std::uint16_t> key(n);
      cpu_kernels()->to_bf16(k.data() + t * n, size, key.data());
      for (std::size_t e = 0; e < n; ++e) keys[page + e * kPageTokens + t % kPageTokens] = key[e];
      cpu_kernels()->to_bf16(v.data() + t * n, size, values.data() + t * n);
    }
    // Query i attends to some tokens of the last page that it has, and to all before.
    const auto tokens_of = [&](int i) { return 1 + i * 11; };
    std::vector<float> out(kQueries * n);
    const auto run = [&](int first, int count, float* to) {
      std::vector<RunningAttention> state(static_cast<std::size_t>(count));
      for (int i = 0; i < count; ++i) {
        state[static_cast<std::size_t>(i)] = {.query = q.data() + static_cast<std::size_t>(first + i) * n,
                                              .value = to + static_cast<std::size_t>(i) * n};
      }
      for (int p = 0; p < kPages; ++p) {
        for (int i = 0; i < count; ++i) {
          state[static_cast<std::size_t>(i)].tokens =
              std::clamp(tokens_of(first + i) - p * kPageTokens, 0, kPageTokens);
        }
        const std::size_t page = static_cast<std::size_t>(p) * kPageTokens * n;
        cpu_kernels()->attend({.element = element,
                               .keys = reinterpret_cast<const std::uint8_t*>(keys.data() + page),
                               .values = reinterpret_cast<const std::uint8_t*>(values.data() + page)},
                              size, p == 0, state.data(), count);
      }
      for (int i = 0; i < count; ++i) {
        for (std::size_t e = 0; e < n; ++e)
          to[static_cast<std::size_t>(i) * n + e] /= state[static_cast<std::size_t>(i)].sum;
      }
    };
    run(0, kQueries, out.data());
    for (int i = 0; i < kQueries; ++i) {
      std::vector<double> weights;
      double sum = 0;
      for (int t = 0; t < tokens_of(i); ++t) {
        double dot = 0;
        for (std::size_t e = 0; e < n; ++e) {
          const std::size_t at = static_cast<std::size_t>(t / kPageTokens) * kPageTokens * n + e * kPageTokens +
                                 static_cast<std::size_t>(t % kPageTokens);
          dot += static_cast<double>(q[static_cast<std::size_t>(i) * n + e]) * number(keys[at]);
        }
        weights.push_back(std::exp(dot));
        sum += weights.back();
      }
      for (std::size_t e = 0; e < n; ++e) {
        double expected = 0;
        for (std::size_t t = 0; t < weights.size(); ++t) {
          expected += weights[t] / sum * number(values[t * n + e]);
        }
        ASSERT_NEAR(static_cast<double>(out[static_cast<std::size_t>(i) * n + e]), expected, 2e-5) << "query " << i;
      }
      std::vector<float> alone(n);
      run(i, 1, alone.data());
      ASSERT_EQ(std::memcmp(alone.data(), out.data() + static_cast<std::size_t>(i) * n, n * sizeof(float)), 0);
    }
  }
}

}  // namespace
}  // namespace dts::native
