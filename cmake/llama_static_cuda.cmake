# llama.cpp's package forgets what its static CUDA library needs. Part of the installed package, too.
if(TARGET ggml::ggml-cuda)
  find_package(CUDAToolkit REQUIRED)
  target_link_libraries(ggml::ggml-cuda INTERFACE CUDA::cudart CUDA::cublas)
endif()
