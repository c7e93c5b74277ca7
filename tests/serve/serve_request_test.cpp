// Bodies of requests: what they become, and how what is wrong is told.
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "serve/api/api_error.h"
#include "serve/api/completion_request.h"
#include "serve/api/ollama.h"
#include "serve/api/responses.h"

namespace dts::serve {
namespace {

Limits small_limits() {
  Limits limits;
  limits.messages = 3;
  limits.branches = 32;
  limits.max_tokens = 100;
  return limits;
}

CompletionRequest read(const std::string& body, bool chat = true) {
  const Limits limits = small_limits();
  const nlohmann::json json = parse_body(body, limits);
  const auto ordered = nlohmann::ordered_json::parse(body);
  return chat ? read_chat_request(json, DecodingOptions{}, limits, ordered)
              : read_text_request(json, DecodingOptions{}, limits, ordered);
}

CompletionRequest read_with(const std::string& fields) {
  return read(R"({"messages":[{"role":"user","content":"hi"}],)" + fields + "}");
}

// "STATUS PARAM: MESSAGE" of the error that `body` ends in; empty when it is fine.
std::string error_of(const std::string& body, bool chat = true) {
  try {
    read(body, chat);
  } catch (const ApiError& error) {
    return std::to_string(error.status()) + " " + error.param() + ": " + error.what();
  }
  return "";
}

std::string error_with(const std::string& fields) {
  return error_of(R"({"messages":[{"role":"user","content":"hi"}],)" + fields + "}");
}

// The same of a body of another API.
template <typename Rewrite>
std::string error_of_rewritten(const std::string& body, Rewrite rewrite) {
  const Limits limits = small_limits();
  try {
    parse_body(body, limits);
    const auto asked = rewrite(nlohmann::ordered_json::parse(body));
    asked.names.in_their_words([&] {
      const auto json = nlohmann::json::parse(asked.body.dump());
      return json.contains("prompt") ? read_text_request(json, DecodingOptions{}, limits, asked.body)
                                     : read_chat_request(json, DecodingOptions{}, limits, asked.body);
    });
  } catch (const ApiError& error) {
    return std::to_string(error.status()) + " " + error.param() + ": " + error.what();
  }
  return "";
}

std::string responses_error(const std::string& body) {
  return error_of_rewritten(body, [](const auto& json) { return read_responses_request(json); });
}

std::string responses_error_with(const std::string& fields) {
  return responses_error(R"({"input":"hi",)" + fields + "}");
}

std::string ollama_error_of(const std::string& body, bool generate) {
  return error_of_rewritten(body, [&](const auto& json) { return read_ollama_request(json, generate); });
}

std::string ollama_chat_error_with(const std::string& fields) {
  return ollama_error_of(R"({"messages":[{"role":"user","content":"hi"}],)" + fields + "}", false);
}

void expect_start(const std::string& error, const std::string& start) {
  EXPECT_EQ(error.substr(0, start.size()), start);
}

// "name" of "\"name\": value".
std::string name_of(std::string_view field) { return std::string(field.substr(1, field.find('"', 1) - 1)); }

TEST(CompletionRequest, ReadsTheFormOfTheAnswer) {
  EXPECT_FALSE(read_with(R"("dts": {})").answer);
  EXPECT_FALSE(read_with(R"("dts": {"answer": null})").answer);
  EXPECT_EQ(read_with(R"("dts": {"answer": "letter"})").answer, AnswerForm::kLetter);
  for (const char* wrong : {R"("x")", "3", "[]"}) {
    const std::string error = error_with(std::string(R"("dts": {"answer": )") + wrong + "}");
    EXPECT_TRUE(error.starts_with("400 dts.answer")) << error;
    EXPECT_NE(error.find("boxed"), std::string::npos) << error;
  }
}

TEST(CompletionRequest, ReadsAChat) {
  const CompletionRequest request = read(R"({
    "model": "m:dts-greedy",
    "messages": [{"role": "developer", "content": "short"},
                 {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
                 {"role": "assistant", "content": "c", "name": "x"}],
    "max_tokens": 7, "max_completion_tokens": 9, "temperature": 0.5, "top_p": 0.9, "top_k": 20, "min_p": 0.1,
    "seed": 12, "stop": ["x", "yy"], "n": 2, "stream": true, "stream_options": {"include_usage": true},
    "logprobs": true, "top_logprobs": 4, "user": "me", "metadata": {"a": "b"}, "presence_penalty": 0,
    "response_format": {"type": "text"}, "tools": [], "logit_bias": {}, "store": false,
    "dts": {"branch_k": 2, "max_branches": 16, "votes": 4, "tau_v": "inf", "tau_h": 1.25, "stat_temp": 1,
            "criterion": "either", "freeze": "permanent", "consensus": 0.9, "adaptive": 0.8,
            "max_total_tokens": 1000, "max_seconds": 5, "samples": null}})");
  ASSERT_EQ(request.messages.size(), 3U);
  EXPECT_EQ(request.messages[0].role, "system");
  EXPECT_EQ(request.messages[1].content, "ab");
  EXPECT_EQ(request.decoding.method, "dts-greedy");
  EXPECT_EQ(request.decoding.max_tokens, 9);
  EXPECT_FLOAT_EQ(*request.decoding.temperature, 0.5F);
  EXPECT_FLOAT_EQ(*request.decoding.top_p, 0.9F);
  EXPECT_EQ(request.decoding.top_k, 20);
  EXPECT_FLOAT_EQ(*request.decoding.min_p, 0.1F);
  EXPECT_EQ(request.decoding.seed, 12U);
  EXPECT_EQ(request.stop, (std::vector<std::string>{"x", "yy"}));
  EXPECT_EQ(request.choices, 2);
  EXPECT_TRUE(request.stream && request.include_usage && request.logprobs);
  EXPECT_EQ(request.top_logprobs, 4);
  const MethodOptions& numbers = request.decoding.numbers;
  EXPECT_EQ(numbers.branch.k, 2);
  EXPECT_EQ(numbers.branch.max_branches, 16);
  EXPECT_EQ(numbers.votes, 4);
  EXPECT_EQ(numbers.branch.tau_v, std::numeric_limits<double>::infinity());
  EXPECT_EQ(numbers.branch.tau_h, 1.25);
  EXPECT_EQ(numbers.branch.criterion, Criterion::kEither);
  EXPECT_EQ(numbers.branch.freeze, Freeze::kPermanent);
  EXPECT_EQ(numbers.consensus, 0.9);
  EXPECT_EQ(numbers.adaptive, 0.8);
  EXPECT_EQ(numbers.samples, MethodOptions{}.samples);
  EXPECT_EQ(request.decoding.max_total_tokens, 1000);
  EXPECT_EQ(request.decoding.max_seconds, 5);
}

TEST(CompletionRequest, ReadsAText) {
  EXPECT_EQ(std::get<std::string>(read(R"({"prompt":"a"})", false).text), "a");
  EXPECT_EQ(std::get<std::string>(read(R"({"prompt":["a"]})", false).text), "a");
  EXPECT_EQ(std::get<std::vector<Token>>(read(R"({"prompt":[1,2]})", false).text), (std::vector<Token>{1, 2}));
  EXPECT_EQ(std::get<std::vector<Token>>(read(R"({"prompt":[[3]]})", false).text), (std::vector<Token>{3}));
  const CompletionRequest request = read(R"({"prompt":"a","logprobs":0})", false);
  EXPECT_TRUE(request.logprobs);
  EXPECT_EQ(request.top_logprobs, 0);
}

TEST(CompletionRequest, WhatIsSaidMoreCloselyComesFirst) {
  EXPECT_EQ(read_with(R"("model":"m")").decoding.method, "dts-stable");
  EXPECT_EQ(read_with(R"("model":"m:standard")").decoding.method, "standard");
  EXPECT_EQ(read_with(R"("model":"m:standard","dts":{"method":"dts-greedy"})").decoding.method, "dts-greedy");
  EXPECT_EQ(split_model_name("a:b:short-m@k").model, "a:b");
  EXPECT_EQ(split_model_name("a:b").method, std::nullopt);
  EXPECT_EQ(read_with(R"("seed":-1)").decoding.seed, std::nullopt);
  EXPECT_EQ(read_with(R"("max_tokens":null,"temperature":null,"stop":null,"dts":null)").decoding.max_tokens,
            std::nullopt);
}

TEST(CompletionRequest, ErrorsNameTheFieldTheValueAndWhatWouldBeRight) {
  EXPECT_EQ(error_of("{}"), "400 messages: messages is missing: it must be a list");
  EXPECT_EQ(error_of(R"({"messages":[]})"), "400 messages: messages is a list of 0: it must have from 1 to 3 messages");
  EXPECT_EQ(error_with(R"("max_tokens":-2)"),
            "400 max_tokens: max_tokens is -2: it must be a whole number from 1 to 100");
  EXPECT_EQ(error_with(R"("max_tokens":101)"),
            "400 max_tokens: max_tokens is 101: it must be a whole number from 1 to 100");
  EXPECT_EQ(error_with(R"("temperature":"hot")"),
            "400 temperature: temperature is \"hot\": it must be a number from 0 to 2");
  EXPECT_EQ(error_with(R"("stop":["","x"])"), "400 stop[0]: stop[0] is \"\": it must have from 1 to 256 bytes");
  EXPECT_EQ(error_with(R"("dts":{"criterion":"x"})"),
            "400 dts.criterion: dts.criterion is \"x\": it must be one of decision, high-entropy, either");
  EXPECT_EQ(error_with(R"("dts":{"max_branches":33})"),
            "400 dts.max_branches: dts.max_branches is 33: it must be a whole number from 1 to 32");
}

TEST(CompletionRequest, ToolsAndMessagesThatSpeakOfThem) {
  const auto request = read(R"({"messages":[
      {"role":"user","content":"hi"},
      {"role":"assistant","content":null,"tool_calls":[
        {"id":"c1","type":"function","function":{"name":"add","arguments":"{\"b\": 1, \"a\": 2}"}}]},
      {"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"3"}]}],
    "tools":[{"type":"function","function":{"name":"add","description":"d",
              "parameters":{"type":"object","properties":{"z":{},"a":{}}}}}],
    "tool_choice":{"type":"function","function":{"name":"add"}},"parallel_tool_calls":false})");
  ASSERT_EQ(request.messages.size(), 3U);
  ASSERT_EQ(request.messages[1].tool_calls.size(), 1U);
  EXPECT_EQ(request.messages[1].tool_calls[0].arguments, R"({"b":1,"a":2})");
  EXPECT_EQ(request.messages[2].role, "tool");
  EXPECT_EQ(request.messages[2].content, "3");
  EXPECT_EQ(request.messages[2].name, "add");
  EXPECT_TRUE(request.tools.shown());
  EXPECT_EQ(request.tools.choice, ToolsAsked::Choice::kRequired);
  EXPECT_EQ(request.tools.only, "add");
  EXPECT_FALSE(request.tools.parallel);
  EXPECT_NE(request.tools.list.dump().find(R"({"z":{},"a":{}})"), std::string::npos) << "in the order they came in";

  EXPECT_FALSE(
      read_with(R"("tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":"none")").tools.shown());
  for (const char* fields :
       {R"("tools":[{"type":"function"}])", R"("tools":[{"type":"web_search"}])", R"("tools":7)",
        R"("tools":[{"function":{"name":"a b"}}])", R"("tool_choice":"required")", R"("tool_choice":"maybe")",
        R"("tools":[{"function":{"name":"f"}}],"tool_choice":{"function":{"name":"g"}})",
        R"("tools":[{"function":{"name":"f"}}],"tool_choice":{"type":"allowed_tools"})",
        R"("parallel_tool_calls":"no")"}) {
    EXPECT_EQ(error_with(fields).substr(0, 4), "400 ") << fields;
  }
}

TEST(CompletionRequest, TheAnswersFormat) {
  EXPECT_EQ(read_with(R"("response_format":{"type":"text"})").format.kind, AnswerFormat::Kind::kFree);
  EXPECT_EQ(read_with(R"("response_format":{"type":"json_object"})").format.kind, AnswerFormat::Kind::kJson);
  const auto format =
      read_with(
          R"("response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"z":1,"a":2},"strict":true}})")
          .format;
  EXPECT_EQ(format.schema, R"({"z":1,"a":2})");
  EXPECT_EQ(read_with(R"("grammar":"root ::= \"x\"")").format.grammar, "root ::= \"x\"");
  for (const char* fields :
       {R"("response_format":{"type":"xml"})", R"("response_format":{"type":"json_schema"})",
        R"("response_format":"json")", R"("grammar":7)", R"("grammar":"x","response_format":{"type":"json_object"})"}) {
    EXPECT_EQ(error_with(fields).substr(0, 4), "400 ") << fields;
  }
}

