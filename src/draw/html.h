// The page that draw_html() makes.
#pragma once

#include <string>

#include "draw/viewer.h"
#include "dts/tree_file.h"

namespace dts::draw {

// With this viewer; without one (nullptr) the tree as a document.
std::string html_page(const TreeDocument& document, const ViewerPage* viewer);

}  // namespace dts::draw
