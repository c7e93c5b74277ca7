# Gets, builds and keeps llama.cpp under DTS_LLAMA_CACHE:
#
#   source-<commit>-<hash>/  the pinned source tree with our patches, whose hash it is
#   <version>-<hash>/        an installation; the hash covers source, options, compiler and CPU
#   .work-*                  being made; renamed when whole, so whatever has its final name is complete
#   *.lock                   held while one configuration works, so that others wait for it instead of doing the same
include(CheckCXXCompilerFlag)
include(ProcessorCount)

# The pin: an npm package that carries llama.cpp's repository as a git bundle. The digest is npm's `integrity` of the
# package in hexadecimal: npm view PACKAGE dist.integrity | sed 's/sha512-//' | base64 -d | xxd -p -c 64
set(dts_llama_version 0.5.0)
set(dts_llama_commit de3ff815ea7d559ee917f063901b8986f038abc6)
set(dts_llama_package node-llama-cpp@3.22.1)
set(dts_llama_sha512 "6e5b488a9b9699cd76dc7eed30880318a4ac4ab866865418795502e3c5d38d55bb5c624988927209d95333343f2e25a83e4183a5c2f816f883a60c3ba9f4e20f")

# What the pinned version is changed in; docs/development.md says why.
set(dts_llama_patches "${CMAKE_CURRENT_LIST_DIR}/llama_patches/f16_dot_tail.patch")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${dts_llama_patches})

set(dts_llama_alternatives "Other ways to have llama.cpp ${dts_llama_version}:\n"
  "  -DDTS_LLAMA=source -DDTS_LLAMA_SOURCE_DIR=<a llama.cpp source tree>\n"
  "  -DDTS_LLAMA=system -DCMAKE_PREFIX_PATH=<where llama.cpp is installed>\n"
  "  -DDTS_LLAMA_CACHE=<a cache that another machine has filled>\n")

# `out`: the directory the user names, else the usual place for a user's caches, else the build directory.
function(dts_llama_default_cache out)
  if(DEFINED ENV{DTS_LLAMA_CACHE})
    set(${out} "$ENV{DTS_LLAMA_CACHE}" PARENT_SCOPE)
    return()
  endif()
  set(cache "$ENV{HOME}/.cache/dts/llama.cpp")
  if(DEFINED ENV{XDG_CACHE_HOME})
    set(cache "$ENV{XDG_CACHE_HOME}/dts/llama.cpp")
  endif()
  execute_process(COMMAND "${CMAKE_COMMAND}" -E make_directory "${cache}" RESULT_VARIABLE failed ERROR_QUIET)
  if(failed)
    message(STATUS "llama.cpp: ${cache} cannot be made; using the build directory")
    set(cache "${PROJECT_BINARY_DIR}/llama.cpp")
  endif()
  set(${out} "${cache}" PARENT_SCOPE)
endfunction()

# Stops with `...`, leaving nothing half-made.
function(dts_llama_fail work)
  file(REMOVE_RECURSE "${work}")
  list(JOIN ARGN "" text)
  list(JOIN dts_llama_alternatives "" alternatives)
  message(FATAL_ERROR "${text}\n${alternatives}")
endfunction()

# Holds the lock `name` of the cache until the calling function returns.
macro(dts_llama_lock name)
  execute_process(COMMAND "${CMAKE_COMMAND}" -E make_directory "${DTS_LLAMA_CACHE}"
    RESULT_VARIABLE lock_failed ERROR_VARIABLE lock_error)
  if(lock_failed)
    message(FATAL_ERROR "DTS_LLAMA_CACHE=${DTS_LLAMA_CACHE} cannot be written; name another directory.\n${lock_error}")
  endif()
  file(LOCK "${DTS_LLAMA_CACHE}/${name}.lock" GUARD FUNCTION RESULT_VARIABLE lock_failed TIMEOUT 0)
  if(lock_failed)
    message(STATUS "llama.cpp: another configuration is making it; waiting")
    file(LOCK "${DTS_LLAMA_CACHE}/${name}.lock" GUARD FUNCTION)
  endif()
