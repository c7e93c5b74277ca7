// The events of one run, as server-sent events, for any number of readers that come and go. Complete from the first
// event on, so that a reader can resume anywhere. While a run lasts its log is small beside the KV of its branches; the
// store bounds what is kept afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>

namespace dts::serve {

using EventId = std::uint64_t;  // 1 is the first

// All functions may be called from any thread.
class EventLog {
 public:
  // `data` is JSON on one line.
  void append(std::string_view type, std::string_view data);
  void close();  // no event will follow

  struct Page {
    std::string text;  // whole events; at least one when there is any, however long
    EventId last = 0;  // of `text`; as asked for when it is empty
    bool end = false;  // closed, and nothing comes after `last`
  };
  Page read(EventId after, std::size_t most_bytes) const;

  EventId last() const;
  std::size_t bytes() const;

 private:
  mutable std::mutex mutex_;
  std::deque<std::string> frames_;  // frames_[i] is event i + 1
  std::size_t bytes_ = 0;
  bool closed_ = false;
};

}  // namespace dts::serve
