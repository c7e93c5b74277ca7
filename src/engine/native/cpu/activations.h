// The rows that go into a matrix product: in single precision, for quantised weights in codes of 8 bits, a scale to
// every 32 of them, and for bf16 weights in bf16 where the CPU multiplies those.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/native/cpu/panels.h"

namespace dts::native {

// Of one product. Not owned; what the weights' type does not want may be null.
struct Activations {
  const float* values = nullptr;            // [rows, inputs]
  const std::int8_t* codes = nullptr;       // [rows, inputs] -127..127
  const float* scales = nullptr;            // [rows, inputs / 32]
  const float* sums = nullptr;              // [rows, inputs / 32] scale x sum of its codes
  const std::int32_t* code_sums = nullptr;  // [rows, inputs / 16]
  const std::uint16_t* bf16 = nullptr;      // [rows, inputs and one more where they are odd]
  int inputs = 0;
};

// Room for them.
class ActivationBuffer {
 public:
  // Beside single precision.
  struct Forms {
    bool codes = false;
    bool bf16 = false;
  };
  // `rows` of up to `inputs`.
  void reserve(std::size_t rows, std::size_t inputs, Forms forms) {
    values_.resize(rows * inputs);
    if (forms.bf16) bf16_.resize(rows * (inputs + 1));
    if (!forms.codes) return;
    const std::size_t blocks = (inputs + kBlockInputs - 1) / kBlockInputs;
    codes_.resize(rows * inputs);
    scales_.resize(rows * blocks);
    sums_.resize(rows * blocks);
    code_sums_.resize(rows * blocks * 2);
  }

  // Of products with `inputs` inputs.
  Activations view(int inputs) const {
    return {.values = values_.data(),
            .codes = codes_.data(),
            .scales = scales_.data(),
            .sums = sums_.data(),
            .code_sums = code_sums_.data(),
            .bf16 = bf16_.empty() ? nullptr : bf16_.data(),
            .inputs = inputs};
  }
  float* row(std::size_t row, int inputs) { return values_.data() + row * static_cast<std::size_t>(inputs); }

  // Where row `row` goes in bf16: an even number of elements.
  std::uint16_t* bf16_row(std::size_t row, int inputs) {
    return bf16_.data() + row * static_cast<std::size_t>(inputs + inputs % 2);
  }

  // Where row `row`'s codes, scales and sums go.
  struct CodeRow {
    std::int8_t* codes;
    float* scales;
    float* sums;
    std::int32_t* code_sums;
  };
  CodeRow code_row(std::size_t row, int inputs) {
    const auto n = static_cast<std::size_t>(inputs);
    const std::size_t blocks = n / kBlockInputs;
    return {.codes = codes_.data() + row * n,
            .scales = scales_.data() + row * blocks,
            .sums = sums_.data() + row * blocks,
            .code_sums = code_sums_.data() + row * blocks * 2};
  }

 private:
  std::vector<float> values_;
  std::vector<std::int8_t> codes_;
  std::vector<float> scales_;
  std::vector<float> sums_;
  std::vector<std::int32_t> code_sums_;
  std::vector<std::uint16_t> bf16_;
};

}  // namespace dts::native