endmacro()

# `out`: the pinned source tree, downloaded unless the cache has it; `out_id` stands for its content.
function(dts_llama_fetch out out_id)
  set(patches "")
  foreach(patch IN LISTS dts_llama_patches)
    file(SHA256 "${patch}" hash)
    string(APPEND patches "${hash}\n")
  endforeach()
  string(SHA256 patches "${patches}")
  string(SUBSTRING ${patches} 0 6 patches)
  string(SUBSTRING ${dts_llama_commit} 0 12 short_commit)
  set(id "${short_commit}-${patches}")
  set(${out_id} "${id}" PARENT_SCOPE)
  set(tree "${DTS_LLAMA_CACHE}/source-${id}")
  set(${out} "${tree}" PARENT_SCOPE)
  if(EXISTS "${tree}")
    return()
  endif()
  dts_llama_lock("source-${id}")
  if(EXISTS "${tree}")  # made while we waited
    return()
  endif()
  set(work "${DTS_LLAMA_CACHE}/.work-source-${id}")
  file(REMOVE_RECURSE "${work}")
  file(MAKE_DIRECTORY "${work}")

  message(STATUS "llama.cpp ${dts_llama_version}: downloading its source, 36 MB")
  find_program(npm npm NO_CACHE)
  find_program(git git NO_CACHE)
  if(NOT npm OR NOT git)
    dts_llama_fail("${work}" "npm and git are needed to download llama.cpp: apt-get install npm git")
  endif()
  execute_process(COMMAND "${npm}" pack ${dts_llama_package} --ignore-scripts --loglevel=error
    WORKING_DIRECTORY "${work}" RESULT_VARIABLE failed OUTPUT_VARIABLE ignored ERROR_VARIABLE error)
  if(failed)
    dts_llama_fail("${work}" "npm could not download ${dts_llama_package}:\n${error}")
  endif()
  file(GLOB archive "${work}/*.tgz")
  file(SHA512 "${archive}" sha512)
  if(NOT sha512 STREQUAL dts_llama_sha512)
    dts_llama_fail("${work}" "${dts_llama_package} is not the pinned file: SHA-512 is\n  ${sha512}\nand should be\n"
      "  ${dts_llama_sha512}")
  endif()

  set(bundle "package/llama/gitRelease.bundle")
  file(ARCHIVE_EXTRACT INPUT "${archive}" DESTINATION "${work}" PATTERNS "${bundle}")
  # No templates: a user's hooks have no business here. GIT_* is set when a git hook runs this build.
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -E env --unset=GIT_DIR --unset=GIT_WORK_TREE --unset=GIT_INDEX_FILE
      "${git}" -c advice.detachedHead=false -c core.autocrlf=false clone --quiet --template= "${bundle}" tree
    WORKING_DIRECTORY "${work}" RESULT_VARIABLE failed ERROR_VARIABLE error)
  if(failed)
    dts_llama_fail("${work}" "git could not unpack the source in ${dts_llama_package}:\n${error}")
  endif()
  execute_process(COMMAND "${CMAKE_COMMAND}" -E env --unset=GIT_DIR "${git}" rev-parse HEAD
    WORKING_DIRECTORY "${work}/tree" OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT commit STREQUAL dts_llama_commit)
    dts_llama_fail("${work}" "${dts_llama_package} holds commit '${commit}', not ${dts_llama_commit}")
  endif()
  execute_process(COMMAND "${CMAKE_COMMAND}" -E env --unset=GIT_DIR --unset=GIT_WORK_TREE --unset=GIT_INDEX_FILE
      "${git}" apply ${dts_llama_patches}
    WORKING_DIRECTORY "${work}/tree" RESULT_VARIABLE failed ERROR_VARIABLE error)
  if(failed)
    dts_llama_fail("${work}" "git could not apply ${dts_llama_patches}:\n${error}")
  endif()
  file(RENAME "${work}/tree" "${tree}")
  file(REMOVE_RECURSE "${work}")