TEST(CompletionRequest, PenaltiesBiasesAndTemplateVariables) {
  const Penalties penalties =
      read_with(
          R"("presence_penalty":0.5,"frequency_penalty":-1,"repetition_penalty":1.1,"logit_bias":{"5":-100,"7":2})")
          .penalties;
  EXPECT_FLOAT_EQ(penalties.presence, 0.5F);
  EXPECT_FLOAT_EQ(penalties.frequency, -1.0F);
  EXPECT_FLOAT_EQ(penalties.repetition, 1.1F);
  EXPECT_EQ(penalties.biases, (std::map<Token, float>{{5, -100.0F}, {7, 2.0F}}));
  EXPECT_TRUE(read_with(R"("presence_penalty":0,"repeat_penalty":1,"logit_bias":{})").penalties.none());
  EXPECT_EQ(read_with(R"("reasoning_effort":"low")").template_variables, R"({"reasoning_effort":"low"})");
  EXPECT_EQ(read_with(R"("chat_template_kwargs":{"enable_thinking":false})").template_variables,
            R"({"enable_thinking":false})");
  EXPECT_EQ(read_with(R"("enable_thinking":true)").template_variables, R"({"enable_thinking":true})");
  EXPECT_EQ(read_with(R"("seed":1)").template_variables, "");
  for (const char* fields :
       {R"("presence_penalty":3)", R"("repetition_penalty":0)", R"("logit_bias":{"x":1})", R"("logit_bias":{"1":101})",
        R"("logit_bias":[1])", R"("reasoning_effort":"huge")", R"("chat_template_kwargs":7)"}) {
    EXPECT_EQ(error_with(fields).substr(0, 4), "400 ") << fields;
  }
}

