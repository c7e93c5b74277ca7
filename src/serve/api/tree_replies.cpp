#include "serve/api/tree_replies.h"

namespace dts::serve {

EventsReply::EventsReply(std::shared_ptr<Run> run, EventId after, std::shared_ptr<OpenStream> open)
    : run_(std::move(run)), told_(after), open_(std::move(open)) {}

EventsReply::~EventsReply() { run_->listeners().remove(listening_); }

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
