# Warnings for our own code, and only there. They are errors with the compiler the project is developed with; another one
# may warn of more, which must not keep a user from building.
set(dts_warnings_are_errors OFF)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION MATCHES "^12\\.")
  set(dts_warnings_are_errors ON)
endif()
option(DTS_WARNINGS_AS_ERRORS "Stop at a warning in our own code" ${dts_warnings_are_errors})

add_library(dts_warnings INTERFACE)
set(dts_warning_flags -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
if(DTS_WARNINGS_AS_ERRORS)
  list(APPEND dts_warning_flags -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 sees overlapping copies inside std::string where "literal" + std::string is inlined (GCC bug 105651).
  list(APPEND dts_warning_flags -Wno-restrict)
endif()
target_compile_options(dts_warnings INTERFACE "$<$<COMPILE_LANGUAGE:C,CXX>:${dts_warning_flags}>")  # nvcc has others
if(DTS_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # With sanitizers it sees uninitialised members in its own <regex>.
  target_compile_options(dts_warnings INTERFACE -Wno-error=maybe-uninitialized)
endif()