// Else one token could have several biases, of which one would count.
TEST(CompletionRequest, ATokenHasOneName) {
  EXPECT_EQ(
      error_with(R"("logit_bias":{"01":5})"),
      "400 logit_bias: logit_bias is an object: its key \"01\" must be a token: a whole number from 0 on, in plain "
      "decimal digits");
  for (const char* key : {"-0", "+1", "00", " 1", "1 ", "1.0", "0x1", "", "-1", "99999999999999999999"}) {
    EXPECT_EQ(error_with(R"("logit_bias":{")" + std::string(key) + "\":1}").substr(0, 15), "400 logit_bias:") << key;
  }
  EXPECT_EQ(read_with(R"("logit_bias":{"0":1,"10":2})").penalties.biases,
            (std::map<Token, float>{{0, 1.0F}, {10, 2.0F}}));
}

// It is a field, too, which is refused.
TEST(CompletionRequest, TheTemplateAlwaysOpensTheAnswer) {
  EXPECT_EQ(error_with(R"("chat_template_kwargs":{"add_generation_prompt":false})"),
            "400 chat_template_kwargs.add_generation_prompt: chat_template_kwargs.add_generation_prompt is not "
            "supported: it must be true or left out");
  EXPECT_NE(error_with(R"("chat_template_kwargs":{"add_generation_prompt":0})"), "");
  for (const char* same : {"true", "null"}) {
    EXPECT_EQ(read_with(R"("chat_template_kwargs":{"a":1,"add_generation_prompt":)" + std::string(same) + "}")
                  .template_variables,
              R"({"a":1})");
  }
}

