// Requests that would take all there is: refused before anything is allocated, or failed alone.
#include <gtest/gtest.h>

#include <new>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "serve/api/tools.h"
#include "serve/runs/run_cost.h"
#include "support/serve_support.h"

namespace dts::serve {
namespace {

using nlohmann::json;

constexpr const char* kChat = "/v1/chat/completions";

HttpRequest chat(const std::string& question, const std::string& fields) {
  return post(kChat, R"({"messages":[{"role":"user","content":")" + question + R"("}],"seed":5)" +
                         (fields.empty() ? "" : "," + fields) + "}");
}

HttpResponse ask(Service& service, const HttpRequest& request) { return Reading(service.handle(request)).whole(); }

TEST(HostileCosts, NoNumberOfAClientEndsOrStallsTheServer) {
  ScriptedService scripted(ScriptedService::random(3));
  // A window is bounded by the tokens there are: this many were once allocated for each branch.
  for (const char* method : {"deepconf-low", "deepconf-high"}) {
    for (const char* window : {"2147483647", "10000000", "1000000"}) {
      const HttpResponse refused = ask(scripted.service, chat("x", R"("dts":{"method":")" + std::string(method) +
                                                                       R"(","samples":8,"window":)" + window + "}"));
      EXPECT_EQ(refused.status, 400) << window << refused.body;
      EXPECT_NE(refused.body.find("window"), std::string::npos) << refused.body;
    }
  }
  for (const char* number :
       {R"("max_tokens":2147483647)", R"("dts":{"votes":1024,"max_branches":48})",
        R"("n":8,"dts":{"max_branches":48,"votes":1024})", R"("dts":{"max_total_tokens":9007199254740993})",
        R"("logprobs":true,"top_logprobs":20,"max_tokens":2147483647)"}) {
    const HttpResponse response = ask(scripted.service, chat("x", number));
    EXPECT_TRUE(response.status == 200 || response.status == 400) << number << response.body;
  }
}

TEST(HostileCosts, WhatARequestMayTakeIsBoundedBeforeItStarts) {
  ServiceOptions options;
  options.limits.request_bytes = std::int64_t{1} << 19U;
  ScriptedService scripted(ScriptedService::random(3), options);
  EXPECT_EQ(ask(scripted.service, chat("x", R"("max_tokens":100)")).status, 200);
  for (const char* fields : {R"("dts":{"max_branches":48})", R"("max_tokens":400,"logprobs":true,"top_logprobs":20)",
                             R"("max_tokens":400,"n":8)"}) {
    const HttpResponse refused = ask(scripted.service, chat("x", fields));
    EXPECT_EQ(refused.status, 400) << fields;
    EXPECT_EQ(json::parse(refused.body)["error"]["code"], "too_costly") << fields;
  }
  EXPECT_EQ(scripted.service.active_runs(), 0);
}

// The estimate against what runs take once they are done: never below it.
TEST(HostileCosts, TheBoundIsOne) {
  const PieceVocabulary vocabulary(awkward_pieces());
  ScriptedEngine engine(ScriptedService::sized(vocabulary, 48), endless);
  for (const char* name : {"standard", "self-consistency", "dts-stable", "deepconf-low"}) {
    RunOptions options;
    options.title.id = "x";
    options.prompt.tokens = {1, 2, 3};
    MethodOptions numbers;
    numbers.samples = numbers.votes = 8;
    numbers.warmup = 4;
    numbers.window = 64;
    options.search.method = make_method(name, numbers);
    options.search.max_tokens = 200;
    const std::int64_t most = most_bytes(options.search, 3, 0);
    auto run = std::make_shared<serve::Run>(std::move(options), vocabulary, engine.info());
    Scheduler scheduler(engine);
    scheduler.submit(run->job());
    scheduler.run();
    // Beside the tokens a run has its options, its own fields and its first and last events.
    constexpr std::int64_t kFixed = 16 << 10U;
    EXPECT_LE(static_cast<std::int64_t>(run->bytes()), most + kFixed) << name;
  }
}

// Memory that ends in the middle of a callback is that question's failure: its neighbour is answered as if alone.
TEST(HostileCosts, WantOfMemoryInACallbackEndsOneQuestionOnly) {
  constexpr Token kPoison = 8;
  const auto script = [](std::span<const Token> tokens, std::span<float> logits) {
    ScriptedService::random(3)(tokens, logits);
    // A prompt that has an "X" leads to the poison, no other does.
    const bool marked = std::find(tokens.begin(), tokens.end(), static_cast<Token>('X' % 23)) != tokens.end() &&
                        std::count(tokens.begin(), tokens.end(), static_cast<Token>('X' % 23)) > 8;
    logits[kPoison] = marked && tokens.size() > 40 ? 1000.0F : -1000.0F;
  };
  std::string alone;
  {
    ScriptedService scripted(script);
    alone = json::parse(ask(scripted.service, chat("hi", "")).body)["choices"].dump();
  }
  for (const bool streamed : {false, true}) {
    ScriptedService scripted(script);
    scripted.vocabulary.before_piece = [](Token token) {
      if (token == kPoison) throw std::bad_alloc();
    };
    const std::string marked(40, 'X');
    Reading poisoned(scripted.service.handle(chat(marked, streamed ? R"("stream":true)" : R"("n":2)")));
    Reading beside(scripted.service.handle(chat("hi", "")));
    const HttpResponse failed = poisoned.whole();
    EXPECT_EQ(failed.status, streamed ? 200 : 500);
    EXPECT_NE(failed.body.find("the decoding failed"), std::string::npos) << failed.body;
    json choices = json::parse(beside.whole().body)["choices"];
    json expected = json::parse(alone);
    for (json* both : {&choices, &expected}) {
      (*both)[0]["dts"].erase("seconds");
      (*both)[0]["dts"].erase("tree");
    }
    EXPECT_EQ(choices, expected);
    while (scripted.service.active_runs() > 0) std::this_thread::yield();
    EXPECT_EQ(ask(scripted.service, chat("hi", "")).status, 200);
  }
}

// Keeps the schema that it is asked for a grammar of.
class SchemaVocabulary final : public Vocabulary {
 public:
  int size() const override { return 1; }
  std::string piece(Token /*token*/, bool /*special*/) const override { return "x"; }
  std::vector<Token> tokenize(std::string_view /*text*/, bool /*special*/) const override { return {}; }
  bool is_end(Token /*token*/) const override { return true; }
  ChatPrompt chat(std::span<const ChatMessage> /*messages*/) const override { return {}; }
  std::string grammar_of_schema(const std::string& json_schema) const override {
    asked = json_schema;
    return "root ::= \"x\"";
  }

