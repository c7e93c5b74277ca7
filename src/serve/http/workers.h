// A few threads for what takes too long for those that serve connections: tokenizing a long prompt, writing out a tree.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace dts::serve {

// Any thread. First come, first served.
class Workers {
 public:
  explicit Workers(int threads);
  ~Workers() { stop(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // `task` must not throw. After stop() it is dropped.
  void post(std::function<void()> task);
  // Waits for the tasks under way and drops the others.
  void stop();

 private:
  void run();

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace dts::serve
