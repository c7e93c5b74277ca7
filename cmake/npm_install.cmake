# dts_npm_install(DIRECTORY OUT): a rule that installs the packages of DIRECTORY/package-lock.json into its
# node_modules, only when they are not there yet; OUT is the file to depend on. As a script, `cmake -DNPM=npm
# -DDIRECTORY=... -P` does the installing: OUT holds the digest of the lock file that the packages came from.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  function(dts_npm_install directory out)
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${directory})
    add_custom_command(OUTPUT ${directory}/node_modules/.installed
      COMMAND ${CMAKE_COMMAND} -DNPM=${DTS_NPM} -DDIRECTORY=${directory} -P ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
      DEPENDS ${directory}/package-lock.json ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
      COMMENT "Installing the npm packages of ${name}" VERBATIM)
    set(${out} ${directory}/node_modules/.installed PARENT_SCOPE)
  endfunction()
  return()
endif()

file(LOCK "${DIRECTORY}/.lock" GUARD PROCESS)  # another build directory may be at it
file(SHA256 "${DIRECTORY}/package-lock.json" wanted)
set(mark "${DIRECTORY}/node_modules/.installed")
set(installed "")
if(EXISTS "${mark}")
  file(READ "${mark}" installed)
endif()
if(NOT installed STREQUAL wanted)
  execute_process(COMMAND "${NPM}" ci --ignore-scripts --no-audit --no-fund --loglevel=error
    WORKING_DIRECTORY "${DIRECTORY}" RESULT_VARIABLE failed OUTPUT_VARIABLE log ERROR_VARIABLE log)
  if(failed)
    message(FATAL_ERROR "npm could not install the packages of ${DIRECTORY}/package-lock.json:\n${log}\n"
      "Without a network, copy its node_modules from a machine that has one, or build without the page: -DDTS_PAGE=OFF")
  endif()
endif()
file(WRITE "${mark}" ${wanted})
