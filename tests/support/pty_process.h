// The dts program at a terminal, as a person has it: keys in, the screen out.
#pragma once

#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace dts::test {

class PtyProcess {
 public:
  explicit PtyProcess(const std::vector<std::string>& arguments) {
    winsize size{.ws_row = 40, .ws_col = 100, .ws_xpixel = 0, .ws_ypixel = 0};
    std::vector<std::string> all = {DTS_PROGRAM};
    all.insert(all.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& argument : all) argv.push_back(argument.data());
    argv.push_back(nullptr);
    pid_ = forkpty(&terminal_, nullptr, nullptr, &size);
    if (pid_ < 0) throw std::runtime_error("no terminal");
    if (pid_ == 0) {
      setenv("TERM", "xterm", 1);
      execv(DTS_PROGRAM, argv.data());
      _exit(127);
    }
  }
  ~PtyProcess() {
    close(terminal_);
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  PtyProcess(const PtyProcess&) = delete;
  PtyProcess& operator=(const PtyProcess&) = delete;

  void type(const std::string& keys) const {
    [[maybe_unused]] const ssize_t written = write(terminal_, keys.data(), keys.size());
  }

  // Blocks until `text` has come since the last thing that was waited for. False: the program ended without.
  bool wait_for(const std::string& text) {
    std::size_t found = screen_.find(text, seen_);
    while (found == std::string::npos) {
      if (!read_some()) return false;
      found = screen_.find(text, seen_);
    }
    seen_ = found + text.size();
    return true;
  }

  // Its exit code; -1: ended by a signal.
  int wait() {
    while (read_some()) {
    }
    // One that has let go of its terminal ends; one that waits for a key never would.
    if (pollfd open{terminal_, 0, 0}; poll(&open, 1, 0) == 0) kill(pid_, SIGKILL);
    int status = 0;
    waitpid(std::exchange(pid_, 0), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  const std::string& screen() const { return screen_; }

 private:
  static constexpr int kPatience = 60'000;  // ms without a word; then a test fails and shows the screen

  bool read_some() {
    std::array<char, 4096> buffer;
    pollfd ready{terminal_, POLLIN, 0};
    if (poll(&ready, 1, kPatience) <= 0) return false;
    const ssize_t got = read(terminal_, buffer.data(), buffer.size());
    if (got <= 0) return false;
    screen_.append(buffer.data(), static_cast<std::size_t>(got));
    return true;
  }

  pid_t pid_ = 0;
  int terminal_ = -1;
  std::string screen_;
  std::size_t seen_ = 0;
};

}  // namespace dts::test
