// The runs there are and the last ones there were, for whoever asks for their trees.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "serve/runs/run.h"

namespace dts::serve {

// Any thread.
class RunStore {
 public:
  // Of runs that are done, the latest `most_runs` are kept, as long as they take at most `most_bytes` together.
  RunStore(std::size_t most_runs, std::size_t most_bytes) : most_runs_(most_runs), most_bytes_(most_bytes) {}

  void add(std::shared_ptr<Run> run);
  // `run` is done: from now on it can be dropped.
  void retire(const std::shared_ptr<Run>& run);

  std::shared_ptr<Run> find(std::string_view id) const;  // null when there is none
  std::vector<std::shared_ptr<Run>> newest_first() const;

  std::size_t kept_bytes() const;

 private:
  struct Kept {
    std::string id;
    std::size_t bytes = 0;
  };

  const std::size_t most_runs_;
  const std::size_t most_bytes_;
  mutable std::mutex mutex_;  // guards what follows
  std::unordered_map<std::string, std::shared_ptr<Run>> runs_;
  std::deque<std::string> order_;  // as they were added
  std::deque<Kept> done_;          // as they ended
  std::size_t bytes_ = 0;          // of done_
};

}  // namespace dts::serve
