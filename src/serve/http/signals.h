// Signals that ask the server to end, taken one by one instead of interrupting anything.
#pragma once

#include <chrono>
#include <csignal>

namespace dts::serve {

// Blocks SIGINT and SIGTERM for this thread and those it starts from now on: make it before them.
class EndSignals {
 public:
  EndSignals();
  ~EndSignals();
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

  void wait() const;
  // Whether one came within that time; it is taken.
  bool wait_for(std::chrono::milliseconds time) const;
  // From now on another one does what it does to any program, whatever still has to be waited for.
  void let_through() const;

 private:
  sigset_t signals_;
  sigset_t before_;
};

}  // namespace dts::serve