TEST(CompletionRequest, AWindowIsNoLongerThanATrajectory) {
  EXPECT_EQ(error_with(R"("dts":{"method":"deepconf-low","window":2147483647})"),
            "400 dts.window: dts.window is 2147483647: it must be a whole number from 1 to 100");
  Limits limits;
  limits.context = 4096;  // of an engine; a trajectory has no limit of its own
  const nlohmann::json body = nlohmann::json::parse(
      R"({"messages":[{"role":"user","content":"hi"}],"dts":{"method":"deepconf-low","window":4097}})");
  EXPECT_THROW(read_chat_request(body, {}, limits, nlohmann::ordered_json(body)), ApiError);
  // The server's own gives way to a client's budget.
  DecodingOptions defaults;
  defaults.numbers.window = 1000;
  const nlohmann::json shorter =
      nlohmann::json::parse(R"({"messages":[{"role":"user","content":"hi"}],"max_tokens":50})");
  EXPECT_EQ(read_chat_request(shorter, defaults, limits, nlohmann::ordered_json(shorter)).decoding.numbers.window, 50);
}

// Each changes what is generated: refused by its name, unless it says what is done anyway.
TEST(CompletionRequest, NothingThatChangesTheMeaningIsIgnored) {
  for (const char* field : {R"("min_tokens":5)",
                            R"("ignore_eos":true)",
                            R"("stop_token_ids":[1])",
                            R"("bad_words":["x"])",
                            R"("guided_json":{"type":"object"})",
                            R"("guided_json":{})",
                            R"("guided_regex":"x+")",
                            R"("guided_choice":["a","b"])",
                            R"("guided_grammar":"root ::= x")",
                            R"("structured_outputs":{"json":{"a":1}})",
                            R"("continue_final_message":true)",
                            R"("truncate_prompt_tokens":10)",
                            R"("length_penalty":1.2)",
                            R"("use_beam_search":true)",
                            R"("add_generation_prompt":false)",
                            R"("include_stop_str_in_output":true)",
                            R"("typical_p":0.9)",
                            R"("samplers":["top_k"])",
                            R"("allowed_token_ids":[3])",
                            R"("chat_template":"{{ 1 }}")",
                            R"("echo":true)",
                            R"("functions":[{"name":"f"}])",
                            R"("verbosity":"low")",
                            R"("echo":1)"}) {
    const std::string error = error_with(field);
    const std::string name(field + 1, std::string_view(field).find('"', 1) - 1);
    EXPECT_TRUE(error.starts_with("400 " + name + ": " + name + " is not supported: ")) << error;
  }
  EXPECT_NO_THROW(read_with(
      R"("min_tokens":0,"ignore_eos":false,"stop_token_ids":[],"bad_words":null,"guided_json":null,"length_penalty":1.0,
      "use_beam_search":false,"add_generation_prompt":true,"typical_p":1,"echo":false,"n_probs":0,"verbosity":"medium")"));
  EXPECT_EQ(read_with(R"("dts":{"max_tokens_total":77})").decoding.max_total_tokens, 77);
  EXPECT_NE(error_with(R"("dts":{"max_tokens_total":77,"max_total_tokens":77})"), "");
  // Known to change nothing.
  EXPECT_NO_THROW(read_with(
      R"("user":"u","metadata":{},"store":false,"service_tier":"auto","safety_identifier":"s","prompt_cache_key":"k",
      "parallel_tool_calls":true,"cache_prompt":true,"id_slot":1,"priority":0,"request_id":"r","prediction":{"a":1})"));
}

// Chats and texts have fields that the other has not.
TEST(CompletionRequest, WhatOnlyAnotherApiHonoursIsRefused) {
  expect_start(error_with(R"("prompt":"x")"), "400 prompt: prompt is not supported: use messages");
  EXPECT_EQ(error_with(R"("prompt":"")"), "");
  const auto text_error = [](const std::string& field) { return error_of(R"({"prompt":"x",)" + field + "}", false); };
  for (const char* field :
       {R"("messages":[{"role":"user","content":"x"}])", R"("tools":[{"type":"function","function":{"name":"f"}}])",
        R"("tool_choice":"required")", R"("chat_template_kwargs":{"a":1})", R"("reasoning_effort":"low")",
        R"("enable_thinking":true)", R"("top_logprobs":2)", R"("dts":{"answer":"boxed"})"}) {
    const std::string name = std::string_view(field).starts_with("\"dts\"") ? "dts.answer" : name_of(field);
    expect_start(text_error(field), "400 " + name + ": " + name + " is not supported: ");
  }
  EXPECT_EQ(text_error(R"("messages":[],"tools":[],"tool_choice":"auto","parallel_tool_calls":true,"top_logprobs":0,
      "reasoning_effort":null,"chat_template_kwargs":{},"logprobs":3,"response_format":{"type":"json_object"})"),
            "");
}

// It might change the meaning.
TEST(CompletionRequest, WhatNobodyKnowsIsRefusedByItsName) {
  for (const char* name : {"max_new_tokens", "temprature", "guided_magic", "messages\\u0000", ""}) {
    const std::string error = error_with("\"" + std::string(name) + "\":1");
    EXPECT_TRUE(error.starts_with("400 ") && error.find(" is unknown: ") != std::string::npos) << error;
  }
  EXPECT_NO_THROW(read_with(R"("max_new_tokens":null)"));
  EXPECT_EQ(read_with(R"("n_predict":20)").decoding.max_tokens, 20);
  // How far penalties look back matters where there are some.
  EXPECT_NO_THROW(read_with(R"("repeat_last_n":64,"repeat_penalty":1.0)"));
  EXPECT_NO_THROW(read_with(R"("repeat_last_n":-1,"repeat_penalty":1.1)"));
  EXPECT_EQ(error_with(R"("repeat_last_n":64,"repeat_penalty":1.1)").substr(0, 17), "400 repeat_last_n");
}

TEST(CompletionRequest, TakesWhatClientsCommonlySend) {
  std::string stops = R"("stop":["a")";
  for (int i = 1; i < 64; ++i) stops += R"(,"b")";
  EXPECT_EQ(read_with(stops + "]").stop.size(), 64U);
  EXPECT_EQ(error_with(stops + R"(,"c"])").substr(0, 4), "400 ");
  EXPECT_EQ(read_with(R"("max_tokens":-1)").decoding.max_tokens, std::nullopt);
  EXPECT_EQ(read_with(R"("max_completion_tokens":-1)").decoding.max_tokens, std::nullopt);
  EXPECT_EQ(read_with(R"("max_tokens":20.0,"n":2.0,"top_k":5.0)").decoding.max_tokens, 20);
  EXPECT_EQ(error_with(R"("max_tokens":20.5)").substr(0, 4), "400 ");
  EXPECT_EQ(error_with(R"("max_tokens":1e300)").substr(0, 4), "400 ");
  EXPECT_FALSE(read_with(R"("logprobs":false,"top_logprobs":0)").logprobs);
  EXPECT_EQ(error_with(R"("logprobs":false,"top_logprobs":2)").substr(0, 4), "400 ");
}

TEST(CompletionRequest, AKeyIsAllOfItsBytes) {
  EXPECT_EQ(error_with(R"("dts":{"votes\u0000":3})").substr(0, 4), "400 ");
  EXPECT_EQ(error_with(R"("dts":{"votes\u0000x":3})").substr(0, 4), "400 ");
}

// Arguments of an earlier call come as text: deep ones must not be written out again.
TEST(CompletionRequest, DeepArgumentsAreRefused) {
  const std::string deep = R"({\"a\":)" + std::string(200'000, '[') + std::string(200'000, ']') + "}";
  const std::string body =
      R"({"messages":[{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"f","arguments":")" + deep +
      R"("}}]}]})";
  const auto json = nlohmann::json::parse(body);
  EXPECT_THROW(read_chat_request(json, {}, {}, nlohmann::ordered_json::parse(body)), ApiError);
}

