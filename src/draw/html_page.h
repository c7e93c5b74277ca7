// The fixed parts of the page that draw_html() makes.
#pragma once

#include <string_view>

namespace dts::draw {

extern const std::string_view kPageStyle;   // CSS
extern const std::string_view kPageScript;  // JavaScript; reads the element #tree-data

}  // namespace dts::draw
