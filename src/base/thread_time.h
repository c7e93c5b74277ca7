// How long this thread has worked: what others do on the machine does not count.
#pragma once

#include <ctime>

namespace dts {

// Seconds of processor time.
inline double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace dts