// They are bounded as the body is, whose string they are.
TEST(CompletionRequest, LongArgumentsAreRefused) {
  const auto read = [](int members) {
    nlohmann::json arguments = nlohmann::json::object();
    for (int i = 0; i < members; ++i) arguments[std::to_string(i)] = 1;
    const nlohmann::json call = {{"function", {{"name", "f"}, {"arguments", arguments.dump()}}}};
    const nlohmann::json json = {{"messages", {{{"role", "assistant"}, {"tool_calls", {call}}}}}};
    return read_chat_request(json, {}, {}, nlohmann::ordered_json::object());
  };
  EXPECT_EQ(read(10'000).messages.size(), 1U);
  EXPECT_THROW(read(10'001), ApiError);
}

TEST(CompletionRequest, RefusesWhatItCannotHonour) {
  for (const char* fields :
       {R"("functions":[{}])", R"("modalities":["audio"])", R"("web_search_options":{"a":1})", R"("mirostat":2)"}) {
    EXPECT_NE(error_with(fields).find("is not supported"), std::string::npos) << fields;
  }
  for (const char* body :
       {R"({"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"x"}}]}]})",
        R"({"messages":[{"role":"function","content":"x"}]})", R"({"messages":[{"role":"user","content":7}]})",
        R"({"messages":[{"role":"tool"}]})", R"({"messages":[{"role":"user","content":"x","tool_calls":[{}]}]})",
        R"({"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"[1]"}}]}]})",
        R"({"messages":[{"role":"assistant","content":"","tool_calls":[{}]}]})", R"({"messages":[7]})",
        R"({"messages":{"role":"user"}})", R"({"messages":[{"role":"user"}]})"}) {
    EXPECT_EQ(error_of(body).substr(0, 12), "400 messages") << body;
  }
  for (const char* fields : {R"("n":0)",
                             R"("n":9)",
                             R"("n":1.5)",
                             R"("seed":-2)",
                             R"("seed":1e30)",
                             R"("top_p":1.5)",
                             R"("stream":1)",
                             R"("stream_options":{"include_usage":true})",
                             R"("top_logprobs":2)",
                             R"("logprobs":true,"top_logprobs":21)",
                             R"("best_of":3)",
                             R"("dts":[])",
                             R"("dts":{"branch-k":2})",
                             R"("dts":{"branch_k":17})",
                             R"("dts":{"max_seconds":0})",
                             R"("dts":{"tau_v":-1})",
                             R"("dts":{"tau_v":"nan"})",
                             R"("dts":{"method":"magic"})",
                             R"("model":7)",
                             R"("seed":18446744073709551615)"}) {
    EXPECT_EQ(error_with(fields).substr(0, 3), "400") << fields;
  }
  for (const char* body : {R"({"prompt":["a","b"]})", R"({"prompt":[-1]})", R"({"prompt":{}})", R"({})",
                           R"({"prompt":"a","echo":true})", R"({"prompt":"a","suffix":"b"})"}) {
    EXPECT_EQ(error_of(body, false).substr(0, 3), "400") << body;
  }
}

