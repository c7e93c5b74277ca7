#include "serve/runs/engine_loop.h"

#include <spdlog/spdlog.h>

#include <exception>
#include <iterator>
#include <utility>

#include "text/display.h"

namespace dts::serve {

EngineLoop::EngineLoop(Engine& engine, const SchedulerOptions& options)
    : engine_(engine), scheduler_(engine, options), thread_([this] { run(); }) {}

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
      std::move(tasks_.begin(), tasks_.end(), std::back_inserter(tasks));
      tasks_.clear();
      awake_ = false;
      if (stopping_ && tasks.empty()) return;
    }
    // Searches keep their failures to themselves; what is left is want of memory between them.
    bool worked = true;
    try {
      for (auto& task : tasks) {
        if (task) std::exchange(task, nullptr)();
      }
      worked = scheduler_.step();
    } catch (const std::exception& error) {
      spdlog::error("the engine's thread failed: {}", text::one_line(error.what()));
    }
    std::erase_if(tasks, [](const auto& task) { return !task; });
    const EngineTimes times = engine_.times();
    std::unique_lock lock(mutex_);
    times_ = times;
    if (!worked) changed_.wait(lock, [this] { return awake_ || stopping_; });
  }
}

}  // namespace dts::serve
