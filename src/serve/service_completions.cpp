// The part of the service that decodes.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <utility>

#include "dts/error.h"
#include "serve/api/api_error.h"
#include "serve/api/body_limits.h"
#include "serve/api/completion_reply.h"
#include "serve/api/ollama.h"
#include "serve/api/option_fields.h"
#include "serve/api/responses.h"
#include "serve/http/late_reply.h"
#include "serve/runs/run_cost.h"
#include "serve/service.h"
#include "text/display.h"
#include "text/utf8.h"

namespace dts::serve {
namespace {

using namespace text;

std::int64_t unix_seconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

std::uint64_t random_seed() {
  std::random_device entropy;
  return entropy();  // 32 bits: any client's numbers can hold it
}

// What a listing shows of a request.
std::string question_of(const CompletionRequest& request, const ChatPrompt& prompt) {
  for (auto message = request.messages.rbegin(); message != request.messages.rend(); ++message) {
    if (message->role == "user") return message->content;
  }
  return request.messages.empty() ? prompt.text : request.messages.back().content;
}

// Tokenizing as much takes a few milliseconds: a connection's own thread can do it.
constexpr std::size_t kShortPrompt = std::size_t{16} << 10U;

std::size_t prompt_bytes(const CompletionRequest& request) {
  std::size_t bytes = 0;
  for (const ChatMessage& message : request.messages) {
    bytes += message.content.size();
    for (const ToolCall& call : message.tool_calls) bytes += call.arguments.size();
  }
  if (request.tools.shown()) bytes += request.tools.list.dump().size();
  if (const auto* tokens = std::get_if<std::vector<Token>>(&request.text)) return tokens->size() * sizeof(Token);
  return bytes + std::get<std::string>(request.text).size();
}

// Runs that nobody waits for: what can be had of them is at /v1/trees.
std::unique_ptr<Reply> started_reply(const std::vector<std::shared_ptr<Run>>& runs) {
  Json json;
  json["id"] = runs.front()->title().id;
  json["object"] = "tree";
  json["created"] = runs.front()->title().created;
  json["ids"] = Json::array();
  for (const auto& run : runs) {
    run->forget_shown_tokens();
    json["ids"].push_back(run->title().id);
  }
  HttpResponse response;
  response.status = 202;
  response.body = json.dump();
  return std::make_unique<ReadyReply>(std::move(response));
}

const char* prompt_field(const CompletionRequest& request) {
  return request.kind == CompletionKind::kChat ? "messages" : "prompt";
}

}  // namespace

// Places in the queue. Those that were not taken are given back.
class Service::Admission {
 public:
  // One place, until it is known how many runs are asked for. Throws ApiError when there is none.
  Admission(Service& service, const Caller& caller) : service_(service), owner_(caller.owner) { take_places(1); }
  ~Admission() {
    if (left_ > 0) service_.places_.cancel(owner_, left_);
  }
  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;

  std::uint64_t owner() const { return owner_; }
  // Throws ApiError when there are not so many.
  void ask_for(int runs) {
    if (runs == left_) return;
    service_.places_.cancel(owner_, std::exchange(left_, 0));
    take_places(runs);
  }
  // A run has one of them, and gives it back when it is done.
  void take() { --left_; }

 private:
  void take_places(int runs) {
    service_.places_.take(owner_, runs);
    left_ = runs;
  }

  Service& service_;
  std::uint64_t owner_;
  int left_ = 0;  // places that no run has yet
};

std::shared_ptr<Service::Admission> Service::admit(const Caller& caller) {
  if (draining()) throw ApiError(503, "the server is shutting down", {}, "shutting_down");
  return std::make_shared<Admission>(*this, caller);
}

void Service::check_cost(const CompletionRequest& request, const SearchOptions& search,
                         std::size_t prompt_tokens) const {
  const int kept = request.logprobs ? request.top_logprobs : 0;
  const std::int64_t bytes = request.choices * most_bytes(search, prompt_tokens, kept);
  if (bytes <= options_.limits.request_bytes) return;
  throw ApiError(400,
                 fmt::format("the request may take {} MiB: this server allows {}; lower max_tokens, max_total_tokens, "
                             "the branches, window, top_logprobs or n",
                             bytes >> 20U, options_.limits.request_bytes >> 20U),
                 {}, "too_costly");
}

// Refuses what cannot fit into the context whatever its tokens are, so that nobody's long text is tokenized for
// nothing. Only what templates keep counts: what users wrote, less its whitespace.
void Service::check_bytes(const CompletionRequest& request) const {
  const auto count = [](std::string_view text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return c != ' ' && (c < '\t' || c > '\r'); }));
  };
  std::size_t bytes = 0;
  for (const ChatMessage& message : request.messages) bytes += message.role == "user" ? count(message.content) : 0;
  if (const auto* text = std::get_if<std::string>(&request.text)) bytes += count(*text);
  const auto context = static_cast<std::size_t>(engine_.info().context_length);
  if (bytes <= context) return;  // a token is a byte at least
  const std::size_t longest = vocabulary_.longest_piece();
  if (longest == 0 || bytes <= context * longest) return;
  throw ApiError(400,
                 fmt::format("the prompt has {} tokens at least, but the context holds {}: shorten it",
                             (bytes + longest - 1) / longest, context),
                 prompt_field(request), "context_length_exceeded");
}

