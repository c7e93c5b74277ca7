// What the process is connected to: a terminal and its size, or a file or a pipe.
#pragma once

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

}  // namespace dts::cli
