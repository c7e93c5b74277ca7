// The remote model over real sockets: servers that speak the wire formats, and servers that misbehave.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "dts/error.h"
#include "dts/remote.h"
#include "dts/scheduler.h"
#include "dts/text_search.h"
#include "remote/loopback_server.h"
#include "remote/wire_server.h"

namespace dts {
namespace {

WireModel make_model(RemoteKind kind) {
  WireModel model;
  model.kind = kind;
  model.n_vocab = 12;
  model.script = RandomScript{.seed = 5, .n_vocab = 12, .end_token = 0, .end_bias = -1.0};
  return model;
}

// What an engine asks for; not the model's questions whether a server tells decision tokens, and what its
// log-probabilities are.
bool generates(const LoopbackRequest& request) {
  if (request.body.find("dts_probe") != std::string::npos) return false;
  if (request.path != "/completion" && request.body.find(R"("stream":false)") != std::string::npos) return false;
  return request.path == "/generate" || request.path == "/completion" || request.path == "/v1/completions";
}

void answer_facts(const WireModel& model, const LoopbackRequest& request, LoopbackReply& reply) {
  std::optional<std::string> fact = wire_fact(model, request.path, request.body);
  if (request.path == "/v1/completions" || request.path == "/generate") fact = WireAnswer(model, request.body).next();
  reply.head(fact ? 200 : 404);
  reply.chunk(fact.value_or(R"({"detail":"Not Found"})"));
  reply.end();
}

void answer_well(const WireModel& model, const LoopbackRequest& request, LoopbackReply& reply) {
  if (!generates(request)) return answer_facts(model, request, reply);
  WireAnswer answer(model, request.body);
  if (!reply.head(200)) return;
  while (const std::optional<std::string> piece = answer.next()) {
    if (!reply.chunk(*piece)) return;  // the client has gone
  }
  reply.end();
}

RemoteModelOptions options_for(const WireModel& model, std::vector<std::string> urls) {
  RemoteModelOptions options;
  options.kind = model.kind;
  options.urls = std::move(urls);
  options.candidates = model.n_vocab;
  options.stall_timeout = 0.3;
  options.first_token_timeout = 0.5;
  return options;
}

SearchOptions search_options(float temperature = 0) {
  SearchOptions options;
  options.method = make_method("dts-stable", {.branch = {.tau_v = 0.3, .max_branches = 6}, .votes = 4});
  options.sampling.temperature = temperature;
  options.max_tokens = 24;
  return options;
}

std::string describe(const Search& search) {
  std::string text = search.outcome().error;
  for (const Segment& segment : search.tree().segments()) {
    text += "\n" + std::to_string(segment.parent) + ":";
    for (const TokenRecord& token : segment.tokens) text += " " + std::to_string(token.token);
  }
  return text;
}

std::shared_ptr<Search> decode(Engine& engine, const std::function<void(const SearchEvent&)>& on_event = nullptr,
                               const SearchOptions& options = search_options()) {
  auto search = std::make_shared<Search>(std::vector<Token>{1, 2, 3}, options,
                                         SearchText{.is_end = [](Token token) { return token == 0; },
                                                    .answer_of = [](std::span<const Token>) { return "a"; }},
                                         12);
  search->on_event = on_event;
  Scheduler scheduler(engine);
  Job job;
  job.search = search;
  scheduler.submit(std::move(job));
  scheduler.run();
  return search;
}

std::string undisturbed(const WireModel& model) {
  ScriptedEngine engine({.n_vocab = model.n_vocab, .max_branches = 8}, model.script);
  return describe(*decode(engine));
}

class RemoteHttp : public ::testing::TestWithParam<RemoteKind> {};

TEST_P(RemoteHttp, DecodesTheTreeOfAnEngineInProcess) {
  const WireModel model = make_model(GetParam());
  LoopbackServer server(
      [&](const LoopbackRequest& request, LoopbackReply& reply) { answer_well(model, request, reply); });
  const auto remote = make_remote_model(options_for(model, {server.url()}));
  EXPECT_EQ(remote->info().name, "m");
  const auto engine = remote->make_engine({.max_branches = 8, .context_length = 100});
  EXPECT_FALSE(engine->info().capabilities.honours_draws);
  EXPECT_EQ(describe(*decode(*engine)), undisturbed(model));
  EXPECT_EQ(remote->vocabulary().piece(7), "<7>");
  if (GetParam() != RemoteKind::kSglang) {
    EXPECT_EQ(remote->vocabulary().chat(std::vector<ChatMessage>{{"user", "hi"}}).tokens,
              (std::vector<Token>{1, 2, 3}));
  } else {
    EXPECT_THROW(remote->vocabulary().chat(std::vector<ChatMessage>{{"user", "hi"}}), Error);
  }
}

// Every request but the first few goes well: whatever those were, the tree is the same.
TEST_P(RemoteHttp, SurvivesServersThatMisbehave) {
  const WireModel model = make_model(GetParam());
  const std::string expected = undisturbed(model);
  using Misdeed = std::function<void(WireAnswer&, LoopbackReply&)>;
  const std::vector<std::pair<const char*, Misdeed>> misdeeds = {
      {"500",
       [](WireAnswer&, LoopbackReply& reply) {
         reply.head(500);
         reply.chunk(R"({"error":{"message":"out of memory","code":500}})");
         reply.end();
       }},
      {"429",
       [](WireAnswer&, LoopbackReply& reply) {
         reply.head(429, "Retry-After: 1\r\n");
         reply.end();
       }},
      {"cut inside a line",
       [](WireAnswer& answer, LoopbackReply& reply) {
         reply.head(200);
         reply.chunk(*answer.next());
         const std::string piece = *answer.next();
         reply.chunk(piece.substr(0, piece.find('\xE2') + 1));  // inside a character, where there is one
       }},
      {"hang",
       [](WireAnswer& answer, LoopbackReply& reply) {
         reply.head(200);
         reply.chunk(*answer.next());
         reply.wait_until_closed();
       }},
      {"no answer at all", [](WireAnswer&, LoopbackReply& reply) { reply.wait_until_closed(); }},
      {"not HTTP", [](WireAnswer&, LoopbackReply& reply) { reply.raw("HELO\r\n\r\n"); }},
      {"repeated",
       [](WireAnswer& answer, LoopbackReply& reply) {
         reply.head(200);
         while (const auto piece = answer.next()) {
           reply.chunk(*piece);
           reply.chunk(*piece);
         }
         reply.end();
       }},
      {"a lie",
       [](WireAnswer& answer, LoopbackReply& reply) {
         reply.head(200);
         std::string piece = *answer.next();
         for (std::size_t at = piece.find("-0."); at != std::string::npos; at = piece.find("-0.", at + 1)) {
           piece.replace(at, 3, "+9.");
         }
         reply.chunk(piece);
         reply.end();
       }},
  };
  for (const auto& [name, does] : misdeeds) {
    const auto& misdeed = does;  // clang 14 captures no structured binding
    std::atomic<int> left = 2;
    LoopbackServer server([&](const LoopbackRequest& request, LoopbackReply& reply) {
      if (!generates(request) || left.fetch_sub(1) <= 0) return answer_well(model, request, reply);
      WireAnswer answer(model, request.body);
      misdeed(answer, reply);
    });
    const auto remote = make_remote_model(options_for(model, {server.url()}));
    const auto engine = remote->make_engine({.max_branches = 8, .context_length = 100});
    EXPECT_EQ(describe(*decode(*engine)), expected) << name;
    EXPECT_LE(left, 0) << name << ": it never happened";
  }
}

TEST_P(RemoteHttp, ARefusalIsSaidInOneLineAtOnce) {
  const WireModel model = make_model(GetParam());
  for (const int status : {400, 401, 404, 307}) {
    LoopbackServer server([&](const LoopbackRequest& request, LoopbackReply& reply) {
      if (!generates(request)) return answer_facts(model, request, reply);
      reply.head(status, "Location: http://example.invalid/\r\n");
      reply.chunk(R"({"error":{"message":"not\nso"}})");
      reply.end();
    });
    RemoteModelOptions options = options_for(model, {server.url()});
    options.api_key = "sk-secret";
    const auto remote = make_remote_model(options);
    const auto engine = remote->make_engine({.max_branches = 8, .context_length = 100});
    const auto search = decode(*engine);
    EXPECT_EQ(search->outcome().reason, StopReason::kFailed);
    EXPECT_EQ(search->outcome().error, server.url() + ": HTTP " + std::to_string(status) + ": not so");
    EXPECT_EQ(remote_traffic(*engine).requests, 1);
  }
}

// A server that gives three tokens a request and drops the connection when it has said so: nothing is wrong with that.
TEST_P(RemoteHttp, AnAnswerThatIsCompleteIsNoFailure) {
  const WireModel model = make_model(GetParam());
  LoopbackServer server([&](const LoopbackRequest& request, LoopbackReply& reply) {
    if (!generates(request)) return answer_facts(model, request, reply);
    nlohmann::json body = nlohmann::json::parse(request.body);
    for (const char* name : {"max_tokens", "n_predict"}) {
      if (body.contains(name)) body[name] = std::min<int>(3, body[name]);
    }
    if (body.contains("sampling_params")) {
      nlohmann::json& most = body["sampling_params"]["max_new_tokens"];
      most = std::min<int>(3, most);
    }
    WireAnswer answer(model, body.dump());
    if (!reply.head(200)) return;
    while (const std::optional<std::string> piece = answer.next()) {
      if (piece->find("[DONE]") == std::string::npos && !reply.chunk(*piece)) return;
    }
  });
  const auto remote = make_remote_model(options_for(model, {server.url()}));
  const auto engine = remote->make_engine({.max_branches = 8, .context_length = 100});
  EXPECT_EQ(describe(*decode(*engine)), undisturbed(model));
  EXPECT_EQ(remote_traffic(*engine).retries, 0);
}

// Some servers do not end the last line.
TEST_P(RemoteHttp, ALastLineNeedsNoEnd) {
  const WireModel model = make_model(GetParam());
  LoopbackServer server([&](const LoopbackRequest& request, LoopbackReply& reply) {
    if (!generates(request)) return answer_facts(model, request, reply);
    WireAnswer answer(model, request.body);
    std::string body;
    while (const std::optional<std::string> piece = answer.next()) body += *piece;
    if (const std::size_t done = body.find("data: [DONE]"); done != std::string::npos) body.resize(done);
    body.resize(body.find_last_not_of('\n') + 1);
    if (!reply.head(200) || !reply.chunk(body)) return;
    reply.end();
  });
  const auto remote = make_remote_model(options_for(model, {server.url()}));
  const auto engine = remote->make_engine({.max_branches = 8, .context_length = 100});
  EXPECT_EQ(describe(*decode(*engine)), undisturbed(model));
  EXPECT_EQ(remote_traffic(*engine).retries, 0);
}

INSTANTIATE_TEST_SUITE_P(Kinds, RemoteHttp,
                         ::testing::Values(RemoteKind::kVllm, RemoteKind::kSglang, RemoteKind::kLlamaServer),
                         [](const auto& kind) {
                           return kind.param == RemoteKind::kVllm     ? "vllm"
                                  : kind.param == RemoteKind::kSglang ? "sglang"
                                                                      : "llama_server";
                         });

// How far servers may be ahead of who takes their tokens, so that a kill finds streams open.
class Pace {
 public:
  // Until the trajectory may have so many tokens; false: nobody waits any more.
  bool wait_for(std::size_t length) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return over_ || length <= allowed_; });
    return !over_;
  }
  void allow(std::size_t length) {
    const std::lock_guard lock(mutex_);
    allowed_ = length;
    changed_.notify_all();
  }
  void end() {
    const std::lock_guard lock(mutex_);
    over_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t allowed_ = 0;
  bool over_ = false;
};

