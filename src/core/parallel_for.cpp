#include "core/parallel_for.h"

#include <algorithm>
#include <string>
#include <system_error>

#include "dts/error.h"

namespace dts {

ThreadPool::ThreadPool(int threads) {
  try {
    for (int worker = 1; worker < threads; ++worker) workers_.emplace_back([this, worker] { work(worker); });
  } catch (const std::system_error& error) {
    const std::size_t started = workers_.size() + 1;
    join();
    throw Error("-t " + std::to_string(threads) + ": only " + std::to_string(started) +
                " threads could be started: " + error.what());
  }
}

ThreadPool::~ThreadPool() { join(); }

void ThreadPool::join() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run(std::size_t count, int max_threads, Call call, void* context) {
  std::unique_lock lock(mutex_);
  call_ = call;
  context_ = context;
  count_ = count;
  next_ = 0;
  error_ = nullptr;
  helpers_wanted_ = std::min({max_threads, threads(), static_cast<int>(std::min<std::size_t>(count, 1U << 16U))}) - 1;
  for (int i = 0; i < helpers_wanted_; ++i) wake_.notify_one();
  take_tasks(lock, 0);
  done_.wait(lock, [this] { return running_ == 0; });
  helpers_wanted_ = 0;
  if (error_) std::rethrow_exception(error_);
}

void ThreadPool::work(int worker) {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stopping_ || (helpers_wanted_ > 0 && next_ < count_); });
    if (stopping_) return;
    --helpers_wanted_;
    take_tasks(lock, worker);
    if (running_ == 0) done_.notify_one();
  }
}

// Holds the lock on entry, on return and between tasks: a task is a row of logits, far longer than the lock.
void ThreadPool::take_tasks(std::unique_lock<std::mutex>& lock, int worker) {
  while (next_ < count_) {
    const std::size_t index = next_++;
    ++running_;
    lock.unlock();
    std::exception_ptr error;
    try {
      call_(context_, index, worker);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    --running_;
    if (error) {
      if (!error_) error_ = error;
      next_ = count_;
    }
  }
}

}  // namespace dts
