// The service without sockets: routes, completions, trees, limits, and clients that leave.
#include <gtest/gtest.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "dts/tree_file.h"
#include "serve/api/choice_reader.h"
#include "serve/page/assets.h"
#include "serve/service.h"
#include "support/serve_support.h"

namespace dts::serve {
namespace {

using nlohmann::json;

constexpr const char* kChat = "/v1/chat/completions";

std::string chat_body(const std::string& fields = "") {
  return R"({"model":"scripted","messages":[{"role":"user","content":"hi"}],"seed":5)" +
         (fields.empty() ? "" : "," + fields) + "}";
}

HttpResponse ask(Service& service, const HttpRequest& request) { return Reading(service.handle(request)).whole(); }

json ask_json(Service& service, const HttpRequest& request) {
  const HttpResponse response = ask(service, request);
  EXPECT_EQ(response.status, 200) << response.body;
  return json::parse(response.body);
}

std::string header(const HttpResponse& response, const std::string& name) {
  for (const auto& [key, value] : response.headers) {
    if (key == name) return value;
  }
  return "";
}

// The chunks of a stream, and whether it ended as it should.
std::vector<json> chunks_of(const std::string& stream) {
  std::vector<json> chunks;
  std::istringstream lines(stream);
  bool done = false;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("data: ")) continue;
    EXPECT_FALSE(done);
    done = line == "data: [DONE]";
    if (!done) chunks.push_back(json::parse(line.substr(6)));
  }
  EXPECT_TRUE(done || chunks.back().contains("error"));
  return chunks;
}

// Waits for what another thread does; the test's own time limit is the limit.
void wait_until(const std::function<bool()>& condition) {
  while (!condition()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST(Service, AnswersAChat) {
  ScriptedService scripted(ScriptedService::random(3));
  const json reply = ask_json(scripted.service, post(kChat, chat_body()));
  EXPECT_EQ(reply["object"], "chat.completion");
  EXPECT_EQ(reply["model"], "scripted");
  ASSERT_EQ(reply["choices"].size(), 1U);
  const json& choice = reply["choices"][0];
  EXPECT_EQ(choice["message"]["role"], "assistant");
  EXPECT_EQ(choice["finish_reason"], "stop");
  EXPECT_EQ(choice["dts"]["tree"], reply["id"]);
  EXPECT_EQ(choice["dts"]["seed"], 5);
  EXPECT_EQ(choice["dts"]["method"], "dts-stable");
  const json& usage = reply["usage"];
  EXPECT_EQ(usage["completion_tokens"], choice["dts"]["unique_tokens"]);
  EXPECT_EQ(usage["total_tokens"], usage["prompt_tokens"].get<int>() + usage["completion_tokens"].get<int>());
  EXPECT_EQ(usage["prompt_tokens"], std::string("user:hi\n").size());
}

TEST(Service, AsksForAnAnswerInTheFormOfTheRequest) {
  ScriptedService scripted(ScriptedService::random(3));
  const auto prompt_tokens = [&](const std::string& form) {
    return ask_json(scripted.service, post(kChat, chat_body(form)))["usage"]["prompt_tokens"].get<std::size_t>();
  };
  const std::size_t plain = std::string("user:hi\n").size();  // a token a byte
  EXPECT_EQ(prompt_tokens(R"("dts":{"answer":"text"})"), plain);
  EXPECT_EQ(prompt_tokens(R"("dts":{"answer":"auto"})"), plain);  // it asks for no number
  EXPECT_EQ(prompt_tokens(R"("dts":{"answer":"boxed"})"), plain - 2 + asked_in(AnswerForm::kBoxed, "hi").size());
}

TEST(Service, AStreamIsTheSameTextForEveryMethod) {
  ScriptedService scripted(ScriptedService::random(3));
  for (const MethodInfo& method : methods()) {
    const std::string fields =
        R"("n":2,"max_tokens":60,"logprobs":true,"top_logprobs":2,"dts":{"samples":10,"method":")" +
        std::string(method.name) + "\"}";
    const json whole = ask_json(scripted.service, post(kChat, chat_body(fields)));
    const HttpResponse stream = ask(
        scripted.service, post(kChat, chat_body(fields + R"(,"stream":true,"stream_options":{"include_usage":true})")));
    EXPECT_EQ(stream.content_type, "text/event-stream");
    std::vector<std::string> content(2), reasoning(2), finish(2);
    std::vector<json> logprobs(2, json::array()), results(2);
    json usage;
    for (const json& chunk : chunks_of(stream.body)) {
      EXPECT_EQ(chunk["object"], "chat.completion.chunk");
      if (chunk["choices"].empty()) usage = chunk["usage"];
      for (const json& choice : chunk["choices"]) {
        const std::size_t index = choice["index"];
        EXPECT_EQ(finish[index], "");
        content[index] += choice["delta"].value("content", "");
        reasoning[index] += choice["delta"].value("reasoning_content", "");
        if (!choice["logprobs"].is_null()) {
          for (const json& entry : choice["logprobs"]["content"]) logprobs[index].push_back(entry);
        }
        if (!choice["finish_reason"].is_null()) {
          finish[index] = choice["finish_reason"];
          results[index] = choice["dts"];
        }
      }
    }
    for (std::size_t i = 0; i < 2; ++i) {
      const json& choice = whole["choices"][i];
      EXPECT_EQ(json(content[i]), choice["message"]["content"]) << method.name;
      EXPECT_EQ(reasoning[i], choice["message"].value("reasoning_content", "")) << method.name;
      EXPECT_EQ(json(finish[i]), choice["finish_reason"]) << method.name;
      EXPECT_EQ(logprobs[i], choice["logprobs"]["content"]) << method.name;
      EXPECT_EQ(results[i]["votes"], choice["dts"]["votes"]) << method.name;
      EXPECT_EQ(results[i]["seed"], 5 + i);
    }
    EXPECT_EQ(usage["prompt_tokens_details"]["cached_tokens"], usage["prompt_tokens"].get<int>() - 1) << "asked before";
    usage["prompt_tokens_details"] = whole["usage"]["prompt_tokens_details"];
    EXPECT_EQ(usage, whole["usage"]) << method.name;
    // Choice 1 is what the next seed gives alone.
    const std::string next =
        R"("seed":6,"max_tokens":60,"dts":{"samples":10,"method":")" + std::string(method.name) + "\"}";
    const json alone =
        ask_json(scripted.service, post(kChat, R"({"messages":[{"role":"user","content":"hi"}],)" + next + "}"));
    EXPECT_EQ(alone["choices"][0]["message"], whole["choices"][1]["message"]) << method.name;
  }
}

