#include "engine/native/cpu/step_team.h"

#include <fmt/format.h>

#include <system_error>

#include "dts/error.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace dts::native {
namespace {

inline void breathe() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Until `word` is no longer `old`: awake at first (some ten microseconds), then letting others have the core, then
// asleep.
void await_change(const std::atomic<std::uint32_t>& word, std::uint32_t old, int awake) {
  for (int i = 0; i < awake; ++i) {
    if (word.load(std::memory_order_acquire) != old) return;
    breathe();
  }
  constexpr int kYields = 32;
  for (int i = 0; i < kYields; ++i) {
    if (word.load(std::memory_order_acquire) != old) return;
    std::this_thread::yield();
  }
  word.wait(old, std::memory_order_acquire);
}

constexpr int kAwakeInStep = 2000;
constexpr int kAwakeBetweenSteps = 4000;

}  // namespace

StepTeam::StepTeam(int threads) : threads_(threads) {
  try {
    for (int worker = 1; worker < threads; ++worker) workers_.emplace_back([this, worker] { work(worker); });
  } catch (const std::system_error& error) {
    const std::size_t started = workers_.size() + 1;
    leave();
    throw Error(
        fmt::format("{} is {}: only {} could be started: {}", option_name("threads"), threads, started, error.what()));
  }
}

StepTeam::~StepTeam() { leave(); }

void StepTeam::leave() {
  stopping_ = true;
  step_.fetch_add(1, std::memory_order_release);
  step_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void StepTeam::start(Call call, void* context) {
  if (threads_ == 1) {
    call(context, 0);
    return;
  }
  call_ = call;
  context_ = context;
  step_.fetch_add(1, std::memory_order_release);
  step_.notify_all();
  call(context, 0);
  meet();
}

void StepTeam::work(int worker) {
  std::uint32_t seen = 0;
  for (;;) {
    await_change(step_, seen, kAwakeBetweenSteps);
    ++seen;
    if (stopping_) return;
    call_(context_, worker);
    meet();
  }
}

void StepTeam::meet() {
  const std::uint32_t now = phase_.load(std::memory_order_relaxed);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 < threads_) {
    await_change(phase_, now, kAwakeInStep);
    return;
  }
  arrived_.store(0, std::memory_order_relaxed);
  next_.store(0, std::memory_order_relaxed);
  phase_.store(now + 1, std::memory_order_release);
  phase_.notify_all();
}

}  // namespace dts::native
