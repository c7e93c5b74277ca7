// How a download goes, on standard error: one line that is repainted, or in a file or pipe a line now and then.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "cli/terminal.h"
#include "hub/hub.h"

namespace dts::cli {

// "model.gguf  43%  480.0 MiB of 1.1 GiB  12.3 MiB/s  52 s left"; the rate in bytes per second, 0: not known yet.
std::string download_text(const hub::HubProgress& progress, double rate);

class DownloadLine {
 public:
  DownloadLine(const Terminal& terminal, bool shown) : terminal_(terminal), shown_(shown) {}
  ~DownloadLine() { clear(); }
  DownloadLine(const DownloadLine&) = delete;
  DownloadLine& operator=(const DownloadLine&) = delete;

  void show(const hub::HubProgress& progress);
  // Makes room for another line.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  Terminal terminal_;
  bool shown_;
  bool painted_ = false;
  bool begun_ = false;
  int tenths_ = 0;  // of the whole that were said, where lines stay
  Clock::time_point painted_at_;
  // The rate: of the last seconds, so that what was there before does not count.
  Clock::time_point since_;
  std::int64_t since_bytes_ = 0;
  std::int64_t last_bytes_ = 0;
  double rate_ = 0;  // bytes per second
};

}  // namespace dts::cli
