#include "serve/http/workers.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "text/display.h"

namespace dts::serve {

Workers::Workers(int threads) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
}

void Workers::post(std::uint64_t owner, std::function<void()> task) {
  {
    const std::scoped_lock lock(mutex_);
    if (stopping_) return;
    auto own = std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& one) { return one.owner == owner; });
    if (own == waiting_.end()) own = waiting_.insert(own, Waiting{owner, {}});
    own->tasks.push_back(std::move(task));
  }
  changed_.notify_one();
}

void Workers::stop() {
  std::list<Waiting> dropped;  // freed when the lock is no longer held
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    dropped.swap(waiting_);
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
      changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
      if (stopping_) return;
      Waiting& turn = waiting_.front();
      task = std::move(turn.tasks.front());
      turn.tasks.pop_front();
      if (turn.tasks.empty()) {
        waiting_.pop_front();
      } else {
        waiting_.splice(waiting_.end(), waiting_, waiting_.begin());
      }
    }
    try {
      task();
    } catch (const std::exception& error) {
      spdlog::error("a worker failed: {}", text::one_line(error.what()));
    }
  }
}

}  // namespace dts::serve
