#include "cli/download_line.h"

#include <fmt/format.h>

#include <utility>

#include "cli/output.h"
#include "text/display.h"
#include "text/numbers.h"

namespace dts::cli {
namespace {

constexpr double kRepaintSeconds = 0.2;
constexpr double kRateSeconds = 2;  // over which the rate is taken

}  // namespace

std::string download_text(const hub::HubProgress& progress, double rate) {
  const auto percent = progress.total > 0 ? 100 * progress.done / progress.total : 0;
  std::string text = text::one_line(progress.file.substr(progress.file.rfind('/') + 1));
  if (progress.parts > 1) text += fmt::format(" ({} of {})", progress.part, progress.parts);
  text +=
      fmt::format("  {}%  {} of {}", percent, text::binary_bytes(progress.done), text::binary_bytes(progress.total));
  if (rate > 0) {
    text += fmt::format("  {}/s  {} left", text::binary_bytes(static_cast<std::int64_t>(rate)),
                        text::seconds(static_cast<double>(progress.total - progress.done) / rate));
  }
  return text;
}

void DownloadLine::show(const hub::HubProgress& progress) {
  if (!shown_) return;
  const Clock::time_point now = Clock::now();
  // Bytes that were here already come at once, and a server that begins anew goes back: neither is a rate.
  const bool jumped = progress.done < last_bytes_;
  if (!begun_ || jumped) {
    begun_ = true;
    since_ = now;
    since_bytes_ = progress.done;
    tenths_ = progress.total > 0 ? static_cast<int>(10 * progress.done / progress.total) : 0;
  }
  last_bytes_ = progress.done;
  const double passed = std::chrono::duration<double>(now - since_).count();
  if (passed >= kRateSeconds) {
    const double latest = static_cast<double>(progress.done - since_bytes_) / passed;
    rate_ = rate_ > 0 ? 0.5 * rate_ + 0.5 * latest : latest;
    since_ = now;
    since_bytes_ = progress.done;
  }
  if (terminal_.interactive) {
    if (painted_ && std::chrono::duration<double>(now - painted_at_).count() < kRepaintSeconds) return;
    painted_ = true;
    painted_at_ = now;
    write_stderr(
        fmt::format("\r{}\x1b[K", text::shorten(download_text(progress, rate_), terminal_.size().columns - 1)));
    return;
  }
  const int tenths = progress.total > 0 ? static_cast<int>(10 * progress.done / progress.total) : 0;
  if (tenths <= tenths_) return;
  tenths_ = tenths;
  write_stderr(download_text(progress, rate_) + "\n");
}

void DownloadLine::clear() {
  if (std::exchange(painted_, false)) write_stderr("\r\x1b[K");
}

}  // namespace dts::cli
