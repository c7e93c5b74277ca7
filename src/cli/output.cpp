#include "cli/output.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

#include "dts/error.h"
#include "text/display.h"

namespace dts::cli {
namespace {

using namespace text;

// 0, or the errno of the write that failed.
int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

void ignore_broken_pipes() {
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
}

bool write_stdout(std::string_view text) {
  const int failure = write_all(STDOUT_FILENO, text);
  if (failure == EPIPE) return false;
  if (failure != 0) throw Error(std::string("standard output: cannot write: ") + strerror(failure));
  return true;
}

void write_stderr(std::string_view text) { write_all(STDERR_FILENO, text); }

void print_error(std::string_view message) { write_stderr("dts: " + one_line(message) + "\n"); }

void print_note(std::string_view message) { write_stderr("dts: note: " + one_line(message) + "\n"); }

}  // namespace dts::cli
