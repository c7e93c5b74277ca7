# cmake -DNPM=npm -DWEB=web -P install.cmake: the packages of WEB/package-lock.json in WEB/node_modules.
# WEB/node_modules/.installed holds the digest of the lock file they were installed from.
file(LOCK "${WEB}/.lock" GUARD PROCESS)  # another build directory may be at it
file(SHA256 "${WEB}/package-lock.json" wanted)
set(mark "${WEB}/node_modules/.installed")
set(installed "")
if(EXISTS "${mark}")
  file(READ "${mark}" installed)
endif()
if(NOT installed STREQUAL wanted)
  execute_process(COMMAND "${NPM}" ci --ignore-scripts --no-audit --no-fund --loglevel=error
    WORKING_DIRECTORY "${WEB}" RESULT_VARIABLE failed OUTPUT_VARIABLE log ERROR_VARIABLE log)
  if(failed)
    message(FATAL_ERROR "npm could not install the page's libraries (web/package-lock.json):\n${log}\n"
      "Without a network, copy web/node_modules from a machine that has one; or build without the page: -DDTS_PAGE=OFF")
  endif()
endif()
file(WRITE "${mark}" ${wanted})
