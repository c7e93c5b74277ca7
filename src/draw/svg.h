// The picture that draw_svg() and draw_html() share.
#pragma once

#include <string>

#include "draw/facts.h"
#include "dts/tree_file.h"

namespace dts::draw {

struct SvgOptions {
  bool heading = true;    // question, settings and votes above the tree
  bool decisions = true;  // the table of decisions below it
  bool style = true;      // its own style sheet (styles.h); else that of the page around it
};

// Every segment is a <g class="segment" data-id="ID">.
std::string svg_picture(const TreeDocument& document, const Facts& facts, const SvgOptions& options);

}  // namespace dts::draw
