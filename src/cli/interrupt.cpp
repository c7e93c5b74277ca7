#include "cli/interrupt.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace dts::cli {
namespace {

// Handlers may touch lock-free atomics and nothing else of ours.
std::atomic<int> g_signals{0};
std::atomic<int> g_restore_fd{-1};
std::atomic<const char*> g_restore_sequence{nullptr};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<const char*>::is_always_lock_free);

std::atomic<bool> g_resumed{false};

constexpr std::array kTaken = {SIGINT, SIGTERM, SIGTSTP};
std::array<struct sigaction, kTaken.size()> g_before;

void restore_screen() {
  const char* sequence = g_restore_sequence.load();
  const int fd = g_restore_fd.load();
  if (sequence == nullptr || fd < 0) return;
  [[maybe_unused]] const ssize_t written = write(fd, sequence, strlen(sequence));
}

void on_signal(int number) {
  if (number == SIGTSTP) {
    const int saved = errno;
    restore_screen();
    raise(SIGSTOP);  // returns when the process goes on
    g_resumed = true;
    errno = saved;
    return;
  }
  if (g_signals.fetch_add(1) == 0) return;
  restore_screen();
  _exit(kExitInterrupted);
}

}  // namespace

Interrupt::Interrupt() {
  g_signals = 0;
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;  // the loop looks at requested(): no call needs to be cut short
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < kTaken.size(); ++i) sigaction(kTaken[i], &action, &g_before[i]);
}

Interrupt::~Interrupt() {
  for (std::size_t i = 0; i < kTaken.size(); ++i) sigaction(kTaken[i], &g_before[i], nullptr);
}

bool Interrupt::requested() { return g_signals.load() > 0; }

void Interrupt::restore_screen_with(int fd, const char* sequence) {
  g_restore_sequence = nullptr;
  g_restore_fd = fd;
  g_restore_sequence = sequence;
}

bool Interrupt::take_resumed() { return g_resumed.exchange(false); }

}  // namespace dts::cli