TEST(Service, TextsAreGivenAsTheyAre) {
  ScriptedService scripted(ScriptedService::random(3));
  const json reply =
      ask_json(scripted.service,
               post("/v1/completions",
                    R"({"prompt":"once upon","seed":2,"logprobs":2,"max_tokens":30,"dts":{"method":"standard"}})"));
  EXPECT_EQ(reply["object"], "text_completion");
  const json& choice = reply["choices"][0];
  const json& logprobs = choice["logprobs"];
  ASSERT_EQ(logprobs["tokens"].size(), logprobs["text_offset"].size());
  ASSERT_EQ(logprobs["tokens"].size(), logprobs["token_logprobs"].size());
  ASSERT_EQ(logprobs["tokens"].size(), logprobs["top_logprobs"].size());
  ASSERT_GT(logprobs["tokens"].size(), 2U);
  EXPECT_EQ(logprobs["text_offset"][0], 0);
  EXPECT_EQ(logprobs["text_offset"][1], count_characters(logprobs["tokens"][0].get<std::string>()));
  const json tokens = ask_json(
      scripted.service,
      post("/v1/completions", R"({"prompt":[19,18,7,9],"seed":1,"max_tokens":30,"dts":{"method":"standard"}})"));
  EXPECT_EQ(tokens["usage"]["prompt_tokens"], 4);
  EXPECT_EQ(ask(scripted.service, post("/v1/completions", R"({"prompt":[1000000]})")).status, 400);
  EXPECT_EQ(ask(scripted.service, post("/v1/completions", R"({"prompt":""})")).status, 400);
}

