// What the server answers: routes, admission and the runs behind them. Knows no sockets.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "dts/engine.h"
#include "dts/vocabulary.h"
#include "question/answer_filter.h"
#include "serve/api/completion_request.h"
#include "serve/http/access.h"
#include "serve/http/http.h"
#include "serve/http/workers.h"
#include "serve/limits.h"
#include "serve/prometheus.h"
#include "serve/runs/engine_loop.h"
#include "serve/runs/places.h"
#include "serve/runs/run_store.h"

namespace dts::serve {

class OpenStream;
struct CompletionFormat;

// The model as clients know it.
struct ServedModel {
  std::string id;    // what `model` of a request names
  std::string name;  // as a person would name it
  std::string description;
  std::int64_t created = 0;  // seconds since 1970
  std::int64_t parameters = 0;
  int training_context = 0;  // tokens
};

struct ServiceOptions {
  ServedModel model;
  Limits limits;
  DecodingOptions defaults;          // where a request says nothing
  std::optional<AnswerForm> answer;  // in which form answers are asked for, likewise; none: as the question is
  AccessOptions access;
  bool log_prompts = false;
};

// Any thread.
class Service {
 public:
  struct Handled {
    std::string id;     // of the request; of a completion, the tree's as well
    std::string route;  // one of a fixed set of words
    std::unique_ptr<Reply> reply;
  };

  // `engine` and `vocabulary` must outlive it; the engine is its own meanwhile.
  Service(ServiceOptions options, Engine& engine, const Vocabulary& vocabulary);
  // Cancels what still runs. All replies must be gone.
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  // A reason not to read the body, from the headers alone.
  std::optional<HttpResponse> refuse(const HttpRequest& head) const;
  Handled handle(const HttpRequest& request);

  const Limits& limits() const { return options_.limits; }
  // Headers that belong to the response whatever the route is.
  std::vector<std::pair<std::string, std::string>> common_headers(const HttpRequest& request) const;
  void count_response(const std::string& route, int status) { metrics_.count_response(route, status); }

  // From now on new work is refused with 503.
  void drain() { draining_ = true; }
  bool draining() const { return draining_; }
  // Of the runs there are and of those about to start.
  void cancel_all();
  int active_runs() const { return places_.taken(); }
  // Has it the key it needs? Where none is needed, everybody has.
  bool knows(const HttpRequest& head) const { return access_.caller(head).has_value(); }

 private:
  using Routed = std::unique_ptr<Reply>;

  class Admission;
  struct AnswerRules {
    std::string grammar;
    const char* field = "";  // of the request, that asked for it
  };

  // Errors become their responses.
  static std::unique_ptr<Reply> or_error(const std::function<std::unique_ptr<Reply>()>& make);
  Routed route(const HttpRequest& request, Handled& handled);
  // By a worker, in its owner's turn. `make` has what it needs by value; all of it is let go of when the client leaves
  // before its turn.
  Routed on_worker(std::uint64_t owner, std::function<Routed()> make);
  static bool is_long(const HttpRequest& request);
  // A long body is read by a worker: a thread that serves connections is not to be kept by one of them. `read` has what
  // it needs by value, and a copy of the request.
  Routed on_worker_if_long(std::uint64_t owner, const HttpRequest& request,
                           std::function<Routed(const HttpRequest&)> read);
  // What is not OpenAI's completions; null: not one of those either.
  Routed route_more(const HttpRequest& request, const Caller& caller, Handled& handled);
  Routed ollama(const HttpRequest& request, const std::shared_ptr<Admission>& admission, const std::string& path,
                const std::string& id);
  Routed text_tools(const HttpRequest& request);
  // A place in the queue; refuses whoever has no chance, before its body is looked at.
  std::shared_ptr<Admission> admit(const Caller& caller);
  Routed complete(const HttpRequest& request, const std::shared_ptr<Admission>& admission, CompletionKind kind,
                  const std::string& id);
  // A chat whose run goes on when its client has gone: it is looked up by its id.
  Routed start_tree(const HttpRequest& request, const std::shared_ptr<Admission>& admission, const std::string& id);
  // A body of OpenAI's completions, twice: with its keys in order, too.
  Routed complete_body(const nlohmann::json& json, const nlohmann::ordered_json& ordered,
                       const std::shared_ptr<Admission>& admission, CompletionKind kind, CompletionFormat format);
  // The slow part of it, on a worker.
  Routed begin(const CompletionRequest& asked, CompletionFormat format, Admission& admission);
  std::shared_ptr<Run> start_run(RunOptions options);
  // What it may take is refused here, before any of it is allocated.
  void check_cost(const CompletionRequest& request, const SearchOptions& search, std::size_t prompt_tokens) const;
  void check_bytes(const CompletionRequest& request) const;
  // In which form a chat's last question is asked; none: as it is, and where tools or a format decide what is said.
  std::optional<AnswerForm> answer_form(const CompletionRequest& request) const;
  ChatPrompt make_prompt(const CompletionRequest& request) const;
  // The grammar of what its trajectories may say; none: anything. It is made once for all choices: that takes time.
  std::optional<AnswerRules> answer_rules(const CompletionRequest& request) const;
  // Of one choice; null: it may say anything.
  std::shared_ptr<const LogitsFilter> make_filter(const CompletionRequest& request, const ChatPrompt& prompt,
                                                  const std::optional<AnswerRules>& rules) const;
  SearchOptions search_options(const CompletionRequest& request, std::size_t prompt_tokens) const;
  void finished(const std::shared_ptr<Run>& run);
  void cancel(const Run& run);

  Routed models(const std::string& id) const;
  // 404 for another model than the one there is, whatever method its name asks for. Nothing said is no other.
  void check_model(const std::string& name) const;
  [[noreturn]] void refuse_model() const;
  Routed health() const;
  Routed metrics() const;
  Routed asset(const HttpRequest& request) const;
  Routed trees(const Caller& caller) const;
  Routed tree(const HttpRequest& request, const Caller& caller, const std::string& rest, Handled& handled);
  Routed tree_file(const std::shared_ptr<Run>& run);
  Routed events(const HttpRequest& request, const std::shared_ptr<Run>& run);
  std::shared_ptr<OpenStream> open_stream();
  // When a reply that begins now must have been read.
  std::chrono::steady_clock::time_point last_moment() const;

  const ServiceOptions options_;
  const Access access_;
  Engine& engine_;
  const Vocabulary& vocabulary_;
  mutable std::once_flag thinking_read_;
  mutable ThinkingTokens thinking_tokens_;  // once thinking_read_
  Metrics metrics_;
  RunStore store_;
  std::atomic<bool> draining_ = false;
  Places places_;
  std::shared_ptr<std::atomic<int>> event_streams_ = std::make_shared<std::atomic<int>>(0);
  std::mutex jobs_mutex_;              // guards what follows
  std::map<std::string, JobId> jobs_;  // of active runs
  bool ended_ = false;                 // no run starts any more
  Workers workers_;
  EngineLoop loop_;  // last: its thread uses all of the above
};

}  // namespace dts::serve
