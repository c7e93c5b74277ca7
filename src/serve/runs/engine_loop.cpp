#include "serve/runs/engine_loop.h"

#include <utility>

namespace dts::serve {

EngineLoop::EngineLoop(Engine& engine) : engine_(engine), scheduler_(engine), thread_([this] { run(); }) {}

EngineLoop::~EngineLoop() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

JobId EngineLoop::submit(Job job) {
  const JobId id = scheduler_.submit(std::move(job));
  wake();
  return id;
}

void EngineLoop::cancel(JobId id) {
  scheduler_.cancel(id);
  wake();
}

void EngineLoop::post(std::function<void()> task) {
  {
    const std::scoped_lock lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  wake();
}

EngineTimes EngineLoop::times() const {
  const std::scoped_lock lock(mutex_);
  return times_;
}

void EngineLoop::wake() {
  {
    const std::scoped_lock lock(mutex_);
    awake_ = true;
  }
  changed_.notify_one();
}

void EngineLoop::run() {
  std::vector<std::function<void()>> tasks;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      tasks.swap(tasks_);
      awake_ = false;
      if (stopping_ && tasks.empty()) return;
    }
    for (const auto& task : tasks) task();
    tasks.clear();
    const bool worked = scheduler_.step();
    const EngineTimes times = engine_.times();
    std::unique_lock lock(mutex_);
    times_ = times;
    if (!worked) changed_.wait(lock, [this] { return awake_ || stopping_; });
  }
}

}  // namespace dts::serve
