// A few threads that share the rows of a step. They sleep between steps.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace dts {

// One caller at a time.
class ThreadPool {
 public:
  // `threads` >= 1 counts the calling thread; 1 starts none.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  // Calls body(index, worker) for every index in [0, count), on at most `max_threads` threads; `worker` in [0,
  // threads()) tells which. Returns when all are done. Rethrows the first exception of a body; which other bodies ran
  // is then open.
  template <typename Body>
  void parallel_for(std::size_t count, int max_threads, Body&& body) {
    using Function = std::remove_reference_t<Body>;
    run(
        count, max_threads,
        [](void* context, std::size_t index, int worker) { (*static_cast<Function*>(context))(index, worker); }, &body);
  }

 private:
  void join();
  using Call = void (*)(void* context, std::size_t index, int worker);

  void run(std::size_t count, int max_threads, Call call, void* context);
  void work(int worker);
  void take_tasks(std::unique_lock<std::mutex>& lock, int worker);

  std::mutex mutex_;  // guards everything below
  std::condition_variable wake_;
  std::condition_variable done_;
  Call call_ = nullptr;
  void* context_ = nullptr;
  std::size_t count_ = 0;
  std::size_t next_ = 0;     // first index nobody has taken
  std::size_t running_ = 0;  // bodies being called
  int helpers_wanted_ = 0;   // workers that may still join
  bool stopping_ = false;
  std::exception_ptr error_;

  std::vector<std::thread> workers_;
};

}  // namespace dts
