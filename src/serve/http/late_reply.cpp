#include "serve/http/late_reply.h"

#include <utility>

namespace dts::serve {

void LateReply::Promise::deliver(std::unique_ptr<Reply> reply) {
  const std::scoped_lock lock(mutex_);
  if (!wanted_) return;  // and with it goes what it holds
  reply_ = std::move(reply);
  if (wake_) wake_();
}

bool LateReply::Promise::wanted() const {
  const std::scoped_lock lock(mutex_);
  return wanted_;
}

LateReply::~LateReply() {
  std::unique_ptr<Reply> unread;  // destroyed when the lock is no longer held
  const std::scoped_lock lock(promise_->mutex_);
  promise_->wanted_ = false;
  promise_->wake_ = nullptr;
  unread = std::move(promise_->reply_);
}

void LateReply::on_change(std::function<void()> wake) {
  wake_ = wake;
  if (reply_) {
    reply_->on_change(std::move(wake));
    return;
  }
  const std::scoped_lock lock(promise_->mutex_);
  promise_->wake_ = std::move(wake);
}

std::optional<HttpResponse> LateReply::head() {
  if (!reply_) {
    const std::scoped_lock lock(promise_->mutex_);
    if (!promise_->reply_) return std::nullopt;
    reply_ = std::move(promise_->reply_);
    if (wake_) reply_->on_change(wake_);
  }
  return reply_->head();
}

}  // namespace dts::serve
