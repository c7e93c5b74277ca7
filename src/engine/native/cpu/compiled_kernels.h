// What is compiled once for every instruction set, for the best of them that Highway may take.
#pragma once

#include "engine/native/cpu/cpu_kernels.h"

namespace dts::native {

// `further`: with the instructions that some CPUs of that set have beyond it.
decltype(CpuKernels::multiply) product_kernel(bool further);

// All but `multiply` and what tells of it.
CpuKernels row_kernels();

}  // namespace dts::native
