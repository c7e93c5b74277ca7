// The threads of one engine, and the phases that they go through together.
//
// A step is a few hundred phases of some microseconds: within a step threads wait for each other awake, and only when
// that takes long do they give the core away. Between steps they stay awake for a moment, because a small model's next
// step comes at once, and then sleep.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <type_traits>
#include <vector>

namespace dts::native {

// One caller at a time.
class StepTeam {
 public:
  // `threads` >= 1 counts the calling one. Throws dts::Error when they cannot be started.
  explicit StepTeam(int threads);
  ~StepTeam();
  StepTeam(const StepTeam&) = delete;
  StepTeam& operator=(const StepTeam&) = delete;

  int threads() const { return threads_; }

  // Calls script(worker) on every thread, `worker` in [0, threads()), the caller's being 0; returns when all have. A
  // script must not throw, and all of them go through the same phases.
  template <typename Script>
  void run(Script&& script) {
    using Function = std::remove_reference_t<Script>;
    start([](void* context, int worker) { (*static_cast<Function*>(context))(worker); }, &script);
  }

  // Within a script: calls body(index) for every index in [0, count), each on one thread or another, and returns when
  // all are done on all threads.
  template <typename Body>
  void phase(std::size_t count, Body&& body) {
    if (threads_ == 1) {
      for (std::size_t index = 0; index < count; ++index) body(index);
      return;
    }
    for (;;) {
      const std::size_t index = next_.fetch_add(1, std::memory_order_relaxed);
      if (index >= count) break;
      body(index);
    }
    meet();
  }

 private:
  using Call = void (*)(void* context, int worker);

  void start(Call call, void* context);
  void work(int worker);
  void meet();
  void leave();

  int threads_;
  Call call_ = nullptr;
  void* context_ = nullptr;
  std::atomic<std::size_t> next_ = 0;  // first index of this phase that nobody has taken
  std::atomic<int> arrived_ = 0;       // threads that are done with this phase
  std::atomic<std::uint32_t> phase_ = 0;
  std::atomic<std::uint32_t> step_ = 0;
  std::atomic<bool> stopping_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace dts::native
