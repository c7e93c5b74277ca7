#pragma once

#include "engine/native/cpu/cpu_kernels.h"

namespace dts::native {

// What CpuKernels has of them.
struct ProductKernels {
  decltype(CpuKernels::multiply) multiply;
  bool bf16_rows;
};
ProductKernels product_kernels();

}  // namespace dts::native
