// When which stream should be seen to at the latest. A stream may be there more than once, and after its end: whoever
// is woken in vain goes to sleep again.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "engine/remote/token_stream.h"

namespace dts::remote {

class WakeQueue {
 public:
  void push(double time, std::weak_ptr<TokenStream> stream) {
    // Time-outs lie minutes ahead, and most streams have ended by then.
    if (entries_.size() >= 2 * kept_ + 64) {
      std::erase_if(entries_, [](const Entry& entry) { return entry.stream.expired(); });
      std::make_heap(entries_.begin(), entries_.end());
      kept_ = entries_.size();
    }
    entries_.push_back({time, std::move(stream)});
    std::push_heap(entries_.begin(), entries_.end());
  }

  double next() const { return entries_.empty() ? std::numeric_limits<double>::infinity() : entries_.front().time; }

  // The one whose time comes first; null: it has ended.
  std::shared_ptr<TokenStream> pop() {
    std::pop_heap(entries_.begin(), entries_.end());
    std::shared_ptr<TokenStream> stream = entries_.back().stream.lock();
    entries_.pop_back();
    return stream;
  }

 private:
  struct Entry {
    double time = 0;
    std::weak_ptr<TokenStream> stream;
    bool operator<(const Entry& other) const { return time > other.time; }  // the earliest is the largest
  };
  std::vector<Entry> entries_;  // a heap
  std::size_t kept_ = 0;        // when it was last cleared of those that have ended
};

}  // namespace dts::remote
