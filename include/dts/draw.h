// Pictures of a tree, for people. Everything a model wrote is escaped: no picture can do anything but be looked at.
#pragma once

#include <string>

#include "dts/tree_file.h"

namespace dts {

struct TextDrawingOptions {
  int width = 100;      // cells, at least 60
  bool colour = false;  // SGR sequences
  bool unicode = true;  // box drawing; else plain ASCII lines
};

// For a terminal: one line a segment, below it its children; then the votes and the account.
std::string draw_text(const TreeDocument& document, const TextDrawingOptions& options = {});

// For Graphviz.
std::string draw_dot(const TreeDocument& document);

// A picture that stands alone, in light or dark as its viewer prefers: positions from left to right, one row a
// trajectory, child 0 of a decision going on in its parent's row.
std::string draw_svg(const TreeDocument& document);

// A page that stands alone: the viewer of `dts serve` with this tree in it, and the tree as a document, which shows
// where no script runs: the SVG, the text of every segment, the candidates of every decision, all finished
// trajectories, votes, settings and account. Only the document where dts was built without Node.js. Needs no network.
// Cost: 0.15 MB, and about 70 bytes a token.
std::string draw_html(const TreeDocument& document);

}  // namespace dts
