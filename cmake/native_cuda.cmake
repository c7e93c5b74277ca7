# The native engine's CUDA backend: kernels by nvcc in a library of their own, the rest by the usual compiler.
if(NOT CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 80 89 90)
endif()
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)

function(dts_native_add_cuda target)
  # Not a part: CMake 3.25 cannot say C++20 to the nvcc of CUDA 13, which a part asks for.
  add_library(dts_native_kernels STATIC cuda/attention.cu cuda/predict.cu cuda/small_kernels.cu)
  target_compile_options(dts_native_kernels PRIVATE -std=c++20)
  target_include_directories(dts_native_kernels PRIVATE ${PROJECT_BINARY_DIR}/parts/native)
  set_target_properties(dts_native_kernels PROPERTIES CUDA_RUNTIME_LIBRARY Shared CUDA_STANDARD_REQUIRED OFF)

  target_sources(${target} PRIVATE
    cuda/cuda_backend.cpp cuda/cuda_check.cpp cuda/cuda_device.cpp cuda/cuda_weights.cpp
    cuda/device_spec.cpp cuda/gemm.cpp cuda/step_buffers.cpp)
  target_link_libraries(${target} PRIVATE dts_native_kernels CUDA::cudart CUDA::cublasLt)
endfunction()
