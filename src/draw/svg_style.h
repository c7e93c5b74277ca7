// The colours of the SVG, light and dark.
#pragma once

#include <string>

namespace dts::draw {

// The contents of a <style> element. Plain rules, no variables: more viewers than browsers read SVG.
std::string svg_style();

}  // namespace dts::draw
