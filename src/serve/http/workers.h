// A few threads for what takes too long for those that serve connections: tokenizing a long prompt, writing out a tree.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

namespace dts::serve {

// Any thread. Owners take turns, whoever has many tasks; an owner's are done as they came.
class Workers {
 public:
  explicit Workers(int threads);
  ~Workers() { stop(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // `task` must not throw. After stop() it is dropped.
  void post(std::uint64_t owner, std::function<void()> task);
  // Waits for the tasks under way and drops the others.
  void stop();

 private:
  struct Waiting {
    std::uint64_t owner = 0;
    std::deque<std::function<void()>> tasks;  // never empty
  };

  void run();

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::list<Waiting> waiting_;  // whose turn it is first
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace dts::serve