TEST(Service, ErrorsHaveTheRightStatus) {
  ServiceOptions options;
  options.limits.branches = 8;
  ScriptedService scripted(ScriptedService::random(3), options);
  Service& service = scripted.service;
  const auto error = [&](const HttpRequest& request) {
    const HttpResponse response = ask(service, request);
    const json body = json::parse(response.body)["error"];
    EXPECT_TRUE(body["message"].is_string() && body["type"].is_string() && body.contains("param"));
    return std::to_string(response.status) + " " + (body["code"].is_null() ? "" : body["code"].get<std::string>());
  };
  EXPECT_EQ(error(post(kChat, "{")), "400 invalid_json");
  EXPECT_EQ(error(post(kChat, R"({"model":"other","messages":[{"role":"user","content":"x"}]})")),
            "404 model_not_found");
  EXPECT_EQ(error(post(kChat, R"({"model":"scripted:magic","messages":[{"role":"user","content":"x"}]})")),
            "404 model_not_found");
  EXPECT_EQ(error(get("/v1/models/other")), "404 model_not_found");
  EXPECT_EQ(error(get("/nothing")), "404 not_found");
  EXPECT_EQ(error(get("/v1/trees/x")), "404 tree_not_found");
  EXPECT_EQ(error(get("/v1/trees/x/nothing")), "404 not_found");
  EXPECT_EQ(error(get(kChat)), "405 method_not_allowed");
  EXPECT_EQ(error(post("/v1/models", "{}")), "405 method_not_allowed");
  EXPECT_EQ(error({"POST", kChat, {{"content-type", "text/plain"}}, "{}"}), "415 unsupported_media_type");
  EXPECT_EQ(error(post(kChat, chat_body(R"("dts":{"method":"self-consistency","votes":9})"))), "400 too_many_branches");
  EXPECT_EQ(error(post(kChat, chat_body(R"("dts":{"method":"short-m@k","votes":9,"samples":3})"))),
            "400 invalid_value");
  const std::string long_text(600, 'x');
  EXPECT_EQ(error(post(kChat, R"({"messages":[{"role":"user","content":")" + long_text + "\"}]}")),
            "400 context_length_exceeded");
  EXPECT_EQ(header(ask(service, get(kChat)), "Allow"), "POST");
  // The library's words for options become the API's.
  const std::string message =
      json::parse(ask(service, post(kChat, chat_body(R"("dts":{"method":"short-m@k","votes":9,"samples":3})")))
                      .body)["error"]["message"];
  EXPECT_EQ(message.find("--"), std::string::npos) << message;
  EXPECT_EQ(service.active_runs(), 0);
}

TEST(Service, ABudgetEndsWithWhatThereIs) {
  ScriptedService scripted(endless);
  const json reply = ask_json(scripted.service, post(kChat, chat_body(R"("max_tokens":7)")));
  EXPECT_EQ(reply["choices"][0]["finish_reason"], "length");
  EXPECT_EQ(reply["choices"][0]["message"]["content"], "aaaaaaa");
  EXPECT_EQ(reply["usage"]["completion_tokens"], 7);
  // More than the context holds means all of it.
  const json all =
      ask_json(scripted.service, post(kChat, chat_body(R"("max_tokens":100000,"dts":{"method":"standard"})")));
  EXPECT_EQ(all["usage"]["completion_tokens"], 512 - static_cast<int>(std::string("user:hi\n").size()));
}

TEST(Service, BeyondTheQueueThereIs429AndAClientThatLeavesMakesRoom) {
  ServiceOptions options;
  options.limits.runs = 3;
  options.limits.seconds = 1000;
  ScriptedService scripted(endless, options, 8);
  Service& service = scripted.service;
  // The context ends every trajectory: ask for many tokens, on an engine that is slow enough.
  scripted.engine.before_step = [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); };
  Reading first(service.handle(post(kChat, chat_body())));
  Reading second(service.handle(post(kChat, chat_body(R"("stream":true)"))));
  Reading third(service.handle(post(kChat, chat_body())));
  EXPECT_EQ(service.active_runs(), 3);
  const HttpResponse refused = ask(service, post(kChat, chat_body()));
  EXPECT_EQ(refused.status, 429);
  EXPECT_NE(header(refused, "Retry-After"), "");
  first.leave();
  second.leave();
  wait_until([&] { return service.active_runs() == 1; });
  EXPECT_EQ(third.whole().status, 200);
  EXPECT_EQ(service.active_runs(), 0);
}

// Whitespace might be dropped by a template: it is not counted before it is tokenized.
std::string long_body() { return R"({"messages":[{"role":"user","content":")" + std::string(20'000, ' ') + "\"}]}"; }

// Holds whoever tokenizes until it is opened.
struct Gate {
  std::atomic<bool> open = false;
  std::atomic<int> waiting = 0;

  void pass() {
    ++waiting;
    wait_until([this] { return open.load(); });
    --waiting;
  }
};