TEST(CompletionRequest, HostileBodies) {
  for (const std::string& body :
       {std::string(), std::string("null"), std::string("[]"), std::string("{"), std::string("{\"a\":\"\xFF\"}"),
        std::string(100000, '['), "{\"messages\":" + std::string(5000, '[') + std::string(5000, ']') + "}",
        std::string("{\"seed\":1e999}"), std::string("{\"seed\":") + std::string(2000, '9') + "}",
        std::string("{\"a\":1}x"), std::string(3, '\0')}) {
    EXPECT_EQ(error_of(body).substr(0, 3), "400") << body.substr(0, 40);
  }
  std::string many = "{\"prompt\":[0";
  for (int i = 0; i < 300'000; ++i) many += ",0";
  EXPECT_EQ(error_of(many + "]}", false).substr(0, 3), "400");
  // What a client sends comes back escaped and cut.
  const std::string message = error_with(R"("stop":")" + std::string(400, 'x') + R"(")");
  EXPECT_LT(message.size(), 200U);
  EXPECT_EQ(error_with("\"dts\":{\"\\u001b[31m\":1}").find('\x1b'), std::string::npos);
  EXPECT_EQ(error_with("\"temperature\":\"\\u001b[31m\"").find('\x1b'), std::string::npos);
}

TEST(CompletionRequest, ErrorsHaveAMeasure) {
  const std::string name(1'000'000, '0');
  for (const std::string& fields :
       {"\"logit_bias\":{\"" + name + "1\":\"x\"}", "\"" + name + "\":1", "\"dts\":{\"" + name + "\":1}",
        "\"model\":[\"" + name + "\"]", "\"reasoning_effort\":\"" + name + "\"", "\"tool_choice\":\"" + name + "\"",
        "\"response_format\":{\"type\":\"" + name + "\"}"}) {
    const std::string error = error_with(fields);
    EXPECT_TRUE(error.starts_with("400 ")) << fields.substr(0, 40);
    EXPECT_LT(error.size(), 800U) << fields.substr(0, 40);
  }
  EXPECT_LT(responses_error_with("\"" + name + "\":1").size(), 800U);
  EXPECT_LT(responses_error_with("\"text\":{\"" + name + "\":1}").size(), 800U);
  EXPECT_LT(ollama_chat_error_with("\"" + name + "\":1").size(), 800U);
  EXPECT_LT(ollama_chat_error_with("\"think\":\"" + name + "\"").size(), 800U);
  // Wherever it comes from.
  EXPECT_LT(std::string(ApiError(400, name, name).what()).size(), 700U);
  EXPECT_LT(ApiError(400, name, name).param().size(), 110U);
}

TEST(ResponsesRequest, NothingThatChangesTheMeaningIsIgnored) {
  for (const char* field :
       {R"("response_format":{"type":"json_object"})", R"("grammar":"root ::= \"x\"")",
        R"("json_schema":{"type":"object"})", R"("n":3)", R"("max_tokens":1)", R"("max_completion_tokens":1)",
        R"("min_tokens":50)", R"("top_logprobs":5)", R"("logprobs":true)",
        R"("messages":[{"role":"user","content":"x"}])", R"("reasoning_effort":"high")",
        R"("chat_template_kwargs":{"enable_thinking":false})", R"("previous_response_id":"resp_1")",
        R"("conversation":"c")", R"("prompt":{"id":"p"})", R"("background":true)", R"("truncation":"auto")",
        R"("include":["message.output_text.logprobs"])", R"("verbosity":"low")"}) {
    const std::string error = responses_error_with(field);
    EXPECT_TRUE(error.starts_with("400 " + name_of(field) + ": " + name_of(field) + " is not supported: ")) << error;
  }
  EXPECT_TRUE(responses_error_with(R"("frobnicate":1)").starts_with("400 frobnicate: frobnicate is unknown: "));
  EXPECT_TRUE(responses_error_with(R"("text":{"verbosity":"low"})")
                  .starts_with("400 text.verbosity: text.verbosity is not supported: "));
  EXPECT_TRUE(responses_error_with(R"("text":{"colour":1})").starts_with("400 text.colour: text.colour is unknown: "));
  EXPECT_TRUE(responses_error_with(R"("reasoning":{"max_tokens":1})").starts_with("400 reasoning.max_tokens: "));
  EXPECT_TRUE(responses_error_with(R"("reasoning":"high")").starts_with("400 reasoning: reasoning is \"high\": "));
  EXPECT_TRUE(responses_error_with(R"("text":"x")").starts_with("400 text: text is \"x\": "));
  EXPECT_TRUE(responses_error_with(R"("text":{"format":"json"})").starts_with("400 text.format: "));
  // Honoured, as in a chat.
  const auto asked = read_responses_request(
      nlohmann::ordered_json::parse(R"({"input":"hi","repetition_penalty":1.5,"reasoning":{"effort":"low"}})"));
  EXPECT_EQ(asked.body.value("repetition_penalty", 0.0), 1.5);
  EXPECT_EQ(asked.body.value("reasoning_effort", ""), "low");
}

