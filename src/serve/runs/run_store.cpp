#include "serve/runs/run_store.h"

#include <algorithm>
#include <utility>

namespace dts::serve {

void RunStore::add(std::shared_ptr<Run> run) {
  const std::scoped_lock lock(mutex_);
  order_.push_back(run->title().id);
  runs_.emplace(run->title().id, std::move(run));
}

void RunStore::retire(const std::shared_ptr<Run>& run) {
  std::vector<std::shared_ptr<Run>> dropped;  // declared first: freed when the lock is no longer held
  const std::scoped_lock lock(mutex_);
  done_.push_back({run->title().id, run->bytes()});
  bytes_ += done_.back().bytes;
  while (done_.size() > most_runs_ || bytes_ > most_bytes_) {
    const auto found = runs_.find(done_.front().id);
    dropped.push_back(std::move(found->second));
    runs_.erase(found);
    order_.erase(std::find(order_.begin(), order_.end(), done_.front().id));
    bytes_ -= done_.front().bytes;
    done_.pop_front();
  }
}

std::shared_ptr<Run> RunStore::find(std::string_view id) const {
  const std::scoped_lock lock(mutex_);
  const auto found = runs_.find(std::string(id));
  return found == runs_.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<Run>> RunStore::newest_first() const {
  const std::scoped_lock lock(mutex_);
  std::vector<std::shared_ptr<Run>> runs;
  runs.reserve(order_.size());
  for (auto id = order_.rbegin(); id != order_.rend(); ++id) runs.push_back(runs_.at(*id));
  return runs;
}

std::size_t RunStore::kept_bytes() const {
  const std::scoped_lock lock(mutex_);
  return bytes_;
}

}  // namespace dts::serve
