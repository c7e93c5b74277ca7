// Who wants to be told when something changes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

namespace dts::serve {

// Any thread. Once remove() has returned, that listener is not called any more; a listener must not come back here.
class Listeners {
 public:
  using Id = std::uint64_t;

  Id add(std::function<void()> listener) {
    const std::scoped_lock lock(mutex_);
    listeners_.emplace(++last_, std::move(listener));
    return last_;
  }
  void remove(Id id) {
    const std::scoped_lock lock(mutex_);
    listeners_.erase(id);
  }
  void notify() const {
    const std::scoped_lock lock(mutex_);
    for (const auto& [id, listener] : listeners_) listener();
  }

 private:
  mutable std::mutex mutex_;
  Id last_ = 0;
  std::map<Id, std::function<void()>> listeners_;
};

}  // namespace dts::serve
