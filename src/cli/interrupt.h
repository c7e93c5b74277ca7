// Ctrl-C: the first one asks for the best answer so far, the second one quits at once.
#pragma once

namespace dts::cli {

// Takes over SIGINT and SIGTERM (and Ctrl-Z, SIGTSTP, for the screen's sake) until it is destroyed. One at a time.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  // Whether a first signal has come. Any thread.
  static bool requested();

  // While the screen is taken over: what to write to `fd` before the process quits at once or is suspended, so that the
  // shell gets its screen back. A string literal, or null for nothing.
  static void restore_screen_with(int fd, const char* sequence);

  // True once after the process was suspended and went on: the screen has to be taken over anew.
  static bool take_resumed();
};

// The exit code of a second Ctrl-C, as shells know it.
inline constexpr int kExitInterrupted = 130;

}  // namespace dts::cli
