// Starts a kernel so that its blocks are in place when the one before it ends: there are a few hundred kernels in a
// step, and the gaps between them would add up. Each kernel waits for what it depends on before it reads anything.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <utility>

namespace dts::native::cuda {

// In a kernel that launch() starts, before it reads anything that kernels of the same step wrote: what came before is
// done and seen. The next one may be put in place from here on; it waits in its turn.
__device__ inline void wait_for_previous() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

// Half precision ends at 65,504: what is beyond stays there rather than become infinite.
__device__ inline float within_half(float value) { return fminf(fmaxf(value, -65504.0F), 65504.0F); }
__device__ inline __half to_half(float value) { return __float2half_rn(within_half(value)); }
__device__ inline __half2 to_halves(float low, float high) {
  return __floats2half2_rn(within_half(low), within_half(high));
}

inline bool can_overlap() {
  static const bool can = [] {
    int device = 0;
    int major = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    return major >= 9;
  }();
  return can;
}

// Errors are the stream's: cudaGetLastError() has them.
template <typename... Parameters, typename... Arguments>
void launch(void (*kernel)(Parameters...), dim3 grid, int threads, std::size_t shared, cudaStream_t stream,
            Arguments&&... arguments) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = can_overlap() ? 1 : 0;
  cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(std::forward<Arguments>(arguments))...);
}

}  // namespace dts::native::cuda
