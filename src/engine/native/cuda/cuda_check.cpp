#include "engine/native/cuda/cuda_check.h"

#include <fmt/format.h>

#include "dts/error.h"

namespace dts::native::cuda {

void check(cudaError_t code, const char* doing) {
  if (code == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // else the next call reports it again
  throw Error(fmt::format("the GPU failed while {}: {}", doing, cudaGetErrorString(code)));
}

void check(cublasStatus_t code, const char* doing) {
  if (code == CUBLAS_STATUS_SUCCESS) return;
  throw Error(fmt::format("the GPU failed while {}: {}", doing, cublasLtGetStatusString(code)));
}

}  // namespace dts::native::cuda
