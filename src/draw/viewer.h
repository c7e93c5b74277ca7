// The viewer that draw_html() puts a tree into: web/viewer.html, built into one page.
#pragma once

#include <string_view>

namespace dts::draw {

// HTML in pieces. What goes between them must be escaped for where it goes.
struct ViewerPage {
  std::string_view before_title;    // text of the <title>
  std::string_view before_content;  // elements of the <body>: what is read without scripts
  std::string_view before_tree;     // JSON in a <script>: the tree file
  std::string_view end;
};

// nullptr when the program was built without Node.js (DTS_PAGE).
const ViewerPage* viewer_page();

}  // namespace dts::draw