  json schema() const { return json::parse(asked); }

  mutable std::string asked;
};

TEST(HostileCosts, ReferencesOfAToolsParametersMoveWithThem) {
  const SchemaVocabulary vocabulary;
  const json parameters = json::parse(R"({"type":"object","$defs":{"City":{"type":"string"},"const":{"$ref":"#"}},
    "properties":{"city":{"$ref":"#/$defs/City"},"$ref":{"type":"string"},
      "default":{"items":[{"$ref":"#/$defs/City"}],"default":{"$ref":"#/$defs/City"}},
      "kept":{"const":{"$ref":"#/a"},"enum":[{"$ref":"#/a"}],"examples":[{"$ref":"#/a"}]},
      "far":{"$ref":"https://localhost/x#/a"}},
    "anyOf":[{"not":{"$ref":"#/$defs/City"}}],"required":["$ref"]})");
  const auto moved = [&](const std::string& place) {
    json expected = parameters;
    const std::string city = "#" + place + "/$defs/City";
    expected["$defs"]["const"]["$ref"] = "#" + place;
    expected["properties"]["city"]["$ref"] = city;
    expected["properties"]["default"]["items"][0]["$ref"] = city;
    expected["anyOf"][0]["not"]["$ref"] = city;
    return expected;
  };
  ToolsAsked tools;
  tools.choice = ToolsAsked::Choice::kRequired;
  const auto add = [&](const char* name) {
    tools.list.push_back({{"type", "function"}, {"function", {{"name", name}, {"parameters", parameters}}}});
    tools.names.emplace_back(name);
  };
  add("a");
  tool_grammar(tools, vocabulary);
  EXPECT_EQ(vocabulary.schema()["properties"]["arguments"], moved("/properties/arguments"));
  add("b");
  tool_grammar(tools, vocabulary);
  EXPECT_EQ(vocabulary.schema()["anyOf"][1]["properties"]["arguments"], moved("/anyOf/1/properties/arguments"));
  tools.only = "b";
  tool_grammar(tools, vocabulary);
  EXPECT_EQ(vocabulary.schema()["properties"]["name"]["const"], "b");
  EXPECT_EQ(vocabulary.schema()["properties"]["arguments"], moved("/properties/arguments"));
}

}  // namespace
}  // namespace dts::serve