// An endpoint that can be killed and comes back at the same address.
class Endpoint {
 public:
  explicit Endpoint(const WireModel& model) : model_(model) { start(0); }
  ~Endpoint() { kill(); }
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  std::string url() const { return server_->url(); }
  void allow(std::size_t length) { pace_->allow(length); }
  void kill() {
    if (server_ == nullptr) return;
    port_ = server_->port();
    pace_->end();
    server_.reset();
  }
  void come_back() {
    if (server_ == nullptr) start(port_);
  }

 private:
  void start(int port) {
    pace_ = std::make_shared<Pace>();
    pace_->allow(kAhead);
    server_ = std::make_unique<LoopbackServer>(
        [this, pace = pace_](const LoopbackRequest& request, LoopbackReply& reply) {
          if (!generates(request)) return answer_facts(model_, request, reply);
          WireAnswer answer(model_, request.body);
          if (!reply.head(200)) return;
          while (const std::optional<std::string> piece = answer.next()) {
            if (!pace->wait_for(answer.tokens().size()) || !reply.chunk(*piece)) return;
          }
          reply.end();
        },
        port);
  }

 public:
  static constexpr std::size_t kAhead = 6;  // tokens: the prompt, and as many again

 private:
  const WireModel& model_;
  int port_ = 0;
  std::shared_ptr<Pace> pace_;
  std::unique_ptr<LoopbackServer> server_;
};

