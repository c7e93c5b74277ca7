#include "serve/http/signals.h"

#include <ctime>

namespace dts::serve {

EndSignals::EndSignals() {
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGINT);
  sigaddset(&signals_, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals_, &before_);
}

EndSignals::~EndSignals() { let_through(); }

void EndSignals::let_through() const { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

void EndSignals::wait() const {
  int signal = 0;
  while (sigwait(&signals_, &signal) != 0) {
  }
}

bool EndSignals::wait_for(std::chrono::milliseconds time) const {
  const timespec limit{static_cast<std::time_t>(time.count() / 1000),
                       static_cast<long>(time.count() % 1000) * 1'000'000};
  return sigtimedwait(&signals_, nullptr, &limit) > 0;
}

}  // namespace dts::serve