endfunction()

# `out`: a hash of everything in `tree` that goes into the libraries.
function(dts_llama_hash_source tree out)
  if(NOT EXISTS "${tree}/include/llama.h")
    message(FATAL_ERROR "DTS_LLAMA=source: DTS_LLAMA_SOURCE_DIR=${tree} should be a llama.cpp source tree; "
      "it has no include/llama.h.")
  endif()
  file(GLOB_RECURSE files LIST_DIRECTORIES false RELATIVE "${tree}"
    "${tree}/cmake/*" "${tree}/ggml/*" "${tree}/include/*" "${tree}/src/*")
  set(digest "")
  foreach(file IN LISTS files ITEMS CMakeLists.txt)
    file(SHA256 "${tree}/${file}" hash)
    string(APPEND digest "${file} ${hash}\n")
  endforeach()
  string(SHA256 digest "${digest}")
  set(${out} ${digest} PARENT_SCOPE)
endfunction()

# `out`: the CUDA architectures to compile for: those asked for, else those of the GPUs here, else all.
function(dts_llama_cuda_architectures out)
  if(CMAKE_CUDA_ARCHITECTURES)
    set(${out} "${CMAKE_CUDA_ARCHITECTURES}" PARENT_SCOPE)
    return()
  endif()
  execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
    RESULT_VARIABLE failed OUTPUT_VARIABLE found ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REGEX MATCHALL "[0-9]+\\.[0-9]+" found "${found}")
  if(failed OR NOT found)
    message(WARNING "DTS_CUDA: no GPU here, so llama.cpp is compiled for all of them, which takes hours. "
      "Name yours with -DCMAKE_CUDA_ARCHITECTURES=90 (H100), 89 (RTX 40), 86 (RTX 30), 80 (A100), ...")
    set(${out} "" PARENT_SCOPE)
    return()
  endif()
  list(TRANSFORM found REPLACE "\\." "")
  list(REMOVE_DUPLICATES found)
  list(SORT found COMPARE NATURAL)
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

# `out`: the options of llama.cpp's own build that every part of it has in common, so that what is built at another time
# computes the same bits; `cuda_out`: the CUDA toolkit's version, or nothing.
function(dts_llama_compile_options out cuda_out)
  set(options
    -DCMAKE_BUILD_TYPE=Release
    -DCMAKE_POSITION_INDEPENDENT_CODE=ON
    -DCMAKE_INSTALL_LIBDIR=lib
    -DBUILD_SHARED_LIBS=OFF
    "-DCMAKE_C_COMPILER=${CMAKE_C_COMPILER}"
    "-DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}"
    -DGGML_NATIVE=ON
    -DGGML_OPENMP=OFF
    -DGGML_CCACHE=OFF
    -DLLAMA_ALL_WARNINGS=OFF
    -DLLAMA_BUILD_COMMON=OFF
    -DLLAMA_BUILD_TESTS=OFF
    -DLLAMA_BUILD_TOOLS=OFF
    -DLLAMA_BUILD_EXAMPLES=OFF
    -DLLAMA_BUILD_SERVER=OFF
    -DLLAMA_BUILD_APP=OFF)
  # No AMX: llama.cpp computes a lone row by other means than several, with another rounding, and GCC before 14 drops the
  # stores of what its tile configuration is made of (the operand of _tile_loadconfig is declared as 8 bytes of 64).
  check_cxx_compiler_flag(-mno-amx-tile dts_has_no_amx_flag)
  if(dts_has_no_amx_flag)
    foreach(language C CXX)
      list(APPEND options "-DCMAKE_${language}_FLAGS=${CMAKE_${language}_FLAGS} -mno-amx-tile -mno-amx-int8 -mno-amx-bf16")
    endforeach()
  endif()
  if(CMAKE_TOOLCHAIN_FILE)
    list(APPEND options "-DCMAKE_TOOLCHAIN_FILE=${CMAKE_TOOLCHAIN_FILE}")
  endif()
  set(cuda_version "")
  if(DTS_CUDA AND DTS_LLAMA_CUDA)
    find_package(CUDAToolkit REQUIRED)
    dts_llama_cuda_architectures(architectures)
    list(APPEND options -DGGML_CUDA=ON -DGGML_CUDA_NCCL=OFF "-DCMAKE_CUDA_COMPILER=${CUDAToolkit_NVCC_EXECUTABLE}")
    if(architectures)
      string(REPLACE ";" "\\;" architectures "${architectures}")
      list(APPEND options "-DCMAKE_CUDA_ARCHITECTURES=${architectures}")
    else()
      # Meant for another machine: llama.cpp's own list of GPUs, and no more of the CPU than most have.
      list(APPEND options -DGGML_NATIVE=OFF)
    endif()
    set(cuda_version "${CUDAToolkit_VERSION}")
  endif()
  if(DTS_PORTABLE)
    dts_llama_level_options(x86-64 level)
    list(APPEND options -DBUILD_SHARED_LIBS=ON ${level})
  endif()
  list(APPEND options ${DTS_LLAMA_CMAKE_ARGS})
  set(${out} "${options}" PARENT_SCOPE)
  set(${cuda_out} "${cuda_version}" PARENT_SCOPE)