TEST(Service, LongPromptsHoldUpNobody) {
  ServiceOptions options;
  options.limits.runs = 3;
  Gate gate;
  ScriptedService scripted(ScriptedService::random(3), options);
  scripted.vocabulary.before_tokenize = [&gate] { gate.pass(); };
  Service& service = scripted.service;
  Reading one(service.handle(post(kChat, long_body())));
  Reading two(service.handle(post(kChat, long_body())));
  // All workers are held before it comes: it cannot overtake the others on its way from one worker's task to the next.
  wait_until([&] { return gate.waiting == 2; });
  Reading leaving(service.handle(post(kChat, long_body())));
  EXPECT_EQ(service.active_runs(), 3);
  EXPECT_EQ(ask(service, get("/health")).status, 200);
  // Who has no place in the queue is told before anything is tokenized.
  EXPECT_EQ(ask(service, post(kChat, long_body())).status, 429);
  EXPECT_EQ(ask(service, post(kChat, chat_body())).status, 429);
  leaving.leave();
  EXPECT_EQ(service.active_runs(), 2) << "who leaves has no place any more, before its turn comes";
  gate.open = true;
  for (Reading* reading : {&one, &two}) {
    const HttpResponse response = reading->whole();
    EXPECT_EQ(response.status, 400);
    EXPECT_EQ(json::parse(response.body)["error"]["code"], "context_length_exceeded");
  }
  wait_until([&] { return service.active_runs() == 0; });
  EXPECT_EQ(ask(service, post(kChat, chat_body())).status, 200);
}

// What only a worker finds out is told in the API's own way, too.
// Counts the grammars that are made of schemas; all of them allow anything.
class CountingVocabulary final : public Vocabulary {
 public:
  class Anything final : public LogitsFilter {
   public:
    std::unique_ptr<LogitsFilter> clone() const override { return std::make_unique<Anything>(); }
    void accept(Token /*token*/) override {}
    void apply(std::span<float> /*logits*/) const override {}
  };

  int size() const override { return pieces_.size(); }
  std::string piece(Token token, bool special) const override { return pieces_.piece(token, special); }
  std::vector<Token> tokenize(std::string_view text, bool special) const override {
    return pieces_.tokenize(text, special);
  }
  bool is_end(Token token) const override { return pieces_.is_end(token); }
  ChatPrompt chat(std::span<const ChatMessage> messages) const override { return pieces_.chat(messages); }
  std::string grammar_of_schema(const std::string& /*json_schema*/) const override {
    ++made;
    return "root ::= \"a\"";
  }
  std::unique_ptr<LogitsFilter> grammar_filter(const std::string& /*gbnf*/, bool /*spaced*/) const override {
    return std::make_unique<Anything>();
  }

  mutable std::atomic<int> made = 0;

 private:
  PieceVocabulary pieces_{awkward_pieces()};
};

TEST(Service, ASchemaIsMadeAGrammarOnceForAllChoices) {
  const CountingVocabulary vocabulary;
  ScriptedEngineOptions sizes;
  sizes.n_vocab = vocabulary.size();
  sizes.max_branches = 48;
  sizes.context_length = 512;
  ScriptedEngine engine(sizes, ScriptedService::random(3));
  Service service(ScriptedService::with_model({}), engine, vocabulary);
  const json reply =
      ask_json(service, post(kChat, chat_body(R"("n":5,"max_tokens":20,"response_format":{"type":"json_object"})")));
  EXPECT_EQ(reply["choices"].size(), 5U);
  EXPECT_EQ(vocabulary.made.load(), 1);
}

TEST(Service, ErrorsOfLongPromptsAreInTheWordsOfTheApi) {
  ScriptedService scripted(ScriptedService::random(3));
  const std::string text(20'000, ' ');
  const HttpResponse ollama = ask(scripted.service, post("/api/generate", R"({"prompt":")" + text + "\"}"));
  EXPECT_EQ(ollama.status, 400);
  EXPECT_TRUE(json::parse(ollama.body)["error"].is_string()) << ollama.body;
  const HttpResponse responses = ask(scripted.service, post("/v1/responses", R"({"input":")" + text + "\"}"));
  EXPECT_EQ(responses.status, 400);
  EXPECT_EQ(json::parse(responses.body)["error"]["param"], "input") << responses.body;
}

TEST(Service, WhatCannotFitIsNotTokenized) {
  ScriptedService scripted(ScriptedService::random(3));
  int tokenized = 0;
  scripted.vocabulary.before_tokenize = [&tokenized] { ++tokenized; };
  // The context holds 512 tokens, the longest of which has 8 bytes.
  const std::string text(512 * 8 + 1, 'x');
  for (const auto& [path, body, param] :
       {std::tuple(kChat, R"({"messages":[{"role":"user","content":")" + text + "\"}]}", "messages"),
        std::tuple("/v1/completions", R"({"prompt":")" + text + "\"}", "prompt")}) {
    const HttpResponse response = ask(scripted.service, post(path, body));
    EXPECT_EQ(response.status, 400);
    const json error = json::parse(response.body)["error"];
    EXPECT_EQ(error["code"], "context_length_exceeded");
    EXPECT_EQ(error["param"], param);
  }
  EXPECT_EQ(tokenized, 0);
}