std::optional<AnswerForm> Service::answer_form(const CompletionRequest& request) const {
  const std::optional<AnswerForm> form = request.answer ? request.answer : options_.answer;
  const bool free = request.format.kind == AnswerFormat::Kind::kFree && !request.tools.shown();
  const bool asked = !request.messages.empty() && request.messages.back().role == "user";
  if (!form || !free || !asked) return std::nullopt;
  return form_of(*form, request.messages.back().content);
}

ChatPrompt Service::make_prompt(const CompletionRequest& request) const {
  if (request.kind == CompletionKind::kChat) {
    try {
      ChatOptions options;
      if (request.tools.shown()) options.tools = request.tools.list.dump();
      options.variables = request.template_variables;
      if (const std::optional<AnswerForm> form = answer_form(request)) {
        std::vector<ChatMessage> messages = request.messages;
        messages.back().content = asked_in(*form, messages.back().content);
        return vocabulary_.chat_with(messages, options);
      }
      return vocabulary_.chat_with(request.messages, options);
    } catch (const Error& error) {
      const bool wrong = error.kind() == Error::Kind::kUsage;
      throw ApiError(400, text::one_line(error.spelled(field_name)), "messages",
                     wrong ? "invalid_value" : "chat_template_failed");
    }
  }
  ChatPrompt prompt;
  if (const auto* tokens = std::get_if<std::vector<Token>>(&request.text)) {
    for (const Token token : *tokens) {
      if (vocabulary_.size() > 0 && token >= vocabulary_.size()) {
        throw ApiError(400, fmt::format("prompt has the token {}: the vocabulary has {}", token, vocabulary_.size()),
                       "prompt", "invalid_value");
      }
    }
    prompt.tokens = *tokens;
    prompt.text = text::valid_utf8(vocabulary_.detokenize(*tokens, true));
  } else {
    prompt.text = std::get<std::string>(request.text);
    try {
      prompt.tokens = vocabulary_.tokenize_prompt(prompt.text);
    } catch (const Error& error) {
      throw ApiError(400, text::one_line(error.spelled(field_name)), "prompt", "invalid_value");
    }
  }
  if (prompt.tokens.empty()) throw ApiError(400, "prompt is empty: it must have a token", "prompt", "invalid_value");
  const std::string_view text = prompt.text;
  prompt.opens_thinking = text.substr(0, text.find_last_not_of(" \t\r\n") + 1).ends_with("<think>");
  return prompt;
}

std::optional<Service::AnswerRules> Service::answer_rules(const CompletionRequest& request) const {
  const bool formatted = request.format.kind != AnswerFormat::Kind::kFree;
  const bool must_call = request.tools.choice == ToolsAsked::Choice::kRequired;
  if (formatted && must_call) {
    throw ApiError(400, "tool_choice asks for a call and response_format for an answer: leave one of them out",
                   "response_format", "invalid_value");
  }
  if (!formatted && !must_call) return std::nullopt;
  AnswerRules rules;
  rules.field = must_call                                             ? "tools"
                : request.format.kind == AnswerFormat::Kind::kGrammar ? "grammar"
                                                                      : "response_format";
  try {
    rules.grammar = must_call ? tool_grammar(request.tools, vocabulary_) : answer_grammar(request.format, vocabulary_);
  } catch (const Error& error) {
    throw ApiError(400, text::one_line(error.spelled(field_name)), rules.field, "invalid_value");
  }
  return rules;
}

