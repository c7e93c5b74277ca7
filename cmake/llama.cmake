# llama.cpp, one of three ways. Afterwards there is the imported target `llama`, and DTS_LLAMA_SOURCE_DIR names a source
# tree of llama.cpp: its Jinja engine is compiled into the library, and the tests use its vocabularies.
include(${CMAKE_CURRENT_LIST_DIR}/llama_cache.cmake)

set(DTS_LLAMA "fetch" CACHE STRING
  "Where llama.cpp comes from: fetch (the pinned source), system (find_package), source (DTS_LLAMA_SOURCE_DIR)")
set_property(CACHE DTS_LLAMA PROPERTY STRINGS fetch system source)
set(DTS_LLAMA_SOURCE_DIR "" CACHE PATH "An existing llama.cpp source tree, for DTS_LLAMA=source or system")
set(DTS_LLAMA_CMAKE_ARGS "" CACHE STRING "More options for llama.cpp's own build, such as -DGGML_VULKAN=ON")
option(DTS_PORTABLE "Build for other machines: any CPU, with kernels for newer ones chosen at run time" OFF)
option(DTS_CUDA "Build for CUDA: the native engine's kernels, and llama.cpp" OFF)
option(DTS_LLAMA_CUDA "With DTS_CUDA: llama.cpp, too; OFF saves its long build" ON)

if(NOT DEFINED DTS_LLAMA_CACHE)
  dts_llama_default_cache(dts_default_cache)
  set(DTS_LLAMA_CACHE "${dts_default_cache}" CACHE PATH "Where llama.cpp is kept, once per version, options and CPU")
endif()

if(DTS_LLAMA STREQUAL "fetch")
  if(DTS_LLAMA_SOURCE_DIR)
    message(FATAL_ERROR "DTS_LLAMA_SOURCE_DIR=${DTS_LLAMA_SOURCE_DIR} has no meaning with DTS_LLAMA=fetch.\n"
      "Add -DDTS_LLAMA=source to build that tree, or -UDTS_LLAMA_SOURCE_DIR to build the pinned source.")
  endif()
  dts_llama_fetch(DTS_LLAMA_SOURCE_DIR dts_source_id)
  dts_llama_build("${DTS_LLAMA_SOURCE_DIR}" ${dts_source_id} DTS_LLAMA_PREFIX)
  dts_llama_import("${DTS_LLAMA_PREFIX}")
elseif(DTS_LLAMA STREQUAL "source")
  dts_llama_hash_source("${DTS_LLAMA_SOURCE_DIR}" dts_source_hash)
  dts_llama_build("${DTS_LLAMA_SOURCE_DIR}" ${dts_source_hash} DTS_LLAMA_PREFIX)
  dts_llama_import("${DTS_LLAMA_PREFIX}")
elseif(DTS_LLAMA STREQUAL "system")
  set(DTS_LLAMA_PREFIX "")  # the installed package finds the same one again
  dts_llama_forget_import()
  find_package(llama CONFIG)
  if(NOT llama_FOUND)
    message(FATAL_ERROR "DTS_LLAMA=system: no llama-config.cmake found. Name the installation's prefix with "
      "-DCMAKE_PREFIX_PATH=..., or use DTS_LLAMA=fetch.")
  elseif(LLAMA_VERSION VERSION_LESS dts_llama_version)
    message(FATAL_ERROR "DTS_LLAMA=system: llama.cpp ${LLAMA_VERSION} found in ${llama_DIR}; "
      "${dts_llama_version} or later is needed.")
  endif()
  if(NOT DTS_LLAMA_SOURCE_DIR)
    dts_llama_fetch(DTS_LLAMA_SOURCE_DIR ignored_id)
  endif()
  message(STATUS "llama.cpp ${LLAMA_VERSION}: ${llama_DIR}")
else()
  message(FATAL_ERROR "DTS_LLAMA=${DTS_LLAMA}: should be fetch, system or source.")
endif()

# Somebody may empty the cache: configure again rather than fail to compile.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${DTS_LLAMA_SOURCE_DIR}/CMakeLists.txt")
if(DTS_LLAMA_PREFIX)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${DTS_LLAMA_PREFIX}/lib/cmake/llama/llama-config.cmake")
endif()
