// The characters that trees and bars are made of, in a terminal.
#pragma once

#include <string_view>

namespace dts::text {

struct Glyphs {
  std::string_view horizontal, vertical, tee_down, tee_right, corner;  // a tree's lines
  std::string_view decision, live, finished;  // what a line leads to; none of them is a mark of an answer,
  std::string_view exhausted, retired, cut;   // or like the sign of a wrong one
  std::string_view best;                      // the trajectory that was returned
  std::string_view bar_full, bar_empty;
  std::string_view separator, arrow;
  bool unicode = true;
};

// `unicode`: box drawing and symbols; else plain ASCII.
const Glyphs& glyphs(bool unicode);

}  // namespace dts::text