endfunction()

# `out`: llama.cpp's options for one of the levels that x86-64 CPUs are sorted into. Elsewhere: those of any CPU.
function(dts_llama_level_options level out)
  set(features AVX AVX2 BMI2 F16C FMA SSE42)
  set(options -DGGML_NATIVE=OFF)
  foreach(feature IN LISTS features ITEMS AVX512)
    set(enabled OFF)
    if(level STREQUAL "x86-64-v4" OR (level STREQUAL "x86-64-v3" AND feature IN_LIST features))
      set(enabled ON)
    endif()
    list(APPEND options -DGGML_${feature}=${enabled})
  endforeach()
  set(${out} "${options}" PARENT_SCOPE)
endfunction()

# DTS_PORTABLE: the kernels once more for newer CPUs, in the folders where the dynamic linker looks for what a CPU can
# do better (glibc-hwcaps, man ld.so). `work` has the build for any CPU; its options are ARGN.
function(dts_llama_build_levels tree work prefix jobs)
  if(NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    return()
  endif()
  foreach(level x86-64-v3 x86-64-v4)
    dts_llama_level_options(${level} options)
    message(STATUS "llama.cpp: kernels for ${level}")
    execute_process(
      COMMAND ${clean_env} "${CMAKE_COMMAND}" -S "${tree}" -B "${work}/${level}" -G "${CMAKE_GENERATOR}"
        "-DCMAKE_MAKE_PROGRAM=${CMAKE_MAKE_PROGRAM}" "-DCMAKE_INSTALL_PREFIX=${prefix}" ${ARGN} ${options}
      RESULT_VARIABLE failed OUTPUT_VARIABLE log ERROR_VARIABLE log)
    if(NOT failed)
      execute_process(COMMAND ${clean_env} "${CMAKE_COMMAND}" --build "${work}/${level}" --parallel ${jobs}
        --target ggml-cpu RESULT_VARIABLE failed OUTPUT_VARIABLE log ERROR_VARIABLE log)
    endif()
    file(GLOB library "${work}/${level}/bin/libggml-cpu.so.*")
    if(failed OR NOT library)
      dts_llama_fail("${work}" "llama.cpp's kernels for ${level} could not be built:\n${log}")
    endif()
    file(COPY ${library} DESTINATION "${work}/install/lib/glibc-hwcaps/${level}")
  endforeach()
endfunction()

# Builds `tree` into the cache unless it is there. `source_id` stands for its content; `out`: the installation's prefix.
function(dts_llama_build tree source_id out)
  dts_llama_compile_options(options cuda_version)

  # The compiler's predefined macros tell its version and every CPU feature that "native" turns on.
  execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -march=native -dM -E -x c++ /dev/null
    OUTPUT_VARIABLE native_macros ERROR_QUIET)
  string(SHA256 hash
    "${source_id}|${options}|${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}|${native_macros}|${cuda_version}")
  string(SUBSTRING ${hash} 0 12 hash)
  file(STRINGS "${tree}/CMakeLists.txt" version_lines REGEX "set\\(LLAMA_VERSION_(MAJOR|MINOR|PATCH) [0-9]+\\)")
  string(REGEX MATCHALL "[0-9]+" version "${version_lines}")
  list(JOIN version "." version)
  set(prefix "${DTS_LLAMA_CACHE}/${version}-${hash}")
  set(${out} "${prefix}" PARENT_SCOPE)
  message(STATUS "llama.cpp ${version}: ${prefix}")
  if(EXISTS "${prefix}")
    return()
  endif()
  dts_llama_lock("${version}-${hash}")
  if(EXISTS "${prefix}")  # made while we waited
    return()
  endif()
  set(work "${DTS_LLAMA_CACHE}/.work-${version}-${hash}")
  file(REMOVE_RECURSE "${work}")

  message(STATUS "llama.cpp ${version}: compiling it, once for this user; a few minutes on a small machine")
  set(clean_env "${CMAKE_COMMAND}" -E env --unset=CFLAGS --unset=CXXFLAGS --unset=CPPFLAGS --unset=LDFLAGS)
  execute_process(
    COMMAND ${clean_env} "${CMAKE_COMMAND}" -S "${tree}" -B "${work}/build" -G "${CMAKE_GENERATOR}"
      "-DCMAKE_MAKE_PROGRAM=${CMAKE_MAKE_PROGRAM}" "-DCMAKE_INSTALL_PREFIX=${prefix}" ${options}
    RESULT_VARIABLE failed OUTPUT_VARIABLE log ERROR_VARIABLE log)
  if(failed)
    dts_llama_fail("${work}" "llama.cpp in ${tree} could not be configured:\n${log}")
  endif()
  set(jobs "$ENV{CMAKE_BUILD_PARALLEL_LEVEL}")
  if(NOT jobs)
    ProcessorCount(jobs)
  endif()
  execute_process(COMMAND ${clean_env} "${CMAKE_COMMAND}" --build "${work}/build" --parallel ${jobs}
    RESULT_VARIABLE failed)
  if(failed)
    dts_llama_fail("${work}" "llama.cpp in ${tree} could not be compiled; the compiler's words are above.")
  endif()
  execute_process(COMMAND "${CMAKE_COMMAND}" --install "${work}/build" --prefix "${work}/install"
    RESULT_VARIABLE failed OUTPUT_VARIABLE log ERROR_VARIABLE log)
  if(failed)
    dts_llama_fail("${work}" "llama.cpp could not be installed into ${work}:\n${log}")
  endif()
  if(DTS_PORTABLE)
    dts_llama_build_levels("${tree}" "${work}" "${prefix}" "${jobs}" ${options})
  endif()
  file(RENAME "${work}/install" "${prefix}")
  file(REMOVE_RECURSE "${work}")
endfunction()

# What an earlier configuration found elsewhere must not be found again.
macro(dts_llama_forget_import)
  if(NOT "${dts_imported_from}" STREQUAL "${DTS_LLAMA_PREFIX}")
    unset(llama_DIR CACHE)
    unset(ggml_DIR CACHE)
    unset(llama_LIBRARY CACHE)
  endif()
  set(dts_imported_from "${DTS_LLAMA_PREFIX}" CACHE INTERNAL "the llama.cpp that the cache's entries speak of")
endmacro()

# The targets of the installation in `prefix`, and of no other.
function(dts_llama_import prefix)
  dts_llama_forget_import()
  list(PREPEND CMAKE_PREFIX_PATH "${prefix}")  # llama-config.cmake looks for its library along it
  find_package(llama CONFIG REQUIRED PATHS "${prefix}" NO_DEFAULT_PATH)
  include("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/llama_static_cuda.cmake")
endfunction()
