#include "serve/runs/event_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace dts::serve {

void EventLog::append(std::string_view type, std::string_view data) {
  const std::scoped_lock lock(mutex_);
  std::string frame = fmt::format("id: {}\nevent: {}\ndata: {}\n\n", frames_.size() + 1, type, data);
  bytes_ += frame.size() + sizeof(std::string);
  frames_.push_back(std::move(frame));
}

void EventLog::close() {
  const std::scoped_lock lock(mutex_);
  closed_ = true;
}

EventLog::Page EventLog::read(EventId after, std::size_t most_bytes) const {
  const std::scoped_lock lock(mutex_);
  Page page;
  page.last = std::min<EventId>(after, frames_.size());
  while (page.last < frames_.size()) {
    const std::string& frame = frames_[page.last];
    if (!page.text.empty() && page.text.size() + frame.size() > most_bytes) break;
    page.text += frame;
    ++page.last;
  }
  page.end = closed_ && page.last == frames_.size();
  return page;
}

EventId EventLog::last() const {
  const std::scoped_lock lock(mutex_);
  return frames_.size();
}

std::size_t EventLog::bytes() const {
  const std::scoped_lock lock(mutex_);
  return bytes_;
}

}  // namespace dts::serve