TEST(Service, ChoicesThatCanNeverFitAreWrongRatherThanEarly) {
  ServiceOptions options;
  options.limits.runs = 3;
  ScriptedService scripted(ScriptedService::random(3), options);
  const HttpResponse refused = ask(scripted.service, post(kChat, chat_body(R"("n":4)")));
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(json::parse(refused.body)["error"]["param"], "n");
  EXPECT_EQ(ask_json(scripted.service, get("/v1/models"))["data"][0]["dts"]["limits"]["n"], 3);
  EXPECT_EQ(ask(scripted.service, post(kChat, chat_body(R"("n":3)"))).status, 200);
}

TEST(Service, AnEmptyModelIsTheModelThereIs) {
  ScriptedService scripted(ScriptedService::random(3));
  const json reply =
      ask_json(scripted.service, post(kChat, R"({"model":"","messages":[{"role":"user","content":"x"}]})"));
  EXPECT_EQ(reply["model"], "scripted");
}

TEST(Service, PagesThatAreAllowedMaySendTheirClientsHeaders) {
  ServiceOptions options;
  options.access.origins = {"https://page.example"};
  options.access.keys = {"secret"};
  ScriptedService scripted(ScriptedService::random(3), options);
  const HttpResponse preflight =
      ask(scripted.service, {"OPTIONS",
                             kChat,
                             {{"origin", "https://page.example"},
                              {"access-control-request-method", "POST"},
                              {"access-control-request-headers", "authorization,content-type,x-stainless-lang"}},
                             {}});
  EXPECT_EQ(preflight.status, 204);
  EXPECT_EQ(header(preflight, "Access-Control-Allow-Headers"), "*, Authorization");
  EXPECT_EQ(header(preflight, "Access-Control-Allow-Methods"), "GET, POST, DELETE");
}

TEST(Service, ThePageLoadsNothingButItsOwn) {
  ScriptedService scripted(ScriptedService::random(3));
  for (const Asset& asset : page_assets()) {
    const HttpResponse response = ask(scripted.service, get(std::string(asset.path)));
    EXPECT_EQ(response.status, 200);
    const std::string policy = header(response, "Content-Security-Policy");
    EXPECT_EQ(policy.find("unsafe"), std::string::npos) << policy;
    EXPECT_EQ(policy.find("data:"), std::string::npos) << policy;
    const bool hashed = asset.path.starts_with("/assets/");
    EXPECT_EQ(header(response, "Cache-Control").find("immutable") != std::string::npos, hashed) << asset.path;
  }
}

TEST(Service, CancellingGivesTheClientWhatThereIs) {
  ScriptedService scripted(endless);
  scripted.engine.before_step = [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); };
  Service& service = scripted.service;
  Reading whole(service.handle(post(kChat, chat_body())));
  const json cancelled = ask_json(service, {"DELETE", "/v1/trees/" + whole.id(), {}, {}});
  EXPECT_EQ(cancelled["cancelled"], true);
  EXPECT_EQ(whole.whole().status, 410);
  Reading stream(service.handle(post(kChat, chat_body(R"("stream":true)"))));
  ask_json(service, {"POST", "/v1/trees/" + stream.id() + "/cancel", {}, {}});
  const std::vector<json> chunks = chunks_of(stream.whole().body);
  EXPECT_EQ(chunks.back()["error"]["code"], "cancelled");
  // It is there to be looked at all the same.
  const json tree = ask_json(service, get("/v1/trees/" + stream.id()));
  EXPECT_EQ(tree["reason"], "cancelled");
}

TEST(Service, AFailingEngineIs500AndTheNextRequestIsFine) {
  ScriptedService scripted(ScriptedService::random(3));
  std::atomic<bool> broken = true;
  scripted.engine.before_step = [&broken] {
    if (broken) throw std::runtime_error("the device is gone");
  };
  const HttpResponse failed = ask(scripted.service, post(kChat, chat_body()));
  EXPECT_EQ(failed.status, 500);
  EXPECT_NE(failed.body.find("the device is gone"), std::string::npos);
  const std::vector<json> chunks = chunks_of(ask(scripted.service, post(kChat, chat_body(R"("stream":true)"))).body);
  EXPECT_EQ(chunks.back()["error"]["type"], "server_error");
  broken = false;
  EXPECT_EQ(ask(scripted.service, post(kChat, chat_body())).status, 200);
}

