// Replies about trees: one that has to be asked of the engine's thread, and one that follows a run's events.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "serve/engine_loop.h"
#include "serve/http.h"
#include "serve/run.h"

namespace dts::serve {

// The tree file of a run, as it is between two steps.
class TreeReply final : public Reply {
 public:
  TreeReply(std::shared_ptr<Run> run, EngineLoop& loop) : run_(std::move(run)), loop_(loop) {}
  void on_change(std::function<void()> wake) override;
  std::optional<HttpResponse> head() override;

 private:
  // Outlives the reply when the client goes before the engine's thread has looked.
  struct Shared {
    std::mutex mutex;  // guards what follows
    std::shared_ptr<const TreeDocument> document;
    std::function<void()> wake;  // null once the reply is gone
  };
  // Clears `wake` when the reply goes.
  struct Detach {
    void operator()(Shared* shared) const;
  };

  std::shared_ptr<Run> run_;
  EngineLoop& loop_;
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  std::unique_ptr<Shared, Detach> detach_;
};

// Counts as one of the open event streams for as long as it lives.
class EventsReply final : public Reply {
 public:
  // So that a proxy does not take a quiet stream for a dead one.
  static constexpr std::chrono::seconds kHeartbeat{15};
  static constexpr std::size_t kPageBytes = std::size_t{64} << 10U;

  EventsReply(std::shared_ptr<Run> run, EventId after, std::shared_ptr<std::atomic<int>> open_streams);
  ~EventsReply() override;
  void on_change(std::function<void()> wake) override;
  std::optional<HttpResponse> head() override;
  bool streams() const override { return true; }
  Piece next() override;

 private:
  std::shared_ptr<Run> run_;
  EventId told_;
  std::shared_ptr<std::atomic<int>> open_streams_;
  Listeners::Id listening_ = 0;
  std::chrono::steady_clock::time_point sent_ = std::chrono::steady_clock::now();
};

}  // namespace dts::serve
