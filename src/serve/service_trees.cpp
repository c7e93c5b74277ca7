// The part of the service that shows trees.
#include <charconv>

#include "draw/unicode.h"
#include "serve/api_error.h"
#include "serve/completion_json.h"
#include "serve/service.h"
#include "serve/tree_replies.h"

namespace dts::serve {
namespace {

constexpr int kListedCells = 300;  // of a question: a list of long ones would be long

Json summary_json(const Run& run) {
  const auto document = run.document();
  const bool answered = document && document->outcome.winner;
  Json json;
  json["id"] = run.title().id;
  json["created"] = run.title().created;
  json["model"] = draw::valid_utf8(run.title().model);
  json["method"] = run.search_options().method.name;
  json["question"] = draw::shorten(draw::one_line(run.title().question), kListedCells);
  json["state"] =
      document ? std::string(to_string(document->outcome.reason)) : std::string(to_string(run.progress().state));
  json["answer"] =
      answered ? Json(draw::valid_utf8(document->outcome.finished[*document->outcome.winner].answer)) : Json();
  return json;
}

// What a reader has seen already; 0 when it says nothing, or nothing sensible.
EventId last_event_id(const HttpRequest& request) {
  const std::string_view text = request.header("last-event-id");
  EventId id = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), id);
  return status == std::errc() && end == text.data() + text.size() ? id : 0;
}

}  // namespace

Service::Routed Service::trees() const {
  Json json;
  json["object"] = "list";
  json["data"] = Json::array();
  for (const auto& run : store_.newest_first()) json["data"].push_back(summary_json(*run));
  HttpResponse response;
  response.body = json.dump();
  return std::make_unique<ReadyReply>(std::move(response));
}

Service::Routed Service::tree(const HttpRequest& request, const std::string& rest, Handled& handled) {
  const std::size_t slash = rest.find('/');
  const std::string action = slash == std::string::npos ? std::string() : rest.substr(slash + 1);
  const bool events_asked = action == "events";
  const bool cancel_asked = action == "cancel";
  if (!action.empty() && !events_asked && !cancel_asked) {
    throw ApiError(404, "there is nothing at this path", {}, "not_found");
  }
  handled.route = events_asked ? "tree_events" : (cancel_asked ? "tree_cancel" : "tree");
  const bool known_method = cancel_asked ? request.method == "POST"
                                         : request.method == "GET" || (action.empty() && request.method == "DELETE");
  if (!known_method) {
    throw ApiError(
        405,
        cancel_asked ? "this path takes POST" : (events_asked ? "this path takes GET" : "this path takes GET, DELETE"),
        {}, "method_not_allowed");
  }
  const auto run = store_.find(rest.substr(0, slash));
  if (!run) throw ApiError(404, "there is no tree of that id, or it is no longer kept", "id", "tree_not_found");
  if (events_asked) return events(request, run);
  if (request.method == "GET") return std::make_unique<TreeReply>(run, loop_);
  cancel(*run);
  HttpResponse response;
  response.body = Json{{"id", run->title().id}, {"object", "tree"}, {"cancelled", run->document() == nullptr}}.dump();
  return std::make_unique<ReadyReply>(std::move(response));
}

Service::Routed Service::events(const HttpRequest& request, const std::shared_ptr<Run>& run) {
  const EventId after = last_event_id(request);
  // Browsers come back after the end of a stream; this is how they are told that there is no more.
  if (run->document() && after >= run->events().last()) {
    return std::make_unique<ReadyReply>(HttpResponse{204, "", "", {}});
  }
  if (++*event_streams_ > options_.limits.event_streams) {
    --*event_streams_;
    throw ApiError(429, "too many event streams are open: try again later", {}, "too_many_streams");
  }
  return std::make_unique<EventsReply>(run, after, event_streams_);
}

}  // namespace dts::serve