TEST(Service, TreesCanBeReadWhileTheyGrowAndAfter) {
  ScriptedService scripted(ScriptedService::random(3));
  Service& service = scripted.service;
  scripted.engine.before_step = [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); };
  Reading reading(service.handle(post(kChat, chat_body(R"("max_tokens":60)"))));
  const std::string path = "/v1/trees/" + reading.id();
  Reading events(service.handle(get(path + "/events")));
  const TreeDocument early = tree_from_json_text(ask(service, get(path)).body, "early");
  EXPECT_EQ(early.question, "hi");
  const std::string all = events.whole().body;
  const json reply = json::parse(reading.whole().body);
  const TreeDocument late = tree_from_json_text(ask(service, get(path)).body, "late");
  EXPECT_TRUE(late.outcome.complete());
  EXPECT_GE(late.tree.unique_tokens(), early.tree.unique_tokens());
  EXPECT_EQ(reply["usage"]["completion_tokens"], late.tree.unique_tokens());

  EXPECT_EQ(ask(service, get(path + "/events")).body, all);
  const std::size_t third = all.find("id: 4\n");
  EXPECT_EQ(ask(service, get(path + "/events", {{"last-event-id", "3"}})).body, all.substr(third));
  EXPECT_EQ(ask(service, get(path + "/events", {{"last-event-id", "100000"}})).status, 204);
  EXPECT_EQ(ask(service, get(path + "/events", {{"last-event-id", "-3x"}})).body, all);

  const json list = ask_json(service, get("/v1/trees"));
  ASSERT_EQ(list["data"].size(), 1U);
  EXPECT_EQ(list["data"][0]["id"], reading.id());
  EXPECT_EQ(list["data"][0]["question"], "hi");
  EXPECT_EQ(list["data"][0]["state"], to_string(late.outcome.reason));
}

TEST(Service, EventStreamsAreBounded) {
  ServiceOptions options;
  options.limits.event_streams = 2;
  ScriptedService scripted(ScriptedService::random(3), options);
  const std::string id = ask_json(scripted.service, post(kChat, chat_body()))["id"];
  const HttpRequest request = get("/v1/trees/" + id + "/events");
  const HttpRequest file = get("/v1/trees/" + id);
  for (const HttpRequest& other : {request, file}) {  // both can be long
    Reading one(scripted.service.handle(request));
    Reading two(scripted.service.handle(other));
    EXPECT_EQ(ask(scripted.service, request).status, 429);
    EXPECT_EQ(ask(scripted.service, file).status, 429);
  }
  EXPECT_EQ(ask(scripted.service, request).status, 200);
  EXPECT_EQ(ask(scripted.service, file).status, 200);
  // Others than GET.
  const auto with = [&](const char* method, const std::string& path) {
    return ask(scripted.service, {method, path, {}, {}});
  };
  EXPECT_EQ(with("HEAD", request.path).content_type, "text/event-stream");
  EXPECT_EQ(with("HEAD", file.path).status, 200);
  EXPECT_EQ(with("PUT", file.path).status, 405);
  EXPECT_EQ(header(with("PUT", file.path), "Allow"), "GET, HEAD, DELETE");
  EXPECT_EQ(header(with("POST", request.path), "Allow"), "GET, HEAD");
  EXPECT_EQ(header(with("GET", file.path + "/cancel"), "Allow"), "POST");
}

