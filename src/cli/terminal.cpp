#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "text/ascii.h"

namespace dts::cli {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

// The locale as libc would choose it for characters. Bare machines set none at all and have terminals that speak UTF-8,
// so only a locale that says otherwise counts.
bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string value = text::lower_case(environment(name));
    if (value.empty()) continue;
    return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return true;
}

}  // namespace

TerminalSize Terminal::size() const {
  TerminalSize size;
  winsize window{};
  if (ioctl(fd, TIOCGWINSZ, &window) == 0 && window.ws_col > 0 && window.ws_row > 0) {
    size = {window.ws_col, window.ws_row};
  }
  return size;
}

Terminal detect_terminal(int fd, bool no_colour) {
  Terminal terminal;
  terminal.fd = fd;
  const std::string_view term = environment("TERM");
  terminal.interactive = isatty(fd) != 0 && !term.empty() && term != "dumb";
  terminal.colour = terminal.interactive && !no_colour && environment("NO_COLOR").empty();
  terminal.unicode = locale_is_utf8();
  return terminal;
}

}  // namespace dts::cli
