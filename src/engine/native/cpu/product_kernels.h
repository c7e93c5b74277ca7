#pragma once

#include "engine/native/cpu/cpu_kernels.h"

namespace dts::native {

using MultiplyKernel = decltype(CpuKernels::multiply);
MultiplyKernel multiply_kernel();

}  // namespace dts::native
