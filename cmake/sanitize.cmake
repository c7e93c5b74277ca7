# Sanitizers for our own code; llama.cpp stays as it is, so every preset shares one build of it.
set(DTS_SANITIZE "" CACHE STRING "Sanitizers to compile with, as for -fsanitize=: address,undefined or thread")
if(DTS_SANITIZE)
  set(dts_sanitize_flags -fsanitize=${DTS_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_compile_options(${dts_sanitize_flags})
  add_link_options(${dts_sanitize_flags})
endif()
