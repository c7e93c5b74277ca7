# Warnings are errors in our own code, and only there.
add_library(dts_warnings INTERFACE)
target_compile_options(dts_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror
  # GCC 12 sees overlapping copies inside std::string where "literal" + std::string is inlined (GCC bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