// What OpenAI's own client and Vercel's have fields for, and what Codex sends.
TEST(ResponsesRequest, TakesWhatClientsCommonlySend) {
  EXPECT_EQ(responses_error(R"({"model":"m","input":[{"type":"message","role":"user","content":[
      {"type":"input_text","text":"hi"}]}],"instructions":"be short","tools":[],"tool_choice":"auto",
      "parallel_tool_calls":true,"reasoning":{"effort":"medium","summary":"auto","generate_summary":null,
      "mode":"standard","context":"auto"},"store":false,"stream":true,"stream_options":{"include_obfuscation":false},
      "include":["reasoning.encrypted_content"],"service_tier":"auto","prompt_cache_key":"k","prompt_cache_options":{},
      "prompt_cache_retention":"24h","text":{"verbosity":"medium","format":{"type":"text"}},"client_metadata":{"a":"b"},
      "metadata":{},"user":"u","safety_identifier":"s","max_tool_calls":3,"truncation":"disabled","background":false,
      "previous_response_id":null,"conversation":null,"prompt":null,"max_output_tokens":50,"temperature":1,"top_p":1,
      "top_logprobs":0,"context_management":null,"moderation":null,"n":1,"min_tokens":0})"),
            "");
}

TEST(ResponsesRequest, ErrorsNameTheFieldAsTheClientDid) {
  EXPECT_EQ(responses_error_with(R"("max_output_tokens":-2)"),
            "400 max_output_tokens: max_output_tokens is -2: it must be a whole number from 1 to 100");
  EXPECT_EQ(responses_error(R"({"input":[]})"), "400 input: input is a list of 0: it must have from 1 to 3 messages");
  EXPECT_EQ(responses_error("{}"), "400 input: input is missing: it must be a string or a list of items");
  expect_start(responses_error_with(R"("reasoning":{"effort":"huge"})"),
               "400 reasoning.effort: reasoning.effort is \"huge\": ");
  expect_start(responses_error_with(R"("text":{"format":{"type":"xml"}})"),
               "400 text.format.type: text.format.type is \"xml\":");
  expect_start(responses_error_with(R"("text":{"format":{"type":"json_schema"}})"),
               "400 text.format.schema: text.format.schema is missing: it");
  expect_start(responses_error_with(R"("tools":[{"type":"function","name":"a b"}])"),
               "400 tools[0].name: tools[0].name is \"a b\":");
  expect_start(responses_error_with(R"("tools":[{"type":"web_search"}])"),
               "400 tools[0].type: tools[0].type is \"web_search\":");
  EXPECT_EQ(
      responses_error_with(R"("tools":[{"type":"function","name":"f"}],"tool_choice":{"type":"function","name":"g"})"),
      "400 tool_choice.name: tool_choice.name is \"g\": it must be one of the tools");
  expect_start(responses_error(R"({"instructions":"a","input":[{"role":"robot","content":"b"}]})"),
               "400 input[0].role: input[0].role is \"robot\": ");
  expect_start(responses_error(R"({"input":[{"role":"user","content":[{"type":"input_image"}]}]})"),
               "400 input[0].content[0].type: input[0].content[0].type is \"input_image\"");
  expect_start(responses_error(R"({"input":[{"role":"user","content":"a"},
      {"type":"function_call","call_id":"1","name":"f","arguments":"[1]"}]})"),
               "400 input[1].arguments: input[1].arguments is \"[1]\": it");
}

