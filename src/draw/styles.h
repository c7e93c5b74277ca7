// Style sheets as they stand in their files.
#pragma once

#include <string_view>

namespace dts::draw {

extern const std::string_view kSvgStyle;  // src/draw/svg.css: of an SVG picture

}  // namespace dts::draw
