# Warnings are errors in our own code, and only there.
add_library(dts_warnings INTERFACE)
target_compile_options(dts_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror)