// DTS_KILLS: how many.
TEST(RemoteFleet, KillsOfAnEndpointDoNotChangeTrees) {
  const char* asked = std::getenv("DTS_KILLS");
  const int kills = asked != nullptr ? std::atoi(asked) : 9;
  std::mt19937_64 random(7);
  std::int64_t retries = 0;
  for (int i = 0; i < kills; ++i) {
    const RemoteKind kind =
        std::vector{RemoteKind::kVllm, RemoteKind::kSglang, RemoteKind::kLlamaServer}[static_cast<std::size_t>(i) % 3];
    WireModel model = make_model(kind);
    model.script = RandomScript{.seed = random() % 50, .n_vocab = 12, .end_token = 0, .end_bias = -4.0};
    const std::string expected = undisturbed(model);
    Endpoint first(model);
    Endpoint second(model);
    const auto remote = make_remote_model(options_for(model, {first.url(), second.url()}));
    const auto engine = remote->make_engine({.max_branches = 8, .context_length = 100});
    const int moment = static_cast<int>(random() % 12);
    Endpoint& victim = random() % 3 == 0 ? second : first;  // the first has the question
    const auto search = decode(*engine, [&](const SearchEvent& event) {
      if (event.type != SearchEvent::Type::kStep) return;
      if (event.step == moment) victim.kill();
      if (event.step == moment + 4) victim.come_back();
      for (Endpoint* endpoint : {&first, &second}) {
        endpoint->allow(Endpoint::kAhead + static_cast<std::size_t>(event.step));
      }
    });
    EXPECT_EQ(describe(*search), expected) << "kill " << i << " at step " << moment;
    retries += remote_traffic(*engine).retries;
    first.kill();
    second.kill();
  }
  EXPECT_GT(retries, kills / 3) << "the kills found streams open";
  std::printf("%d kills, %lld requests again\n", kills, static_cast<long long>(retries));
}

