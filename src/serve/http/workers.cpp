#include "serve/http/workers.h"

#include <spdlog/spdlog.h>

#include <exception>
#include <utility>

#include "text/display.h"

namespace dts::serve {

Workers::Workers(int threads) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
}

void Workers::post(std::function<void()> task) {
  {
    const std::scoped_lock lock(mutex_);
    if (stopping_) return;
    tasks_.push_back(std::move(task));
  }
  changed_.notify_one();
}

void Workers::stop() {
  std::deque<std::function<void()>> dropped;  // freed when the lock is no longer held
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    dropped.swap(tasks_);
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void Workers::run() {
  while (true) {
    std::function<void()> task;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
      if (stopping_) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    try {
      task();
    } catch (const std::exception& error) {
      spdlog::error("a worker failed: {}", text::one_line(error.what()));
    }
  }
}

}  // namespace dts::serve
