// The engine's own thread: it steps the scheduler while there is work, and sleeps while there is none.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "dts/scheduler.h"

namespace dts::serve {

class EngineLoop {
 public:
  // `engine` must outlive it, and is used by no other thread meanwhile.
  explicit EngineLoop(Engine& engine, const SchedulerOptions& options = {});
  // Tasks that have not run yet run; searches that have not ended are dropped without a word: cancel them before.
  ~EngineLoop();
  EngineLoop(const EngineLoop&) = delete;
  EngineLoop& operator=(const EngineLoop&) = delete;

  // Any thread. As the scheduler's.
  JobId submit(Job job);
  void cancel(JobId id);

  // Any thread: runs `task` on the engine's thread, between two steps. What it throws is logged.
  void post(std::function<void()> task);

  // Seconds the engine has been busy, as of the last step. Any thread.
  EngineTimes times() const;

 private:
  void run();
  void wake();

  Engine& engine_;
  Scheduler scheduler_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::vector<std::function<void()>> tasks_;
  bool awake_ = false;
  bool stopping_ = false;
  EngineTimes times_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace dts::serve