TEST(RemoteModel, TheKeyGoesToTheServerAndNowhereElse) {
  const WireModel model = make_model(RemoteKind::kVllm);
  std::atomic<int> with_key = 0;
  LoopbackServer server([&](const LoopbackRequest& request, LoopbackReply& reply) {
    with_key += request.headers.find("Authorization: Bearer sk-secret\r\n") != std::string::npos ? 1 : 0;
    answer_well(model, request, reply);
  });
  RemoteModelOptions options = options_for(model, {server.url()});
  options.api_key = "sk-secret";
  const auto remote = make_remote_model(options);
  const EnginePlan plan = remote->plan_engine({.max_branches = 8, .context_length = 100});
  const auto engine = plan.make();
  decode(*engine);
  EXPECT_EQ(with_key, server.requests());
  std::string shown = plan.description + remote->info().description + remote->info().name;
  for (const auto& [name, value] : plan.settings) shown += name + value;
  EXPECT_EQ(shown.find("secret"), std::string::npos);
}

// A server that repeats the key it was given, when a branch is asked for and while the model is loaded.
TEST(RemoteModel, AKeyThatAServerRepeatsIsNotShown) {
  const WireModel model = make_model(RemoteKind::kVllm);
  const std::string complaint = R"({"error":{"message":"key sk-secret is not good: Bearer sk-secret","code":401}})";
  {
    LoopbackServer server([&](const LoopbackRequest& request, LoopbackReply& reply) {
      if (!generates(request)) return answer_facts(model, request, reply);
      reply.head(401);
      reply.chunk(complaint);
      reply.end();
    });
    RemoteModelOptions options = options_for(model, {server.url()});
    options.api_key = "sk-secret";
    const auto remote = make_remote_model(options);
    const auto engine = remote->make_engine({.max_branches = 8, .context_length = 100});
    EXPECT_EQ(decode(*engine)->outcome().error, server.url() + ": HTTP 401: key [key] is not good: Bearer [key]");
  }
  LoopbackServer server([&](const LoopbackRequest&, LoopbackReply& reply) {
    reply.head(401);
    reply.chunk(complaint);
    reply.end();
  });
  RemoteModelOptions options = options_for(model, {server.url()});
  options.api_key = "sk-secret";
  try {
    make_remote_model(options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find("secret"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("[key]"), std::string::npos) << error.what();
  }
}

// A fleet that is away for a moment costs a question's text no more than its branches.
TEST(RemoteModel, TextWaitsForServersThatComeBack) {
  const WireModel model = make_model(RemoteKind::kVllm);
  std::atomic<int> away = 0;
  LoopbackServer server([&](const LoopbackRequest& request, LoopbackReply& reply) {
    if (away.fetch_sub(1) <= 0) return answer_well(model, request, reply);
    reply.head(503);
    reply.chunk(R"({"error":{"message":"Loading model","code":503}})");
    reply.end();
  });
  const auto remote = make_remote_model(options_for(model, {server.url()}));
  away = 2;
  EXPECT_EQ(remote->vocabulary().piece(7), "<7>");
  EXPECT_LE(away, 0);
  away = 1;
  EXPECT_THROW(make_remote_model(options_for(model, {server.url()})), Error)
      << "while it is loaded, it is said at once";
}

// Prompts of an API of text are kept as words: they come again.
TEST(RemoteModel, PromptsOfTextLeaveOnlyTheirWordsBehind) {
  LoopbackServer server([&](const LoopbackRequest&, LoopbackReply& reply) {
    reply.head(200);
    reply.chunk(R"({"object":"list","data":[{"id":"m\u001b[31m","object":"model"}]})");
    reply.end();
  });
  RemoteModelOptions options;
  options.kind = RemoteKind::kOpenai;
  options.urls = {server.url()};
  const auto remote = make_remote_model(options);
  EXPECT_EQ(remote->info().name.find('\x1b'), std::string::npos) << "what a server calls its model is not trusted";
  const std::string words[] = {"alpha", " beta", "  \ngamma", " \u00e9\u00e9\u00e9",
                               " " + std::string(100, 'x') + "\u00e9"};
  std::mt19937_64 random(3);
  Token least = std::numeric_limits<Token>::max();
  Token most = 0;
  for (int i = 0; i < 1000; ++i) {
    std::string prompt;
    for (int word = 0; word < 20; ++word) prompt += words[random() % std::size(words)];
    std::string back;
    for (const Token token : remote->vocabulary().tokenize_prompt(prompt)) {
      back += remote->vocabulary().piece(token, true);
      least = std::min(least, token);
      most = std::max(most, token);
    }
    ASSERT_EQ(back, prompt);
  }
  EXPECT_LT(most - least, 300);
}

// Log-probabilities before or after the temperature: found out, or told, the tree and its statistics are the same.
TEST(RemoteModel, TheTemperatureOfLogprobsIsFoundOut) {
  for (const RemoteKind kind : {RemoteKind::kSglang, RemoteKind::kVllm}) {
    std::vector<std::shared_ptr<Search>> searches;
    for (const bool tempered : {false, true}) {
      WireModel model = make_model(kind);
      model.tempered = tempered;
      LoopbackServer server(
          [&](const LoopbackRequest& request, LoopbackReply& reply) { answer_well(model, request, reply); });
      for (const bool told : {false, true}) {
        RemoteModelOptions options = options_for(model, {server.url()});
        if (told) {
          options.logprobs = tempered ? LogprobsScale::kAfterTemperature : LogprobsScale::kBeforeTemperature;
        }
        const auto remote = make_remote_model(options);
        const EnginePlan plan = remote->plan_engine({.max_branches = 8, .context_length = 100});
        EXPECT_EQ(plan.description.find("after the temperature") != std::string::npos, tempered) << told;
        searches.push_back(decode(*plan.make(), nullptr, search_options(0.9F)));
      }
    }
    for (const auto& search : searches) {
      ASSERT_EQ(describe(*search), describe(*searches.front()));
      for (std::size_t i = 0; i < search->tree().segments().size(); ++i) {
        const auto& tokens = search->tree().segments()[i].tokens;
        const auto& others = searches.front()->tree().segments()[i].tokens;
        for (std::size_t k = 0; k < tokens.size(); ++k) {
          // Servers of these kinds do not say that the vocabulary ends here.
          EXPECT_NEAR(tokens[k].entropy, others[k].entropy, 5e-3);
          EXPECT_NEAR(tokens[k].varentropy, others[k].varentropy, 2e-2);
          EXPECT_NEAR(tokens[k].logprob, others[k].logprob, 2e-2);
        }
      }
    }
  }
}

// A server of text that gives three trajectories, the second of them the most probable: an end has no log-probability.
TEST(RemoteModel, TheBestTrajectoryOfAnApiOfTextIsTheMostProbable) {
  std::atomic<int> asked = 0;
  LoopbackServer server([&](const LoopbackRequest& request, LoopbackReply& reply) {
    reply.head(200);
    if (request.path == "/v1/models") {
      reply.chunk(R"({"data":[{"id":"m"}]})");
    } else {
      const bool probe = request.body.find(R"("stream":false)") != std::string::npos;
      const int which = probe ? 0 : asked++;
      const double logprob = which == 1 ? -0.1 : -2.0 - which;
      nlohmann::json choice = {{"text", "w" + std::to_string(which)}, {"finish_reason", nullptr}};
      choice["logprobs"] = {{"tokens", {choice["text"]}},
                            {"token_logprobs", {logprob}},
                            {"top_logprobs", {{{choice["text"], logprob}, {"other", which == 1 ? -7.0 : -2.0}}}}};
      reply.chunk("data: " + nlohmann::json{{"choices", {choice}}}.dump() + "\n\n");
      reply.chunk("data: {\"choices\":[{\"text\":\"\",\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n");
    }
    reply.end();
  });
  RemoteModelOptions options;
  options.kind = RemoteKind::kOpenai;
  options.urls = {server.url()};
  options.candidates = 20;
  const auto remote = make_remote_model(options);
  const Vocabulary& vocabulary = remote->vocabulary();
  for (const SelectRule rule : {SelectRule::kMaxLogprob, SelectRule::kMaxConfidence}) {
    asked = 0;
    const auto engine = remote->make_engine({.max_branches = 8, .context_length = 100});
    SearchOptions best = search_options();
    MethodOptions three;
    three.votes = 3;
    three.branch.max_branches = 3;
    best.method = make_method("best-of-n", three);
    best.method.select = rule;
    const auto search =
        std::make_shared<Search>(vocabulary.tokenize_prompt("Count: "), best,
                                 SearchText{.is_end = [&](Token token) { return vocabulary.is_end(token); },
                                            .answer_of =
                                                [&](std::span<const Token> tokens) {
                                                  std::string text;
                                                  for (const Token token : tokens)
                                                    text += vocabulary.piece(token, false);
                                                  return text;
                                                }},
                                 0);
    Scheduler scheduler(*engine);
    Job job;
    job.search = search;
    scheduler.submit(std::move(job));
    scheduler.run();
    const Outcome outcome = search->outcome();
    ASSERT_EQ(outcome.finished.size(), 3U) << outcome.error;
    ASSERT_TRUE(outcome.winner);
    EXPECT_EQ(outcome.finished[*outcome.winner].answer, "w1");
    EXPECT_NEAR(outcome.finished[*outcome.winner].mean_logprob, -0.1, 1e-6) << "the mean of what is known";
  }
}

// Texts that never come again, as of a server that gives no log-probabilities, do not fill the memory.
TEST(RemoteModel, TextsAreKeptUpToABound) {
  LoopbackServer server([&](const LoopbackRequest&, LoopbackReply& reply) {
    reply.head(200);
    reply.chunk(R"({"data":[{"id":"m"}]})");
    reply.end();
  });
  RemoteModelOptions options;
  options.kind = RemoteKind::kOpenai;
  options.urls = {server.url()};
  options.logprobs = LogprobsScale::kBeforeTemperature;
  const auto remote = make_remote_model(options);
  std::set<Token> kept;
  std::string text;
  for (int i = 0; i < 600000; ++i) {
    text = " " + std::to_string(i) + "x" + std::to_string(i % 7);
    for (const Token token : remote->vocabulary().tokenize_prompt(text)) kept.insert(token);
  }
  EXPECT_LE(kept.size(), 1U << 19U);
  std::string back;
  for (const Token token : remote->vocabulary().tokenize_prompt(text)) back += remote->vocabulary().piece(token, true);
  EXPECT_EQ(back, text);
}

// A server that takes the question and says nothing is left when the user has had enough.
TEST(RemoteModel, LoadingEndsWhenItIsToldTo) {
  std::atomic<bool> asked = false;
  LoopbackServer server([&](const LoopbackRequest&, LoopbackReply& reply) {
    asked = true;
    reply.wait_until_closed();
  });
  RemoteModelOptions options;
  options.urls = {server.url()};
  options.stopping = [&] { return asked.load(); };
  const auto before = std::chrono::steady_clock::now();
  EXPECT_THROW(make_remote_model(options), Error);
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(30)) << "it would have waited for 60";
}

// One server of the wrong kind does not speak for the others; beside one that is dead, it is said soon.
TEST(RemoteModel, ARefusalOfOneServerIsNotTheFleets) {
  const WireModel model = make_model(RemoteKind::kVllm);
  LoopbackServer wrong([](const LoopbackRequest&, LoopbackReply& reply) {
    reply.head(404);
    reply.end();
  });
  auto right = std::make_unique<LoopbackServer>(
      [&](const LoopbackRequest& request, LoopbackReply& reply) { answer_well(model, request, reply); });
  const auto remote = make_remote_model(options_for(model, {wrong.url(), right->url()}));
  EXPECT_EQ(remote->vocabulary().piece(7), "<7>");
  right.reset();
  const auto before = std::chrono::steady_clock::now();
  std::string said;
  try {
    remote->vocabulary().piece(8);
  } catch (const Error& error) {
    said = error.what();
  }
  EXPECT_NE(said.find("HTTP 404"), std::string::npos) << said;
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(20)) << "it would have waited for 30";
}

