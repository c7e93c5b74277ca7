# `cmake --install` and find_package(dts COMPONENTS ...). The libraries are static, so whoever links dts::llama needs
# llama.cpp's libraries, too: the installation carries those it was built with, out of the way of any other llama.cpp.
include(CMakePackageConfigHelpers)

set(dts_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/dts)
set(dts_llama_install_dir "")
if(DTS_LLAMA_PREFIX)
  set(dts_llama_install_dir ${CMAKE_INSTALL_LIBDIR}/dts/llama.cpp)
  install(DIRECTORY "${DTS_LLAMA_PREFIX}/" DESTINATION ${dts_llama_install_dir} PATTERN pkgconfig EXCLUDE)
endif()

# In the order in which they depend on each other: dts-config.cmake includes their files so.
set(dts_components base text io json core answer tree_file draw question llama native local)
if(DTS_CUDA)
  install(TARGETS dts_native_kernels EXPORT dts-native-targets)
endif()
foreach(part IN LISTS dts_components)
  dts_install_part(${part})
endforeach()
install(TARGETS dts EXPORT dts-dts-targets)
install(EXPORT dts-dts-targets NAMESPACE dts:: DESTINATION ${dts_package_dir})
install(FILES include/dts/dts.h "${PROJECT_BINARY_DIR}/generated/dts/version.h"
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/dts)

if(TARGET dts_cli)
  install(TARGETS dts_cli)
  install(FILES models/nano/dts-nano.gguf models/nano/nano-bench.jsonl models/nano/nano-bench-mini.jsonl
    DESTINATION ${CMAKE_INSTALL_DATADIR}/dts)
endif()

configure_package_config_file(cmake/dts-config.cmake.in dts-config.cmake INSTALL_DESTINATION ${dts_package_dir})
write_basic_package_version_file(dts-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/dts-config.cmake" "${PROJECT_BINARY_DIR}/dts-config-version.cmake"
  cmake/llama_static_cuda.cmake DESTINATION ${dts_package_dir})
