// What the process is connected to: a terminal and its size, or a file or a pipe.
#pragma once

#include <string_view>

namespace dts::cli {

struct TerminalSize {
  int columns = 80;
  int rows = 24;
};

// What can be shown on one file descriptor.
struct Terminal {
  int fd = 2;
  bool interactive = false;  // a terminal that understands cursor movement
  bool colour = false;
  bool unicode = true;  // box drawing and bars; else plain ASCII

  // Asks the terminal, so that a resize shows at the next repaint; 80 x 24 when it does not say.
  TerminalSize size() const;
};

// `no_colour` is --no-color; the environment's NO_COLOR, TERM and locale are heeded as well.
Terminal detect_terminal(int fd, bool no_colour);

// The characters pictures are made of.
struct Glyphs {
  std::string_view horizontal, vertical, tee_down, tee_right, corner;  // the tree's lines
  std::string_view live, finished, exhausted, cut;                     // the ends of trajectories
  std::string_view bar_full, bar_empty;
  std::string_view separator, arrow;
};
const Glyphs& glyphs(bool unicode);

}  // namespace dts::cli
