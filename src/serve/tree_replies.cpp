#include "serve/tree_replies.h"

namespace dts::serve {

void TreeReply::Detach::operator()(Shared* shared) const {
  const std::scoped_lock lock(shared->mutex);
  shared->wake = nullptr;
}

void TreeReply::on_change(std::function<void()> wake) {
  shared_->wake = std::move(wake);
  detach_.reset(shared_.get());
  loop_.post([run = run_, shared = shared_] {
    auto document = run->snapshot();
    const std::scoped_lock lock(shared->mutex);
    shared->document = std::move(document);
    if (shared->wake) shared->wake();
  });
}

std::optional<HttpResponse> TreeReply::head() {
  // One that is done need not be asked for.
  std::shared_ptr<const TreeDocument> document = run_->document();
  if (!document) {
    const std::scoped_lock lock(shared_->mutex);
    document = shared_->document;
  }
  if (!document) return std::nullopt;
  HttpResponse response;
  response.body = to_json_text(*document);
  return response;
}

EventsReply::EventsReply(std::shared_ptr<Run> run, EventId after, std::shared_ptr<std::atomic<int>> open_streams)
    : run_(std::move(run)), told_(after), open_streams_(std::move(open_streams)) {}

EventsReply::~EventsReply() {
  run_->listeners().remove(listening_);
  --*open_streams_;
}

void EventsReply::on_change(std::function<void()> wake) { listening_ = run_->listeners().add(std::move(wake)); }

std::optional<HttpResponse> EventsReply::head() {
  HttpResponse response;
  response.content_type = "text/event-stream";
  response.headers.emplace_back("Cache-Control", "no-store");
  return response;
}

Reply::Piece EventsReply::next() {
  EventLog::Page page = run_->events().read(told_, kPageBytes);
  told_ = page.last;
  const auto now = std::chrono::steady_clock::now();
  if (page.text.empty() && !page.end && now - sent_ >= kHeartbeat) page.text = ":\n\n";
  if (!page.text.empty()) sent_ = now;
  return {std::move(page.text), page.end};
}

}  // namespace dts::serve
