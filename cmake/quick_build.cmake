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
