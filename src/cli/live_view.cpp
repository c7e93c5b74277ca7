// The live picture. A thread of its own paints it, so that neither drawing nor a slow terminal holds up decoding; the
// decoding thread only hands over a snapshot when the painter has asked for one.
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "cli/interrupt.h"
#include "cli/view.h"
#include "text/glyphs.h"
#include "text/style.h"

namespace dts::cli {
namespace {

using namespace text;

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kFrame{80};
// Whatever is over sooner than this is better told at its end than in a flicker.
constexpr std::chrono::milliseconds kPatience{250};
constexpr std::chrono::seconds kRateWindow{3};

// The alternate screen, without cursor and line wrap; and back.
constexpr const char* kEnter = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
constexpr const char* kLeave = "\x1b[?7h\x1b[?25h\x1b[?1049l";
// Terminals that know it show a frame at once instead of line by line.
constexpr const char* kFrameBegin = "\x1b[?2026h";
constexpr const char* kFrameEnd = "\x1b[?2026l";

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

class LiveView : public View {
 public:
  LiveView(FrameTitle title, const Terminal& terminal)
      : title_(std::move(title)), terminal_(terminal), painter_([this] { paint_loop(); }) {}

  ~LiveView() override { close(); }

  void prefilling(int done, int total) override {
    const std::lock_guard lock(mutex_);
    state_.prefilled = done;
    state_.prompt = total;
  }

  void stepped(const Snapshotter& search) override {
    if (!wanted_.load(std::memory_order_acquire)) return;
    Snapshot snapshot = search.take();
    const std::lock_guard lock(mutex_);
    state_.decoding = true;
    state_.snapshot = std::move(snapshot);
    wanted_.store(false, std::memory_order_release);
  }

  void stopping() override {
    const std::lock_guard lock(mutex_);
    state_.stopping = true;
  }

  void close() override {
    if (!painter_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    changed_.notify_all();
    painter_.join();
  }

 private:
  void paint_loop() {
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, kPatience, [this] { return closing_; })) return;
    enter();
    while (!closing_) {
      FrameState state = state_;
      lock.unlock();
      wanted_.store(true, std::memory_order_release);
      state.elapsed = since(start_);
      state.rate = rate(state);
      paint(state);
      lock.lock();
      changed_.wait_for(lock, kFrame, [this] { return closing_; });
    }
    lock.unlock();
    send(kLeave);
    Interrupt::restore_screen_with(-1, nullptr);
  }

  void enter() {
    Interrupt::restore_screen_with(terminal_.fd, kLeave);
    send(kEnter);
    painted_.clear();
  }

  // Unique tokens a second over the last few seconds.
  double rate(const FrameState& state) {
    if (!state.decoding) return 0;
    const auto now = Clock::now();
    history_.push_back({now, state.snapshot.account.unique_tokens});
    while (history_.size() > 2 && now - history_.front().when > kRateWindow) history_.pop_front();
    const double span = std::chrono::duration<double>(now - history_.front().when).count();
    return span > 0 ? static_cast<double>(history_.back().tokens - history_.front().tokens) / span : 0;
  }

  // Sends the lines that differ from those already on the screen.
  void paint(const FrameState& state) {
    if (Interrupt::take_resumed()) enter();
    const TerminalSize size = terminal_.size();
    std::string out = kFrameBegin;
    if (size.columns != size_.columns || size.rows != size_.rows) {
      out += "\x1b[2J";
      painted_.clear();
      size_ = size;
    }
    std::vector<std::string> lines;
    for (const StyledLine& line : compose_frame(title_, state, size, glyphs(terminal_.unicode))) {
      lines.push_back(line.render(terminal_.colour, size.columns));
    }
    lines.resize(static_cast<std::size_t>(size.rows));
    painted_.resize(lines.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (lines[i] != painted_[i]) out += fmt::format("\x1b[{};1H{}\x1b[K", i + 1, lines[i]);
    }
    painted_ = std::move(lines);
    send(out + kFrameEnd);
  }

  void send(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t written = write(terminal_.fd, text.data(), text.size());
      if (written <= 0) return;  // a terminal that has gone: the run itself goes on
      text.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  const FrameTitle title_;
  const Terminal terminal_;
  const Clock::time_point start_ = Clock::now();
  std::atomic<bool> wanted_{true};  // the painter would like a new snapshot

  std::mutex mutex_;  // guards state_, closing_
  std::condition_variable changed_;
  FrameState state_;
  bool closing_ = false;

  // The painter's own.
  struct Sample {
    Clock::time_point when;
    std::int64_t tokens;
  };
  std::deque<Sample> history_;
  std::vector<std::string> painted_;  // what is on the screen, a line each
  TerminalSize size_{0, 0};

  std::thread painter_;  // last: it uses all of the above
};

}  // namespace

std::unique_ptr<View> make_live_view(const FrameTitle& title, const Terminal& terminal) {
  return std::make_unique<LiveView>(title, terminal);
}

}  // namespace dts::cli
