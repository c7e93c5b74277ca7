// A reply that another thread is still making.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "serve/http/http.h"

namespace dts::serve {

class LateReply final : public Reply {
 public:
  // What the other thread holds. Any thread.
  class Promise {
   public:
    // Once. A reply that nobody waits for any more is destroyed.
    void deliver(std::unique_ptr<Reply> reply);
    // False once the client has gone.
    bool wanted() const;

   private:
    friend class LateReply;
    mutable std::mutex mutex_;  // guards what follows
    std::unique_ptr<Reply> reply_;
    std::function<void()> wake_;
    bool wanted_ = true;
  };

  // `held` lives as long as the reply.
  explicit LateReply(std::shared_ptr<const void> held = nullptr) : held_(std::move(held)) {}
  ~LateReply() override;

  const std::shared_ptr<Promise>& promise() const { return promise_; }

  void on_change(std::function<void()> wake) override;
  std::optional<HttpResponse> head() override;
  bool streams() const override { return reply_ && reply_->streams(); }
  Piece next() override { return reply_->next(); }

 private:
  std::shared_ptr<const void> held_;
  std::shared_ptr<Promise> promise_ = std::make_shared<Promise>();
  std::function<void()> wake_;
  std::unique_ptr<Reply> reply_;  // once it was delivered and asked for
};

}  // namespace dts::serve
