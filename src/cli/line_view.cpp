// Plain progress lines on standard error, for pipes, files and terminals that cannot move a cursor.
#include <fmt/format.h>

#include <chrono>

#include "cli/output.h"
#include "cli/view.h"
#include "text/display.h"
#include "text/numbers.h"

namespace dts::cli {
namespace {

using namespace text;

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kInterval{2};

class SilentView : public View {
 public:
  void prefilling(int /*done*/, int /*total*/) override {}
  void stepped(const Snapshotter& /*search*/) override {}
  void stopping() override {}
  void close() override {}
};

class LineView : public View {
 public:
  explicit LineView(const FrameTitle& title) {
    line(fmt::format("{}: {}, {}, {}", title.model, title.method, title.settings, title.sampling));
  }

  void prefilling(int done, int total) override {
    if (!due()) return;
    line(fmt::format("prompt {} of {} tokens", grouped(done), grouped(total)));
  }

  void stepped(const Snapshotter& search) override {
    if (stepped_ && !due()) return;
    stepped_ = true;
    const Snapshot s = search.take();
    std::string leading;
    if (!s.votes.empty())
      leading = fmt::format(", leading {} ({})", shorten(s.votes.front().answer, 24), s.votes.front().votes);
    line(fmt::format("step {}: {} live, {} finished, {}, {}{}", grouped(s.step), s.live, s.finished,
                     counted(s.account.branch_events, "decision"), counted(s.account.unique_tokens, "token"), leading));
  }

  void stopping() override { line("stopping: the answer so far follows"); }
  void close() override {}

 private:
  bool due() const { return Clock::now() - last_ >= kInterval; }

  void line(const std::string& text) {
    write_stderr("dts: " + text + "\n");
    last_ = Clock::now();
  }

  Clock::time_point last_ = Clock::now();
  bool stepped_ = false;  // the first step is told at once: decoding has begun
};

}  // namespace

std::unique_ptr<View> make_silent_view() { return std::make_unique<SilentView>(); }
std::unique_ptr<View> make_line_view(const FrameTitle& title) { return std::make_unique<LineView>(title); }

}  // namespace dts::cli
