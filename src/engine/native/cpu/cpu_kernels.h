// The kernels, compiled for every instruction set; the best that this CPU has is taken at run time.
//
// Every row is computed by the same operations in the same order, however many rows there are and however they are
// shared out: a row's result does not depend on the others, nor on threads, to the last bit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/native/cpu/activations.h"
#include "engine/native/cpu/panels.h"

namespace dts::native {

// What K and V are kept as.
enum class PageElement : std::uint8_t {
  kF16,
  kBf16,
  kCode,  // of 8 bits, with a scale in half precision for 32 of them
};

// One kv head's page: K turned, so that sixteen tokens lie side by side, V as it is.
struct PageView {
  PageElement element = PageElement::kF16;
  const std::uint8_t* keys = nullptr;           // [head_size, kPageTokens] elements
  const std::uint8_t* values = nullptr;         // [kPageTokens, head_size] elements
  const std::uint16_t* key_scales = nullptr;    // [head_size / 32, kPageTokens]; of codes alone
  const std::uint16_t* value_scales = nullptr;  // [kPageTokens, head_size / 32]
};

// One query's attention so far: softmax(q . K) V before the division by the sum.
struct RunningAttention {
  const float* query = nullptr;  // [head_size], scaled
  float* value = nullptr;        // [head_size]
  float max = 0;                 // set on the first page
  float sum = 0;
  int tokens = 0;  // of the page it attends to: all before that position in the page
};

struct CpuKernels {
  const char* name;  // of the instruction set, for people: "AVX-512 with VNNI"
  // This CPU multiplies bf16 with bf16, two products an instruction: rows that meet bf16 weights are rounded to bf16
  // too, as llama.cpp does it. Elsewhere they stay in single precision.
  bool bf16_rows;

  // out[r][o] = row r . output o, for the outputs of panels [first, first + count). `out` is [rows, stride]. With bf16
  // weights the rows' bf16 is taken where it is given, which only `bf16_rows` allows.
  void (*multiply)(const PanelMatrix& matrix, int first, int count, const Activations& activations, int rows,
                   float* out, std::size_t stride);
  // Codes of `n` values, n a multiple of 32.
  void (*quantise)(const float* values, int n, const ActivationBuffer::CodeRow& out);
  // out = x / rms(x) x weight
  void (*normalise)(const float* x, const float* weight, int n, float epsilon, float* out);
  // out[i] = silu(gate[i]) x up[i]
  void (*gate)(const float* gate, const float* up, int n, float* out);
  // to[i] += from[i]
  void (*add)(const float* from, int n, float* to);
  // Goes on with `n` queries over one page; `first` where it is their first.
  void (*attend)(const PageView& page, int head_size, bool first, RunningAttention* queries, int n);
  // Single precision to half, rounded to nearest: [n], `step` elements apart in `out`. What is beyond the range becomes
  // its end.
  void (*to_half)(const float* from, int n, std::uint16_t* out, std::size_t step);
  // Single precision to bf16, rounded to nearest: [n], and a zero where n is odd.
  void (*to_bf16)(const float* from, int n, std::uint16_t* out);
  // to[i] += scale x from[i]
  void (*add_scaled)(const float* from, float scale, int n, float* to);
};

// Null where this CPU has no instruction set that they are worth it on: AVX2 or later, or NEON.
const CpuKernels* cpu_kernels();

}  // namespace dts::native