std::shared_ptr<const LogitsFilter> Service::make_filter(const CompletionRequest& request, const ChatPrompt& prompt,
                                                         const std::optional<AnswerRules>& rules) const {
  std::vector<std::unique_ptr<LogitsFilter>> filters;
  for (const auto& [token, bias] : request.penalties.biases) {
    if (token < vocabulary_.size()) continue;
    throw ApiError(400, fmt::format("logit_bias has the token {}: the vocabulary has {}", token, vocabulary_.size()),
                   "logit_bias", "invalid_value");
  }
  if (!request.penalties.none()) {
    filters.push_back(std::make_unique<PenaltyFilter>(request.penalties, prompt.tokens));
  }
  if (rules) {
    try {
      using Start = AnswerFilter::Start;
      const Start start = request.kind == CompletionKind::kText ? Start::kAnswer
                          : prompt.opens_thinking               ? Start::kThinking
                                                                : Start::kEither;
      // Nothing walks the vocabulary before it has to.
      std::call_once(thinking_read_, [this] { thinking_tokens_ = thinking_tokens(vocabulary_); });
      filters.push_back(std::make_unique<AnswerFilter>(vocabulary_, thinking_tokens_, rules->grammar, start));
    } catch (const Error& error) {
      throw ApiError(400, text::one_line(error.spelled(field_name)), rules->field, "invalid_value");
    }
  }
  if (filters.empty()) return nullptr;
  if (!engine_.info().capabilities.filters_logits) {
    throw ApiError(400, engine_.info().kind + " cannot constrain what is generated", {}, "unsupported_parameter");
  }
  if (filters.size() == 1) return std::move(filters.front());
  return std::make_shared<FilterChain>(std::move(filters));
}

SearchOptions Service::search_options(const CompletionRequest& request, std::size_t prompt_tokens) const {
  const Limits& limits = options_.limits;
  const EngineInfo& info = engine_.info();
  const int room = info.context_length - static_cast<int>(prompt_tokens);
  if (room < 1) {
    throw ApiError(400,
                   fmt::format("the prompt has {} tokens, but the context holds {}: shorten it", prompt_tokens,
                               info.context_length),
                   prompt_field(request), "context_length_exceeded");
  }
  DecodingOptions decoding = request.decoding;
  if (!decoding.seed) decoding.seed = random_seed();
  if (!decoding.max_tokens) decoding.max_tokens = info.context_length;
  if (decoding.max_total_tokens == 0) decoding.max_total_tokens = limits.max_total_tokens;
  SearchOptions search;
  try {
    search = decoding.search();
    search.top_k = request.logprobs ? std::max(1, request.top_logprobs) : 0;  // the token's own needs one, too
    limit_tokens(search, limits.max_tokens > 0 ? std::min(room, limits.max_tokens) : room);
    validate(search, vocabulary_.size());
  } catch (const Error& error) {
    throw api_error(error);
  }
  if (search.method.max_live() > limits.branches) {
    throw ApiError(400,
                   fmt::format("{} may have {} branches at once: this server allows {}", search.method.name,
                               search.method.max_live(), limits.branches),
                   "dts", "too_many_branches");
  }
  return search;
}

std::shared_ptr<Run> Service::start_run(RunOptions options) {
  auto run = std::make_shared<Run>(std::move(options), vocabulary_, engine_.info());
  Job job = run->job();
  job.on_done = [this, run, tell = std::move(job.on_done)](const JobTimes& times) {
    places_.give_back(run->owner(), 1);  // before the client is told: its next request must find the place free
    tell(times);
    finished(run);
  };
  const std::scoped_lock lock(jobs_mutex_);  // it may be done before its id is known
  if (ended_) throw ApiError(503, "the server is shutting down", {}, "shutting_down");
  store_.add(run);
  jobs_[run->title().id] = loop_.submit(std::move(job));
  return run;
}

void Service::finished(const std::shared_ptr<Run>& run) {
  {
    const std::scoped_lock lock(jobs_mutex_);
    jobs_.erase(run->title().id);
  }
  const auto document = run->document();
  metrics_.count_run(*document);
  const Outcome& outcome = document->outcome;
  spdlog::info("{} {} {}: {} steps, {} branches, {} unique tokens; queued {:.3f} s, prefill {:.3f} s, decode {:.3f} s",
               run->title().id, document->options.method.name, to_string(outcome.reason), outcome.account.steps,
               outcome.account.branches, outcome.account.unique_tokens, document->times.queued, document->times.prefill,
               document->times.decode);
  store_.retire(run);
}

Service::Routed Service::complete(const HttpRequest& request, const std::shared_ptr<Admission>& admission,
                                  CompletionKind kind, const std::string& id) {
  const nlohmann::json json = parse_body(request.body, options_.limits);
  CompletionFormat format;
  format.title.id = id;
  return complete_body(json, parse_ordered_json(request.body, body_limits(options_.limits)), admission, kind,
                       std::move(format));
}

