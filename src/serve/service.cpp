#include "serve/service.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <utility>

#include "serve/api/api_error.h"
#include "serve/api/models_json.h"
#include "serve/http/ids.h"
#include "serve/http/late_reply.h"
#include "serve/page/assets.h"
#include "text/ascii.h"
#include "text/display.h"

namespace dts::serve {
namespace {

using namespace text;

constexpr std::string_view kTrees = "/v1/trees";
constexpr std::string_view kModels = "/v1/models";
constexpr int kWorkers = 2;

// The page needs nothing from elsewhere.
constexpr const char* kPagePolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

// Some clients are given the server's address without /v1, and leave it out.
std::string versioned(const std::string& path) {
  for (const std::string_view root : {"/chat/completions", "/completions", "/models", "/responses", "/embeddings"}) {
    if (path == root || path.starts_with(std::string(root) + "/")) return "/v1" + path;
  }
  return path;
}

std::unique_ptr<Reply> ready(HttpResponse response) { return std::make_unique<ReadyReply>(std::move(response)); }

HttpResponse json_response(const Json& json) {
  HttpResponse response;
  response.body = json.dump();
  return response;
}

// What can never be is not promised.
ServiceOptions with_possible_limits(ServiceOptions options, const EngineInfo& engine) {
  Limits& limits = options.limits;
  limits.context = engine.context_length;
  if (limits.key_runs == 0) {
    // One key must not fill the queue of the others.
    const bool several = options.access.keys.size() + options.access.admin_keys.size() > 1;
    limits.key_runs = several ? std::max(1, limits.runs / 2) : limits.runs;
  }
  limits.key_runs = std::min(limits.key_runs, limits.runs);
  limits.choices = std::min(limits.choices, limits.key_runs);
  return options;
}

}  // namespace

Service::Service(ServiceOptions options, Engine& engine, const Vocabulary& vocabulary)
    : options_(with_possible_limits(std::move(options), engine.info())),
      access_(options_.access),
      engine_(engine),
      vocabulary_(vocabulary),
      store_(options_.limits.kept_runs, options_.limits.kept_bytes),
      places_(options_.limits.runs, options_.limits.key_runs),
      workers_(kWorkers),
      loop_(engine, {options_.limits.prefix_bytes, options_.limits.small_lane}) {}

Service::~Service() {
  workers_.stop();
  cancel_all();
}

std::optional<HttpResponse> Service::refuse(const HttpRequest& head) const {
  if (access_.answers_preflight(head)) return std::nullopt;
  return access_.refuse(head);
}

std::vector<std::pair<std::string, std::string>> Service::common_headers(const HttpRequest& request) const {
  auto headers = access_.cors_headers(request);
  headers.emplace_back("X-Content-Type-Options", "nosniff");
  return headers;
}

std::unique_ptr<Reply> Service::or_error(const std::function<std::unique_ptr<Reply>()>& make) {
  try {
    return make();
  } catch (const ApiError& error) {
    return ready(error_response(error));
  } catch (const std::exception& error) {
    spdlog::error("request failed: {}", text::one_line(error.what()));
    return ready(error_response(ApiError(500, "the server failed to handle the request")));
  }
}

Service::Handled Service::handle(const HttpRequest& request) {
  if (std::string path = versioned(request.path); path != request.path) {
    HttpRequest same = request;
    same.path = std::move(path);
    return handle(same);
  }
  Handled handled;
  handled.route = "unknown";
  handled.reply = or_error([&] { return route(request, handled); });
  if (handled.id.empty()) handled.id = new_id("req-");
  return handled;
}

Service::Routed Service::on_worker(std::uint64_t owner, std::function<Routed()> make) {
  // The reply's, so that places and bodies do not wait in the queue for a client that has gone.
  const auto job = std::make_shared<std::function<Routed()>>(std::move(make));
  auto reply = std::make_unique<LateReply>(job);
  workers_.post(owner, [waiting = std::weak_ptr(job), promise = reply->promise()] {
    const std::shared_ptr<std::function<Routed()>> mine = waiting.lock();
    if (!mine) return;
    Routed made = or_error(*mine);
    *mine = nullptr;
    promise->deliver(std::move(made));
  });
  return reply;
}

bool Service::is_long(const HttpRequest& request) {
  constexpr std::size_t kShortBody = std::size_t{16} << 10U;
  return request.body.size() > kShortBody;
}

Service::Routed Service::on_worker_if_long(std::uint64_t owner, const HttpRequest& request,
                                           std::function<Routed(const HttpRequest&)> read) {
  if (!is_long(request)) return read(request);
  return on_worker(owner, [request, read = std::move(read)] { return read(request); });
}

Service::Routed Service::route(const HttpRequest& request, Handled& handled) {
  const std::string& path = request.path;
  if (access_.answers_preflight(request)) {
    handled.route = "preflight";
    HttpResponse response{204, "", "", {}};
    response.headers = {{"Access-Control-Allow-Methods", "GET, POST, DELETE"},
                        // Clients add headers of their own (X-Stainless-..., say); "*" is all but Authorization.
                        {"Access-Control-Allow-Headers", "*, Authorization"},
                        {"Access-Control-Max-Age", "600"}};
    return ready(std::move(response));
  }
  if (const auto refusal = access_.refuse(request)) return ready(*refusal);
  const Caller caller = access_.caller(request).value_or(Caller{0, false});  // of /health, whoever it is
  if (path == "/v1/chat/completions" || path == "/v1/completions") {
    const bool chat = path == "/v1/chat/completions";
    handled.route = chat ? "chat_completions" : "completions";
    require_method(request, {"POST"});
    require_json(request);
    handled.id = new_id(chat ? "chatcmpl-" : "cmpl-");
    return on_worker_if_long(
        caller.owner, request,
        [this, admission = admit(caller), kind = chat ? CompletionKind::kChat : CompletionKind::kText,
         id = handled.id](const HttpRequest& whole) { return complete(whole, admission, kind, id); });
  }
  if (path == "/health") {
    handled.route = "health";
    require_method(request, {"GET"});
    return health();
  }
  if (path == "/metrics") {
    handled.route = "metrics";
    require_method(request, {"GET"});
    return metrics();
  }
  if (path == kModels || path.starts_with(std::string(kModels) + "/")) {
    handled.route = "models";
    require_method(request, {"GET"});
    return models(path == kModels ? std::string() : percent_decoded(path.substr(kModels.size() + 1)));
  }
  if (path == kTrees) {
    handled.route = "trees";
    require_method(request, {"GET", "POST"});
    if (request.method != "POST") return trees(caller);
    require_json(request);
    handled.id = new_id("chatcmpl-");
    return on_worker_if_long(caller.owner, request,
                             [this, admission = admit(caller), id = handled.id](const HttpRequest& whole) {
                               return start_tree(whole, admission, id);
                             });
  }
  if (path.starts_with(std::string(kTrees) + "/")) {
    return tree(request, caller, percent_decoded(path.substr(kTrees.size() + 1)), handled);
  }
  if (Routed more = route_more(request, caller, handled)) return more;
  if (path == "/v1/embeddings" || path.starts_with("/v1/embeddings/")) {
    throw ApiError(404, "this server makes no embeddings: it only answers, at POST /v1/chat/completions", {},
                   "embeddings_not_supported");
  }
  if (path.starts_with("/v1/")) {
    throw ApiError(404,
                   fmt::format("there is nothing at this path: this server has POST /v1/chat/completions, "
                               "/v1/completions and /v1/responses, GET {} and {}, and no others below /v1",
                               kModels, kTrees),
                   {}, "not_found");
  }
  handled.route = "page";
  return asset(request);
}

Service::Routed Service::health() const {
  HttpResponse response = json_response(Json{{"status", draining() ? "shutting down" : "ok"}});
  if (draining()) response.status = 503;
  return ready(std::move(response));
}

Service::Routed Service::metrics() const {
  const auto gauge = [](const char* name, const char* help, auto value) {
    return metric_text(name, "gauge", help, static_cast<double>(value));
  };
  int queued = 0, live = 0;
  for (const auto& run : store_.newest_first()) {
    const RunProgress progress = run->progress();
    queued += progress.state == RunState::kQueued ? 1 : 0;
    live += progress.live;
  }
  const EngineTimes times = loop_.times();
  HttpResponse response;
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  response.body =
      metrics_.text() + gauge("dts_runs_active", "Questions that are queued or being decoded.", active_runs()) +
      gauge("dts_runs_queued", "Questions that wait for room in the engine.", queued) +
      gauge("dts_branches_live", "Branches being decoded.", live) +
      gauge("dts_trees_kept_bytes", "Memory of the trees of questions that are done.", store_.kept_bytes()) +
      gauge("dts_event_streams", "Event streams that are open, and trees being read.", event_streams_->load()) +
      metric_text("dts_engine_busy_seconds_total", "counter", "Time the engine worked.",
                  times.prefill + times.model + times.statistics + times.forks);
  return ready(std::move(response));
}

void Service::refuse_model() const {
  throw ApiError(404, fmt::format("there is no model of that name: this server has {}", options_.model.id), "model",
                 "model_not_found");
}

void Service::check_model(const std::string& name) const {
  if (!name.empty() && split_model_name(name).model != options_.model.id) refuse_model();
}

Service::Routed Service::models(const std::string& id) const {
  const Json list = models_json(options_, engine_.info());
  if (id.empty()) return ready(json_response(list));
  for (const Json& model : list["data"]) {
    if (model["id"] == id) return ready(json_response(model));
  }
  refuse_model();
}

Service::Routed Service::asset(const HttpRequest& request) const {
  const std::string_view path = request.path == "/" ? std::string_view("/index.html") : request.path;
  const std::span<const Asset> assets = page_assets();
  const auto found = std::find_if(assets.begin(), assets.end(), [&](const Asset& asset) { return asset.path == path; });
  if (found == assets.end()) {
    throw ApiError(404,
                   assets.empty() && path == "/index.html"
                       ? "this program was built without the page; the API is at /v1"
                       : "there is nothing at this path",
                   {}, "not_found");
  }
  require_method(request, {"GET"});
  HttpResponse response;
  response.content_type = found->content_type;
  response.headers = {
      {"ETag", std::string(found->etag)},
      // The names of those have their contents' hash.
      {"Cache-Control", path.starts_with("/assets/") ? "private, max-age=31536000, immutable" : "no-cache"},
      {"Content-Security-Policy", kPagePolicy},
      {"Referrer-Policy", "no-referrer"}};
  if (request.header("if-none-match") == found->etag) {
    response.status = 304;
  } else {
    response.body = found->bytes;
  }
  return ready(std::move(response));
}

void Service::cancel(const Run& run) {
  const std::scoped_lock lock(jobs_mutex_);
  const auto job = jobs_.find(run.title().id);
  if (job != jobs_.end()) loop_.cancel(job->second);
}

void Service::cancel_all() {
  const std::scoped_lock lock(jobs_mutex_);
  ended_ = true;
  for (const auto& [id, job] : jobs_) loop_.cancel(job);
}

}  // namespace dts::serve
