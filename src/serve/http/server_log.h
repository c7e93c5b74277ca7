// The log, written by a thread of its own: a reader that stops to read it holds nobody up.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

namespace dts::serve {

// Lines on their way to a file descriptor. Any thread.
class LogLines {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{256} << 10U;

  // Starts the thread. `fd` is not closed. At most `most_bytes` wait.
  explicit LogLines(int fd, std::size_t most_bytes = kMostBytes);
  // Whoever reads has a second to take what still waits; the rest is lost.
  ~LogLines();
  LogLines(const LogLines&) = delete;
  LogLines& operator=(const LogLines&) = delete;

  // `line` has its end; of one that is longer than half of what may wait the beginning is kept. Never waits for the
  // reader: when too much waits already the line is dropped, and a later line says how many were.
  void add(std::string_view line);

 private:
  struct State;
  static void write(State& state);

  std::shared_ptr<State> state_;  // the thread's as well, which may outlive this in a write that never returns
};

// From now on what is logged goes to `fd` as LogLines; in colour where that is a terminal.
void start_log(int fd);

}  // namespace dts::serve