TEST(Service, TextsAndTokensCheckTheirFields) {
  ScriptedService scripted(ScriptedService::random(3));
  const std::string hi = R"("messages":[{"role":"user","content":"hi"}])";
  for (const auto& [path, fields, name] :
       {std::tuple("/apply-template", hi + R"(,"add_generation_prompt":false)", "add_generation_prompt"),
        std::tuple("/apply-template", hi + R"(,"dts":{"answer":"boxed"})", "dts"),
        std::tuple("/apply-template", hi + R"(,"chat_template":"x")", "chat_template"),
        std::tuple("/apply-template", hi + R"(,"frobnicate":1)", "frobnicate"),
        std::tuple("/tokenize", std::string(R"("content":"a","add_special_tokens":true)"), "add_special_tokens"),
        std::tuple("/tokenize", std::string(R"("content":"a","with_peices":true)"), "with_peices"),
        std::tuple("/detokenize", std::string(R"("tokens":[1],"content":"a")"), "content")}) {
    const HttpResponse refused = ask(scripted.service, post(path, "{" + fields + "}"));
    EXPECT_EQ(refused.status, 400) << fields;
    EXPECT_EQ(json::parse(refused.body)["error"]["param"], name) << fields;
  }
  // What a chat may have besides changes no prompt.
  for (const auto& [path, fields] :
       {std::tuple("/apply-template", hi + R"(,"add_generation_prompt":true,"stream":true,"temperature":0.5,"model":"m",
           "max_tokens":5,"response_format":{"type":"json_object"},"stop":["x"],"user":"u")"),
        std::tuple("/tokenize",
                   std::string(R"("content":"a","add_special":true,"parse_special":false,"with_pieces":true,
           "model":"m")")),
        std::tuple("/detokenize", std::string(R"("tokens":[1],"model":"m")"))}) {
    const HttpResponse response = ask(scripted.service, post(path, "{" + fields + "}"));
    EXPECT_EQ(response.status, 200) << fields << response.body;
  }
}

// A list of tokens that nobody reads takes no place of those who ask, is one of few, and does not stay for ever.
TEST(Service, ListsOfTokensHoldNoPlaceAndEnd) {
  ServiceOptions options;
  options.limits.runs = 1;
  options.limits.event_streams = 1;
  options.limits.seconds = 1000;
  const HttpRequest request = post("/tokenize", json{{"content", std::string(40'000, 'x')}}.dump());
  const auto begin = [&](Service& service) {
    Service::Handled handled = service.handle(request);
    std::optional<HttpResponse> head;
    wait_until([&] { return (head = handled.reply->head()).has_value(); });
    EXPECT_EQ(head->status, 200) << head->body;
    EXPECT_TRUE(handled.reply->streams());
    return handled;
  };
  {
    ScriptedService scripted(ScriptedService::random(3), options);
    Service::Handled unread = begin(scripted.service);
    wait_until([&] { return scripted.service.active_runs() == 0; });
    ask_json(scripted.service, post(kChat, chat_body()));
    EXPECT_EQ(ask(scripted.service, request).status, 429) << "one at a time";
    unread.reply.reset();
    EXPECT_EQ(ask_json(scripted.service, request)["tokens"].size(), 40'000U);
  }
  options.limits.seconds = 0.02;
  ScriptedService scripted(ScriptedService::random(3), options);
  const Service::Handled slow = begin(scripted.service);
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  const Reply::Piece piece = slow.reply->next();
  EXPECT_TRUE(piece.end);
  EXPECT_TRUE(piece.broken);
  EXPECT_EQ(piece.data, "");
}

TEST(Service, ModelsSayWhatThereIsToChoose) {
  ScriptedService scripted(ScriptedService::random(3));
  const json list = ask_json(scripted.service, get("/v1/models"));
  EXPECT_EQ(list["object"], "list");
  EXPECT_EQ(list["data"].size(), 1 + methods().size());
  const json& dts = list["data"][0]["dts"];
  EXPECT_EQ(dts["methods"].size(), methods().size());
  EXPECT_EQ(dts["limits"]["max_branches"], 48);
  // Its defaults are what a request may say.
  const json reply =
      ask_json(scripted.service, post(kChat, chat_body(R"("max_tokens":9,"dts":)" + dts["defaults"].dump())));
  EXPECT_EQ(reply["choices"][0]["dts"]["method"], dts["defaults"]["method"]);
  const std::string alias = list["data"][1]["id"];
  EXPECT_EQ(ask_json(scripted.service, get("/v1/models/" + alias))["id"], alias);
  EXPECT_EQ(ask_json(scripted.service, get("/v1/models/scripted%3astandard"))["id"], "scripted:standard");
}

// By a worker, in the shape of each API: a thread that serves connections has others to serve.
TEST(Service, LongBodiesAreReadAsShortOnesAre) {
  ScriptedService scripted(ScriptedService::random(3));
  for (const char* path : {"/v1/chat/completions", "/v1/completions", "/v1/responses", "/v1/trees", "/api/chat",
                           "/api/generate", "/tokenize"}) {
    for (const std::size_t size : {std::size_t{10}, std::size_t{200} << 10U}) {
      const std::string body = R"({"model": ")" + std::string(size, 'x') + R"(", "oops)";
      const HttpResponse response = ask(scripted.service, post(path, body));
      EXPECT_EQ(response.status, 400) << path << " " << size;
      const json error = json::parse(response.body).at("error");
      EXPECT_EQ(error.is_string(), std::string(path).starts_with("/api/")) << path << " " << error;
    }
  }
}

TEST(Service, WhatOllamaOnlyTellsIsReadAndNotWritten) {
  ScriptedService scripted(ScriptedService::random(3));
  for (const char* path : {"/api/tags", "/api/ps", "/api/version"}) {
    EXPECT_EQ(ask(scripted.service, get(path)).status, 200) << path;
    for (const char* method : {"DELETE", "PUT", "POST", "BREW"}) {
      HttpRequest request = get(path);
      request.method = method;
      const HttpResponse response = ask(scripted.service, request);
      EXPECT_EQ(response.status, 405) << method << " " << path;
      EXPECT_EQ(header(response, "Allow"), "GET, HEAD") << method << " " << path;
      EXPECT_TRUE(json::parse(response.body)["error"].is_string());
    }
  }
}

TEST(Service, OllamasModelIsTheOneThereIs) {
  ScriptedService scripted(ScriptedService::random(3));
  for (const char* named : {R"("model":"scripted")", R"("model":"scripted:latest")", R"("model":"scripted:standard")",
                            R"("name":"scripted")", R"("model":"")"}) {
    EXPECT_EQ(ask(scripted.service, post("/api/show", "{" + std::string(named) + "}")).status, 200) << named;
  }
  const auto loads = [&](const std::string& path, const std::string& body) {
    const json loaded = ask_json(scripted.service, post(path, body));
    EXPECT_EQ(loaded["done_reason"], "load") << body;
    EXPECT_GT(loaded["created_at"].get<std::string>(), "2020") << body;
  };
  loads("/api/chat", R"({"model":"scripted"})");
  loads("/api/chat", R"({"model":"scripted:latest","messages":[],"keep_alive":"5m"})");
  loads("/api/generate", R"({"model":"scripted"})");
  const auto status = [&](const char* path, const char* body) {
    return ask(scripted.service, post(path, body)).status;
  };
  EXPECT_EQ(status("/api/show", R"({"model":"llama3"})"), 404);
  EXPECT_EQ(status("/api/show", R"({"name":"llama3"})"), 404);
  EXPECT_EQ(status("/api/show", R"({"model":7})"), 400);
  EXPECT_EQ(status("/api/chat", R"({"model":"llama3","messages":[]})"), 404);
  EXPECT_EQ(status("/api/generate", R"({"model":"llama3"})"), 404);
  EXPECT_EQ(status("/api/chat", R"({"model":"llama3","messages":[{"role":"user","content":"hi"}]})"), 404);
}

// What is wrong may be found after the request was rewritten.
TEST(Service, ErrorsOfOtherApisNameWhatWasSent) {
  ScriptedService scripted(ScriptedService::random(3));
  const json response = json::parse(ask(scripted.service, post("/v1/responses", R"({"input":[]})")).body);
  EXPECT_EQ(response["error"]["param"], "input");
  const std::string longer(600, 'a');  // the context holds 512
  const json full = json::parse(ask(scripted.service, post("/v1/responses", R"({"input":")" + longer + R"("})")).body);
  EXPECT_EQ(full["error"]["param"], "input");
  EXPECT_EQ(full["error"]["code"], "context_length_exceeded");
  const json ollama =
      json::parse(ask(scripted.service, post("/api/generate", R"({"prompt":"hi","options":{"num_predict":0}})")).body);
  EXPECT_TRUE(ollama["error"].get<std::string>().starts_with("options.num_predict is 0: ")) << ollama;
}

TEST(Service, AServerThatShutsDownTakesNoMore) {
  ScriptedService scripted(ScriptedService::random(3));
  EXPECT_EQ(ask(scripted.service, get("/health")).status, 200);
  scripted.service.drain();
  EXPECT_EQ(ask(scripted.service, get("/health")).status, 503);
  EXPECT_EQ(ask(scripted.service, post(kChat, chat_body())).status, 503);
  EXPECT_EQ(ask(scripted.service, get("/v1/models")).status, 200);
}

TEST(Service, MetricsCountWhatWasDone) {
  ScriptedService scripted(ScriptedService::random(3));
  const json reply = ask_json(scripted.service, post(kChat, chat_body()));
  scripted.service.count_response("chat_completions", 200);
  // Counted after the client was told.
  std::string text;
  wait_until([&] {
    text = ask(scripted.service, get("/metrics")).body;
    return text.find("dts_runs_total{") != std::string::npos;
  });
  const std::string tokens = std::to_string(reply["usage"]["completion_tokens"].get<int>());
  EXPECT_NE(text.find("dts_generated_tokens_total " + tokens + "\n"), std::string::npos) << text;
  EXPECT_NE(text.find(R"(dts_http_responses_total{route="chat_completions",status="200"} 1)"), std::string::npos);
  EXPECT_NE(text.find("dts_runs_active 0\n"), std::string::npos);
}

}  // namespace
}  // namespace dts::serve
