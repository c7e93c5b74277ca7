// The part of the service that shows trees.
#include <charconv>
#include <chrono>

#include "serve/api/api_error.h"
#include "serve/api/completion_json.h"
#include "serve/api/tree_replies.h"
#include "serve/http/late_reply.h"
#include "serve/service.h"
#include "text/display.h"
#include "text/utf8.h"

namespace dts::serve {
namespace {

using namespace text;

constexpr int kListedCells = 300;  // of a question: a list of long ones would be long

Json summary_json(const Run& run) {
  const auto document = run.document();
  const bool answered = document && document->outcome.winner;
  Json json;
  json["id"] = run.title().id;
  json["created"] = run.title().created;
  json["model"] = text::valid_utf8(run.title().model);
  json["method"] = run.search_options().method.name;
  json["question"] = text::shorten(text::one_line(run.title().question), kListedCells);
  json["state"] =
      document ? std::string(to_string(document->outcome.reason)) : std::string(to_string(run.progress().state));
  json["answer"] =
      answered ? Json(text::valid_utf8(document->outcome.finished[*document->outcome.winner].answer)) : Json();
  return json;
}

bool may_see(const Caller& caller, const Run& run) { return caller.sees_all || run.owner() == caller.owner; }

// What a reader has seen already; 0 when it says nothing, or nothing sensible.
EventId last_event_id(const HttpRequest& request) {
  const std::string_view text = request.header("last-event-id");
  EventId id = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), id);
  return status == std::errc() && end == text.data() + text.size() ? id : 0;
}

}  // namespace

Service::Routed Service::trees(const Caller& caller) const {
  Json json;
  json["object"] = "list";
  json["data"] = Json::array();
  for (const auto& run : store_.newest_first()) {
    if (may_see(caller, *run)) json["data"].push_back(summary_json(*run));
  }
  HttpResponse response;
  response.body = json.dump();
  return std::make_unique<ReadyReply>(std::move(response));
}

Service::Routed Service::tree(const HttpRequest& request, const Caller& caller, const std::string& rest,
                              Handled& handled) {
  const std::size_t slash = rest.find('/');
  const std::string action = slash == std::string::npos ? std::string() : rest.substr(slash + 1);
  const bool events_asked = action == "events";
  const bool cancel_asked = action == "cancel";
  if (!action.empty() && !events_asked && !cancel_asked) {
    throw ApiError(404, "there is nothing at this path", {}, "not_found");
  }
  handled.route = events_asked ? "tree_events" : (cancel_asked ? "tree_cancel" : "tree");
  if (cancel_asked) {
    require_method(request, {"POST"});
  } else if (events_asked) {
    require_method(request, {"GET"});
  } else {
    require_method(request, {"GET", "DELETE"});
  }
  const auto run = store_.find(rest.substr(0, slash));
  // Somebody else's is as if it were not there: an id must not tell whether it is.
  if (!run || !may_see(caller, *run))
    throw ApiError(404, "there is no tree of that id, or it is no longer kept", "id", "tree_not_found");
  if (events_asked) return events(request, run);
  if (request.method == "GET" || request.method == "HEAD") return tree_file(run);
  cancel(*run);
  HttpResponse response;
  response.body = Json{{"id", run->title().id}, {"object", "tree"}, {"cancelled", run->document() == nullptr}}.dump();
  return std::make_unique<ReadyReply>(std::move(response));
}

std::shared_ptr<OpenStream> Service::open_stream() {
  auto stream = std::make_shared<OpenStream>(event_streams_);
  if (stream->count() > options_.limits.event_streams) {
    throw ApiError(429, "too many event streams, trees and lists of tokens are being read: try again later", {},
                   "too_many_streams");
  }
  return stream;
}

std::chrono::steady_clock::time_point Service::last_moment() const {
  using Clock = std::chrono::steady_clock;
  if (options_.limits.seconds <= 0) return Clock::time_point::max();
  return Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.limits.seconds));
}

// The tree as it is between two steps, which only the engine's thread knows; written out on a worker, because that
// takes its time.
Service::Routed Service::tree_file(const std::shared_ptr<Run>& run) {
  auto reply = std::make_unique<LateReply>(open_stream());
  const auto write = [this, owner = run->owner(),
                      promise = reply->promise()](const std::shared_ptr<const TreeDocument>& document) {
    workers_.post(owner, [promise, document] {
      if (!promise->wanted()) return;
      promise->deliver(or_error([&] {
        HttpResponse response;
        response.body = to_json_text(*document);
        return std::make_unique<ReadyReply>(std::move(response));
      }));
    });
  };
  if (const auto done = run->document()) {
    write(done);
    return reply;
  }
  loop_.post([run, write, promise = reply->promise()] {
    if (!promise->wanted()) return;
    std::shared_ptr<const TreeDocument> document;
    auto failed = or_error([&] {
      document = run->snapshot();
      return std::unique_ptr<Reply>();
    });
    if (failed) {
      promise->deliver(std::move(failed));
    } else {
      write(document);
    }
  });
  return reply;
}

Service::Routed Service::events(const HttpRequest& request, const std::shared_ptr<Run>& run) {
  const EventId after = last_event_id(request);
  // Browsers come back after the end of a stream; this is how they are told that there is no more.
  if (run->document() && after >= run->events().last()) {
    return std::make_unique<ReadyReply>(HttpResponse{204, "", "", {}});
  }
  auto stream = open_stream();
  if (request.method == "HEAD") {
    return std::make_unique<ReadyReply>(HttpResponse{200, "text/event-stream", "", {{"Cache-Control", "no-store"}}});
  }
  return std::make_unique<EventsReply>(run, after, std::move(stream));
}

}  // namespace dts::serve
