# DTS_PORTABLE: programs find their libraries by their own place, and nowhere else: PATHS are relative to the target's
# folder, in the build tree as in a package.
function(dts_portable_paths target)
  if(NOT DTS_PORTABLE)
    return()
  endif()
  list(TRANSFORM ARGN PREPEND "$ORIGIN/" OUTPUT_VARIABLE paths)
  set_target_properties(${target} PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "${paths}")
  # The older kind of run path, which is also where the libraries' own libraries are looked for.
  target_link_options(${target} PRIVATE -Wl,--disable-new-dtags)
endfunction()

# In the build tree llama.cpp's libraries are in its cache.
if(DTS_PORTABLE)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
  file(CREATE_LINK ${DTS_LLAMA_PREFIX}/lib ${PROJECT_BINARY_DIR}/lib/dts SYMBOLIC)
endif()
