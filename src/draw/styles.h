// Style sheets as they stand in their files.
#pragma once

#include <string_view>

namespace dts::draw {

extern const std::string_view kSvgStyle;    // src/draw/svg.css: of an SVG picture
extern const std::string_view kPlainStyle;  // web/src/style/colours.css and plain.css: of a document (plain_html.h)

}  // namespace dts::draw
