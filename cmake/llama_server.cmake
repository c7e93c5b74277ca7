# llama-server from the source that the library was built from, for the tests of the remote engine: same code, same
# flags, so the same bits. It takes some minutes to compile, once for a user, and no user of dts needs it.
option(DTS_TEST_LLAMA_SERVER "Build llama-server and test the remote engine against it" OFF)

# `out`: the program, built into the cache unless it is there. The library's prefix names version, options and CPU.
function(dts_llama_build_server tree library_prefix out)
  cmake_path(GET library_prefix FILENAME name)
  set(prefix "${DTS_LLAMA_CACHE}/server-${name}")
  set(${out} "${prefix}/llama-server" PARENT_SCOPE)
  message(STATUS "llama-server: ${prefix}")
  if(EXISTS "${prefix}/llama-server")
    return()
  endif()
  dts_llama_lock("server-${name}")
  if(EXISTS "${prefix}/llama-server")  # made while we waited
    return()
  endif()
  dts_llama_compile_options(options ignored_cuda_version)
  list(APPEND options -DLLAMA_BUILD_COMMON=ON -DLLAMA_BUILD_TOOLS=ON -DLLAMA_BUILD_SERVER=ON -DLLAMA_BUILD_UI=OFF
    -DLLAMA_USE_PREBUILT_UI=OFF -DLLAMA_OPENSSL=OFF)
  set(work "${DTS_LLAMA_CACHE}/.work-server-${name}")
  file(REMOVE_RECURSE "${work}")
  message(STATUS "llama-server: compiling it, once for this user; some minutes on a small machine")
  set(clean_env "${CMAKE_COMMAND}" -E env --unset=CFLAGS --unset=CXXFLAGS --unset=CPPFLAGS --unset=LDFLAGS)
  execute_process(
    COMMAND ${clean_env} "${CMAKE_COMMAND}" -S "${tree}" -B "${work}/build" -G "${CMAKE_GENERATOR}"
      "-DCMAKE_MAKE_PROGRAM=${CMAKE_MAKE_PROGRAM}" ${options}
    RESULT_VARIABLE failed OUTPUT_VARIABLE log ERROR_VARIABLE log)
  if(failed)
    dts_llama_fail("${work}" "llama-server in ${tree} could not be configured:\n${log}")
  endif()
  set(jobs "$ENV{CMAKE_BUILD_PARALLEL_LEVEL}")
  if(NOT jobs)
    ProcessorCount(jobs)
  endif()
  execute_process(COMMAND ${clean_env} "${CMAKE_COMMAND}" --build "${work}/build" --parallel ${jobs}
      --target llama-server
    RESULT_VARIABLE failed)
  if(failed)
    dts_llama_fail("${work}" "llama-server could not be compiled; the compiler's words are above.")
  endif()
  file(MAKE_DIRECTORY "${prefix}")
  file(RENAME "${work}/build/bin/llama-server" "${prefix}/llama-server")
  file(REMOVE_RECURSE "${work}")
endfunction()

set(DTS_LLAMA_SERVER "")
if(DTS_TEST_LLAMA_SERVER)
  if(NOT DTS_LLAMA_PREFIX)
    message(FATAL_ERROR "DTS_TEST_LLAMA_SERVER needs llama.cpp from source: DTS_LLAMA=fetch or source.")
  endif()
  dts_llama_build_server("${DTS_LLAMA_SOURCE_DIR}" "${DTS_LLAMA_PREFIX}" DTS_LLAMA_SERVER)
endif()