TEST(RemoteModel, NobodyThereIsSaidInOneLine) {
  RemoteModelOptions options;
  {
    LoopbackServer gone([](const LoopbackRequest&, LoopbackReply&) {});
    options.urls = {gone.url()};
  }
  try {
    make_remote_model(options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(options.urls[0] + "/v1/models: "), std::string::npos) << error.what();
  }
  for (const char* url :
       {"", "host:80", "ftp://host", "http://user:pass@host", "http://a b", "http://host?key=1", "http://host#a"}) {
    options.urls = {url};
    EXPECT_THROW(make_remote_model(options), Error) << url;
  }
  for (const char* url :
       {"ftp://user:hidden@host", "user:hidden@host:80", "http://user:hidden@host?a", "http://h?k=hidden"}) {
    options.urls = {url};
    try {
      make_remote_model(options);
      ADD_FAILURE() << url;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find("hidden"), std::string::npos) << error.what();
    }
  }
}

// Descriptors are given back: many branches, one engine. DTS_BRANCHES: how many.
TEST(RemoteModel, LeavesNoDescriptorsBehind) {
  const char* asked = std::getenv("DTS_BRANCHES");
  const std::int64_t branches = asked != nullptr ? std::atoll(asked) : 300;
  const WireModel model = make_model(RemoteKind::kVllm);
  LoopbackServer server(
      [&](const LoopbackRequest& request, LoopbackReply& reply) { answer_well(model, request, reply); });
  const auto remote = make_remote_model(options_for(model, {server.url()}));
  const auto descriptors = [] {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(begin(all), end(all));
  };
  const auto engine = remote->make_engine({.max_branches = 8, .context_length = 100});
  decode(*engine);
  const auto before = descriptors();
  auto most = before;
  while (remote_traffic(*engine).requests < branches) {
    decode(*engine);
    most = std::max(most, descriptors());
  }
  // Ours are closed, or kept for the next requests; the server's threads may not have closed theirs yet.
  EXPECT_LE(most, before + std::ptrdiff_t{4} * 8);
  std::printf("%lld requests, %ld descriptors before, %ld at most\n",
              static_cast<long long>(remote_traffic(*engine).requests), static_cast<long>(before),
              static_cast<long>(most));
}

}  // namespace
}  // namespace dts
