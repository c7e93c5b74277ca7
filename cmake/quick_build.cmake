# What keeps a build short. Most of the time goes into reading the same few headers again and again.

# dts_quick_headers(TARGET): those headers are compiled once.
function(dts_quick_headers target)
  target_precompile_headers(${target} PRIVATE
    <algorithm> <cstdint> <functional> <map> <memory> <optional> <span> <string> <string_view> <utility> <vector>
    <fmt/format.h> <nlohmann/json.hpp>)
endfunction()

# dts_quick_build(TARGET): and it is not optimised for speed. For what never runs on the engine's thread.
function(dts_quick_build target)
  dts_quick_headers(${target})
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# dts_together(TARGET [AT_ONCE n] [ALONE source...]): its sources are compiled twelve, or n, at a time, so that what they
# include is read once.
# Those that have names of their own in common with others stay alone. Not for tools that want one command a file
# (clang-tidy, clangd): -DDTS_TOGETHER=OFF.
option(DTS_TOGETHER "Compile several sources at a time" ON)
function(dts_together target)
  cmake_parse_arguments(SOURCES "" "AT_ONCE" "ALONE" ${ARGN})
  if(NOT SOURCES_AT_ONCE)
    set(SOURCES_AT_ONCE 12)
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${DTS_TOGETHER} UNITY_BUILD_BATCH_SIZE ${SOURCES_AT_ONCE})
  set_source_files_properties(${SOURCES_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