Service::Routed Service::start_tree(const HttpRequest& request, const std::shared_ptr<Admission>& admission,
                                    const std::string& id) {
  const nlohmann::json json = parse_body(request.body, options_.limits);
  CompletionFormat format;
  format.dialect = CompletionFormat::Dialect::kTree;
  format.title.id = id;
  return complete_body(json, parse_ordered_json(request.body, body_limits(options_.limits)), admission,
                       CompletionKind::kChat, std::move(format));
}

Service::Routed Service::complete_body(const nlohmann::json& json, const nlohmann::ordered_json& ordered,
                                       const std::shared_ptr<Admission>& admission, CompletionKind kind,
                                       CompletionFormat format) {
  const auto named = json.find("model");
  std::string model = named != json.end() && named->is_string() ? named->get<std::string>() : std::string();
  check_model(model);
  if (model.empty()) model = options_.model.id;
  const auto asked = std::make_shared<const CompletionRequest>(
      kind == CompletionKind::kChat ? read_chat_request(json, options_.defaults, options_.limits, ordered)
                                    : read_text_request(json, options_.defaults, options_.limits, ordered));
  check_bytes(*asked);
  admission->ask_for(asked->choices);
  format.title = {format.title.id, unix_seconds(), model, asked->kind};
  // Grammars are made of what a stranger wrote: not by a thread that has connections to serve.
  const bool constrained =
      asked->format.kind != AnswerFormat::Kind::kFree || asked->tools.choice == ToolsAsked::Choice::kRequired;
  if (!constrained && prompt_bytes(*asked) <= kShortPrompt) return begin(*asked, std::move(format), *admission);
  return on_worker(admission->owner(), [this, asked, format = std::move(format), admission] {
    const auto make = [&] { return begin(*asked, format, *admission); };
    return format.in_words ? format.in_words(make) : make();
  });
}

Service::Routed Service::begin(const CompletionRequest& asked, CompletionFormat format, Admission& admission) {
  const std::string& id = format.title.id;
  const ChatPrompt prompt = make_prompt(asked);
  const SearchOptions search = search_options(asked, prompt.tokens.size());
  check_cost(asked, search, prompt.tokens.size());
  format.logprobs = asked.logprobs;
  format.include_usage = asked.include_usage;
  format.draining = &draining_;
  // Whoever is in the queue now comes first.
  format.retry_after = [this] { return places_.seconds_until_free(std::max(1, places_.taken())); };
  const std::optional<AnswerRules> rules = answer_rules(asked);
  std::vector<std::shared_ptr<Run>> runs;
  try {
    for (int i = 0; i < asked.choices; ++i) {
      RunOptions options;
      options.title = {i == 0 ? id : fmt::format("{}-{}", id, i), format.title.created, options_.model.name,
                       question_of(asked, prompt)};
      options.prompt = prompt;
      options.search = search;
      options.search.seed += static_cast<std::uint64_t>(i);
      options.max_seconds = asked.decoding.max_seconds > 0 ? asked.decoding.max_seconds : options_.limits.seconds;
      options.max_queue_seconds = options_.limits.queue_seconds;
      options.owner = admission.owner();
      options.text = {asked.kind == CompletionKind::kChat, prompt.opens_thinking, asked.stop};
      options.top_logprobs = asked.logprobs ? asked.top_logprobs : 0;
      // One for each: what the grammar of one choice may still cost does not depend on the others.
      options.filter = make_filter(asked, prompt, rules);
      if (asked.tools.shown()) {
        options.tools = ToolSyntax{vocabulary_.tool_format(), asked.tools.names, asked.tools.parallel,
                                   asked.tools.choice == ToolsAsked::Choice::kRequired};
      }
      options.answer = answer_form(asked);
      options.votes_by_content = asked.format.kind != AnswerFormat::Kind::kFree;
      runs.push_back(start_run(std::move(options)));
      admission.take();
    }
  } catch (...) {
    for (const auto& run : runs) cancel(*run);
    throw;
  }
  if (options_.log_prompts) spdlog::info("{} asks: {}", id, text::one_line(runs.front()->title().question));
  if (format.dialect == CompletionFormat::Dialect::kTree) return started_reply(runs);
  auto owned = std::make_unique<CompletionRuns>(std::move(runs), [this](const Run& run) { cancel(run); });
  using Dialect = CompletionFormat::Dialect;
  if (format.dialect == Dialect::kResponses) {
    return std::make_unique<ResponsesReply>(std::move(format), std::move(owned), asked.stream);
  }
  if (format.dialect != Dialect::kOpenAi) {
    return std::make_unique<OllamaReply>(std::move(format), std::move(owned), asked.stream);
  }
  if (asked.stream) return std::make_unique<StreamedCompletion>(std::move(format), std::move(owned));
  return std::make_unique<WholeCompletion>(std::move(format), std::move(owned));
}

}  // namespace dts::serve
