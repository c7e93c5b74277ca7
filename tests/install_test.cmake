# Installs the build into a fresh prefix, compiles examples/embed against that and nothing else, and runs it.
# cmake -DBUILD_DIR=... -DSOURCE_DIR=... -DWORK_DIR=... -DGENERATOR=... -DCXX=... -DCXX_FLAGS=... -DPREFIX_PATH=... -P install_test.cmake
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed (${result}): ${ARGN}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${WORK_DIR}")
run("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${WORK_DIR}/prefix")
run("${CMAKE_COMMAND}" -S "${SOURCE_DIR}/examples/embed" -B "${WORK_DIR}/build" -G "${GENERATOR}"
  -DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_COMPILER=${CXX}" "-DCMAKE_CXX_FLAGS=${CXX_FLAGS}"
  "-DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix;${PREFIX_PATH}")
run("${CMAKE_COMMAND}" --build "${WORK_DIR}/build")

run("${WORK_DIR}/build/own_engine")
set(expected "I remember: 14.\ncounting on: 15.\nmaking ten: 15.\nanswer: 15 (2 of 3 votes)\n")
if(NOT output STREQUAL expected)
  message(FATAL_ERROR "own_engine printed\n${output}and should have printed\n${expected}")
endif()
file(REMOVE_RECURSE "${WORK_DIR}")
