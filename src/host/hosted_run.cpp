#include "host/hosted_run.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

namespace dts::host {

HostedRun::~HostedRun() {
  if (event_descriptor_ >= 0) close(event_descriptor_);
  if (done_descriptor_ >= 0) close(done_descriptor_);
}

bool HostedRun::wait(Clock::time_point until) {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, until, [this] { return done_ || !events_.empty(); });
}

bool HostedRun::wait_done(Clock::time_point until) {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, until, [this] { return done_; });
}

std::optional<HostEvent> HostedRun::next_event() {
  const std::lock_guard lock(mutex_);
  std::optional<HostEvent> event;
  if (!events_.empty()) {
    event = std::move(events_.front());
    events_.pop_front();
  }
  if (events_.empty() && !done_ && event_descriptor_ >= 0) {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t size = read(event_descriptor_, &count, sizeof(count));
  }
  return event;
}

bool HostedRun::done() const {
  const std::lock_guard lock(mutex_);
  return done_;
}

std::shared_ptr<const TreeDocument> HostedRun::document() const {
  const std::lock_guard lock(mutex_);
  return document_;
}

std::optional<Error> HostedRun::error() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

void HostedRun::cancel() {
  const std::lock_guard lock(mutex_);
  if (done_) return;
  cancelled_ = true;
  if (scheduler_ != nullptr) scheduler_->cancel(job_);
}

int HostedRun::event_descriptor() {
  const std::lock_guard lock(mutex_);
  if (event_descriptor_ < 0) {
    event_descriptor_ = make_descriptor();
    if (done_ || !events_.empty()) make_readable(event_descriptor_);
  }
  return event_descriptor_;
}

int HostedRun::done_descriptor() {
  const std::lock_guard lock(mutex_);
  if (done_descriptor_ < 0) {
    done_descriptor_ = make_descriptor();
    if (done_) make_readable(done_descriptor_);
  }
  return done_descriptor_;
}

int HostedRun::make_descriptor() { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

void HostedRun::tell(HostEvent event) {
  const std::lock_guard lock(mutex_);
  events_.push_back(std::move(event));
  signal();
}

void HostedRun::end(std::shared_ptr<const TreeDocument> document, std::optional<Error> error) {
  const std::lock_guard lock(mutex_);
  document_ = std::move(document);
  error_ = std::move(error);
  done_ = true;
  scheduler_ = nullptr;
  signal();
}

void HostedRun::signal() {
  changed_.notify_all();
  make_readable(event_descriptor_);
  if (done_) make_readable(done_descriptor_);
}

void HostedRun::make_readable(int descriptor) {
  if (descriptor < 0) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t size = write(descriptor, &one, sizeof(one));
}

}  // namespace dts::host
