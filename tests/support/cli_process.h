// Runs the dts program as a user would: arguments in; exit code, output and errors out.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/temporary_directory.h"

namespace dts::test {

struct CliResult {
  int exit_code = -1;  // -1: ended by a signal
  int signal = 0;
  std::string out;
  std::string err;
};

struct CliOptions {
  std::string program = DTS_PROGRAM;
  std::string input = {};        // standard input; a pipe that is closed after it
  std::string output_path = {};  // standard output goes there instead
  bool close_output = false;     // nobody reads standard output
};

class CliProcess {
 public:
  explicit CliProcess(const std::vector<std::string>& arguments, const CliOptions& options = {}) {
    std::array<int, 2> in = make_pipe();
    std::array<int, 2> out = make_pipe();
    std::array<int, 2> err = make_pipe();
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO);
    if (!options.output_path.empty()) {
      posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, options.output_path.c_str(), O_WRONLY, 0);
    }
    std::vector<std::string> all = {options.program};
    all.insert(all.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    argv.reserve(all.size() + 1);
    for (std::string& argument : all) argv.push_back(argument.data());
    argv.push_back(nullptr);
    const int failure = posix_spawnp(&pid_, options.program.c_str(), &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    close(err[1]);
    out_ = out[0];
    err_ = err[0];
    if (options.close_output) close(std::exchange(out_, -1));
    if (failure != 0) throw std::runtime_error("cannot run " + options.program);
    send(in[1], options.input);
    close(in[1]);
  }

  ~CliProcess() {
    if (out_ >= 0) close(out_);
    if (err_ >= 0) close(err_);
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  CliProcess(const CliProcess&) = delete;
  CliProcess& operator=(const CliProcess&) = delete;

  // Blocks until standard error matches `pattern` somewhere. False when it ended without.
  bool wait_for_error(const std::string& pattern) {
    const std::regex regex(pattern);
    while (!std::regex_search(result_.err, regex)) {
      if (!read_some()) return false;
    }
    return true;
  }

  void signal(int number) const { ::kill(pid_, number); }

  CliResult wait() {
    while (read_some()) {
    }
    int status = 0;
    waitpid(std::exchange(pid_, 0), &status, 0);
    if (WIFEXITED(status)) result_.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) result_.signal = WTERMSIG(status);
    return result_;
  }

 private:
  static std::array<int, 2> make_pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    return ends;
  }

  static void send(int fd, const std::string& text) {
    // Inputs are smaller than a pipe's buffer, or the program stops reading: either way this does not block.
    fcntl(fd, F_SETFL, O_NONBLOCK);
    [[maybe_unused]] const ssize_t written = write(fd, text.data(), text.size());
  }

  // Waits for output. False when both streams have ended.
  bool read_some() {
    std::array<pollfd, 2> fds = {{{out_, POLLIN, 0}, {err_, POLLIN, 0}}};
    if (out_ < 0 && err_ < 0) return false;
    if (poll(fds.data(), fds.size(), -1) < 0) return errno == EINTR;
    if (fds[0].revents != 0) take(out_, result_.out);
    if (fds[1].revents != 0) take(err_, result_.err);
    return true;
  }

  static void take(int& fd, std::string& to) {
    std::array<char, 65536> buffer;
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got > 0) {
      to.append(buffer.data(), static_cast<std::size_t>(got));
    } else if (got == 0 || errno != EINTR) {
      close(std::exchange(fd, -1));
    }
  }

  pid_t pid_ = 0;
  int out_ = -1;
  int err_ = -1;
  CliResult result_;
};

inline CliResult run_cli(const std::vector<std::string>& arguments, const CliOptions& options = {}) {
  return CliProcess(arguments, options).wait();
}

}  // namespace dts::test
