// The reply that follows a run's events.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "serve/http/http.h"
#include "serve/runs/run.h"

namespace dts::serve {

// One of the replies of which so many are open at once at most: event streams, tree files and lists of
// tokens. All of them can be long.
class OpenStream {
 public:
  explicit OpenStream(std::shared_ptr<std::atomic<int>> open) : open_(std::move(open)) { ++*open_; }
  ~OpenStream() { --*open_; }
  OpenStream(const OpenStream&) = delete;
  OpenStream& operator=(const OpenStream&) = delete;

  int count() const { return *open_; }

 private:
  std::shared_ptr<std::atomic<int>> open_;
};

// The events of a run from the one after `after` on.
class EventsReply final : public Reply {
 public:
  // So that a proxy does not take a quiet stream for a dead one.
  static constexpr std::chrono::seconds kHeartbeat{15};
  static constexpr std::size_t kPageBytes = std::size_t{64} << 10U;

  EventsReply(std::shared_ptr<Run> run, EventId after, std::shared_ptr<OpenStream> open);
  ~EventsReply() override;
  void on_change(std::function<void()> wake) override;
  std::optional<HttpResponse> head() override;
  bool streams() const override { return true; }
  Piece next() override;

 private:
  std::shared_ptr<Run> run_;
  EventId told_;
  std::shared_ptr<OpenStream> open_;
  Listeners::Id listening_ = 0;
  std::chrono::steady_clock::time_point sent_ = std::chrono::steady_clock::now();
};

}  // namespace dts::serve
