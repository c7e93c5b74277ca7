# dts_quick_build(TARGET): for what surrounds the decoder. Its speed is not felt, the time to compile it is: most of that
# goes into reading the same few headers again and again, which are compiled once here, and into optimising for speed.
function(dts_quick_build target)
  target_precompile_headers(${target} PRIVATE
    <algorithm> <cstdint> <functional> <map> <memory> <optional> <span> <string> <string_view> <utility> <vector>
    <fmt/format.h> <nlohmann/json.hpp>)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()
