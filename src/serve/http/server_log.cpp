#include "serve/http/server_log.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <poll.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace dts::serve {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLook{100};  // how often a writer that waits for its reader looks up
constexpr std::chrono::seconds kLastWords{1};

std::string dropped_note(std::uint64_t lines) {
  const auto now = std::chrono::system_clock::now();
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03} warning {} lines of the log were dropped: nobody read them\n",
                     fmt::localtime(std::chrono::system_clock::to_time_t(now)), milliseconds, lines);
}

// A line; of one that is longer than `most` the beginning, and how much is missing.
std::string cut(std::string_view line, std::size_t most) {
  if (line.size() <= most) return std::string(line);
  constexpr std::size_t kMark = 48;  // bytes, at most
  std::size_t kept = most > kMark ? most - kMark : 0;
  while (kept > 0 && (static_cast<unsigned char>(line[kept]) & 0xC0U) == 0x80U) --kept;  // whole characters
  return fmt::format("{}... ({} bytes more)\n", line.substr(0, kept), line.size() - 1 - kept);
}

class LinesSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit LinesSink(int fd) : lines_(fd), colours_(isatty(fd) != 0) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t text;
    formatter_->format(message, text);
    const std::string_view line(text.data(), text.size());
    if (!colours_ || message.color_range_end <= message.color_range_start) {
      lines_.add(line);
      return;
    }
    const char* colour = message.level >= spdlog::level::err    ? "\033[31m\033[1m"
                         : message.level == spdlog::level::warn ? "\033[33m\033[1m"
                                                                : "\033[32m";
    const std::size_t begin = message.color_range_start, end = message.color_range_end;
    lines_.add(fmt::format("{}{}{}\033[m{}", line.substr(0, begin), colour, line.substr(begin, end - begin),
                           line.substr(end)));
  }
  void flush_() override {}

 private:
  LogLines lines_;
  bool colours_;
};

}  // namespace

struct LogLines::State {
  int fd = -1;
  std::size_t most_bytes = 0;
  std::mutex mutex;  // guards what follows
  std::condition_variable changed;
  std::deque<std::string> lines;
  std::size_t bytes = 0;      // of those
  std::uint64_t dropped = 0;  // since the last line that was kept
  bool ending = false;
  bool ended = false;      // the thread has left
  Clock::time_point last;  // until which it may write, once it is ending

  void keep(std::string line) {
    bytes += line.size();
    lines.push_back(std::move(line));
  }
  void tell_dropped() {
    if (dropped > 0) keep(dropped_note(std::exchange(dropped, 0)));
  }
  bool late() {
    const std::scoped_lock lock(mutex);
    return ending && Clock::now() >= last;
  }
  // What is written at once: a pipe that has room at all has room for as much. Empty: it is over.
  std::string next() {
    std::unique_lock lock(mutex);
    if (lines.empty()) tell_dropped();
    changed.wait(lock, [&] { return ending || !lines.empty(); });
    std::string text;
    while (!lines.empty() && (text.empty() || text.size() + lines.front().size() <= PIPE_BUF)) {
      text += lines.front();
      bytes -= lines.front().size();
      lines.pop_front();
    }
    return text;
  }
};

void LogLines::write(State& state) {
  for (std::string text = state.next(); !text.empty(); text = state.next()) {
    std::string_view rest = text;
    while (!rest.empty() && !state.late()) {
      pollfd ready{state.fd, POLLOUT, 0};
      if (poll(&ready, 1, static_cast<int>(kLook.count())) <= 0) continue;
      const ssize_t n = ::write(state.fd, rest.data(), std::min<std::size_t>(rest.size(), PIPE_BUF));
      // A reader that has gone for good, or a disk that is full: these are lost, the next ones may not be.
      if (n < 0 && errno != EINTR && errno != EAGAIN) break;
      if (n > 0) rest.remove_prefix(static_cast<std::size_t>(n));
    }
  }
}

LogLines::LogLines(int fd, std::size_t most_bytes) : state_(std::make_shared<State>()) {
  state_->fd = fd;
  state_->most_bytes = most_bytes;
  std::thread([state = state_] {
    write(*state);
    const std::scoped_lock lock(state->mutex);
    state->ended = true;
    state->changed.notify_all();
  }).detach();
}

LogLines::~LogLines() {
  std::unique_lock lock(state_->mutex);
  state_->tell_dropped();
  state_->ending = true;
  state_->last = Clock::now() + kLastWords;
  state_->changed.notify_all();
  state_->changed.wait_until(lock, state_->last + 2 * kLook, [&] { return state_->ended; });
}

void LogLines::add(std::string_view line) {
  // Once what was before it has been read any line has room.
  std::string text = cut(line, state_->most_bytes / 2);
  const std::scoped_lock lock(state_->mutex);
  // Who has begun to drop goes on until half of it has been read: else every other line would tell of one.
  const std::size_t most = state_->dropped > 0 ? state_->most_bytes / 2 : state_->most_bytes;
  if (state_->bytes + text.size() > most) {
    ++state_->dropped;
    return;
  }
  state_->tell_dropped();
  state_->keep(std::move(text));
  state_->changed.notify_all();
}

void start_log(int fd) {
  spdlog::set_default_logger(std::make_shared<spdlog::logger>("dts", std::make_shared<LinesSink>(fd)));
  spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%e %^%l%$ %v");
}

}  // namespace dts::serve
