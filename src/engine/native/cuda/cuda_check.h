// A failing device is one clear error.
#pragma once

#include <cublasLt.h>
#include <cuda_runtime.h>

namespace dts::native::cuda {

// Throws dts::Error: "the GPU failed while <doing>: <reason>".
void check(cudaError_t code, const char* doing);
void check(cublasStatus_t code, const char* doing);

}  // namespace dts::native::cuda