TEST(OllamaRequest, NothingThatChangesTheMeaningIsIgnored) {
  for (const char* field : {R"("tool_choice":"required")", R"("response_format":{"type":"json_object"})",
                            R"("logprobs":true)", R"("top_logprobs":3)", R"("temperature":0)", R"("max_tokens":3)",
                            R"("template":"{{ .Prompt }}")", R"("min_tokens":5)", R"("reasoning_effort":"low")"}) {
    const std::string start = "400 " + name_of(field) + ": " + name_of(field) + " is not supported: ";
    EXPECT_TRUE(ollama_chat_error_with(field).starts_with(start)) << ollama_chat_error_with(field);
    const std::string generated = ollama_error_of(R"({"prompt":"hi",)" + std::string(field) + "}", true);
    EXPECT_TRUE(generated.starts_with(start)) << generated;
  }
  EXPECT_TRUE(ollama_chat_error_with(R"("frobnicate":1)").starts_with("400 frobnicate: frobnicate is unknown: "));
  EXPECT_TRUE(ollama_chat_error_with(R"("raw":true)").starts_with("400 raw: "));
  EXPECT_TRUE(ollama_chat_error_with(R"("prompt":"x")").starts_with("400 prompt: "));
  EXPECT_TRUE(ollama_error_of(R"({"prompt":"x","raw":"yes"})", true).starts_with("400 raw: raw is \"yes\": "));
  EXPECT_TRUE(ollama_error_of(R"({"prompt":"x","messages":[{"role":"user","content":"y"}]})", true)
                  .starts_with("400 messages: "));
  EXPECT_TRUE(ollama_error_of(R"({"prompt":"x","raw":true,"system":"s"})", true).starts_with("400 system: "));
  for (const char* think : {"true", R"("low")"}) {
    expect_start(ollama_error_of(R"({"prompt":"x","raw":true,"think":)" + std::string(think) + "}", true),
                 "400 think: think is not supported: ");
  }
  EXPECT_EQ(ollama_error_of(R"({"prompt":"x","raw":true,"think":false})", true), "");
  // A client puts it beside the messages, where Ollama reads it for texts only.
  const auto asked = read_ollama_request(
      nlohmann::ordered_json::parse(R"({"system":"be short","messages":[{"role":"user","content":"hi"}]})"), false);
  EXPECT_EQ(asked.body["messages"].dump(),
            R"([{"role":"system","content":"be short"},{"role":"user","content":"hi"}])");
}

// What Ollama's own clients, Open WebUI and Vercel's provider have fields for.
TEST(OllamaRequest, TakesWhatClientsCommonlySend) {
  EXPECT_EQ(ollama_chat_error_with(
                R"("model":"m:latest","stream":false,"format":"","keep_alive":"5m","tools":[],"tool_choice":"auto",
      "think":false,"logprobs":false,"top_logprobs":0,"truncate":true,"shift":true,"metadata":{"a":1},"template":"",
      "_debug_render_only":false,"options":{"num_ctx":4096,"num_predict":-1,"num_gpu":1,"frob":2},"user":"u")"),
            "");
  EXPECT_EQ(
      ollama_error_of(R"({"model":"m","prompt":"hi","suffix":"","system":"","template":"","context":[],"stream":true,
      "raw":false,"format":null,"images":null,"options":{},"keep_alive":-1,"think":"low","width":0,"steps":0})",
                      true),
      "");
}

TEST(OllamaRequest, ErrorsNameTheFieldAsTheClientDid) {
  EXPECT_EQ(ollama_chat_error_with(R"("options":{"num_predict":"x"})"),
            "400 options.num_predict: options.num_predict is \"x\": it must be a whole number from 1 to 100");
  expect_start(ollama_chat_error_with(R"("options":{"stop":[""]})"), "400 options.stop[0]: options.stop[0] is \"");
  expect_start(ollama_chat_error_with(R"("options":{"mirostat":2})"),
               "400 options.mirostat: options.mirostat is not supported: ");
  expect_start(ollama_chat_error_with(R"("think":"huge")"), "400 think: think is \"huge\": ");
  expect_start(ollama_chat_error_with(R"("think":7)"), "400 think: think is 7: i");
  expect_start(ollama_chat_error_with(R"("format":7)"), "400 format: format is 7: i");
  EXPECT_EQ(ollama_error_of(R"({"prompt":7})", true), "400 prompt: prompt is 7: it must be a string");
  EXPECT_EQ(ollama_error_of(R"({"prompt":7,"raw":true})", true), "400 prompt: prompt is 7: it must be a string");
  EXPECT_EQ(ollama_error_of(R"({"prompt":"x","system":7})", true), "400 system: system is 7: it must be a string");
  expect_start(ollama_error_of(R"({"system":"s","messages":[{"role":"robot","content":"b"}]})", false),
               "400 messages[0].role: messages[0].role is \"robot\": ");
  EXPECT_EQ(ollama_error_of(R"({"messages":[{"role":"assistant","content":"b","thinking":7}]})", false),
            "400 messages[0].thinking: messages[0].thinking is 7: it must be a string");
}

}  // namespace
}  // namespace dts::serve
