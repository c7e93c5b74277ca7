// Grammars inside trees, on a model with random weights that would say anything else.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "dts/error.h"
#include "dts/llama.h"
#include "dts/text_search.h"
#include "question/answer_filter.h"
#include "question/reply_text.h"
#include "support/llama_models.h"

namespace dts {
namespace {

const LlamaModel& tiny_model() {
  static const LlamaModel model({.path = write_model("grammar", tiny_options()), .gpu_layers = 0});
  return model;
}

struct Said {
  std::vector<std::string> finished;  // contents
  std::int64_t splits = 0;
  std::string error;
};

Said say(const std::string& gbnf, AnswerFilter::Start start, std::uint64_t seed, const std::string& method) {
  const Vocabulary& vocabulary = tiny_model().vocabulary();
  const ThinkingTokens tokens = thinking_tokens(vocabulary);
  const auto engine = make_llama_engine(tiny_model(), {.max_branches = 12, .context_length = 1000, .threads = 1});
  SearchOptions options;
  options.method = make_method(method, {.branch = {.tau_v = 0.05, .max_branches = 8}, .votes = 4});
  options.sampling.temperature = 1.0F;
  options.seed = seed;
  options.max_tokens = 200;
  const bool thinks = start == AnswerFilter::Start::kThinking;
  SearchText text;
  text.is_end = [&](Token token) { return vocabulary.is_end(token); };
  text.answer_of = [&](std::span<const Token> said) { return vocabulary.detokenize(said, true); };
  text.filter = std::make_shared<AnswerFilter>(vocabulary, tokens, gbnf, start);
  const auto search = std::make_shared<Search>(vocabulary.tokenize_prompt("Question " + std::to_string(seed)), options,
                                               std::move(text), vocabulary.size());
  Scheduler scheduler(*engine);
  scheduler.submit({.search = search, .max_seconds = 0, .on_prefill = {}, .on_done = {}});
  scheduler.run();
  Said said;
  said.error = search->outcome().error;
  said.splits = search->account().branch_events;
  for (const FinishedTrace& trace : search->finished()) {
    ReplyText reader({.split_thinking = true, .opens_thinking = thinks, .stop = {}});
    for (const Token token : search->tree().tokens_of(trace.leaf)) reader.feed(shown_piece(vocabulary, token));
    reader.finish();
    said.finished.push_back(reader.take_content());
  }
  return said;
}

TEST(Grammar, DeepGroupsAndLongOnesAreRefused) {
  const Vocabulary& vocabulary = tiny_model().vocabulary();
  const std::string deep = "root ::= " + std::string(100'000, '(') + "\"x\"" + std::string(100'000, ')');
  EXPECT_THROW(vocabulary.grammar_filter(deep, false), Error);
  EXPECT_THROW(vocabulary.grammar_filter("root ::= \"" + std::string(1'000'000, 'x') + "\"", false), Error);
  const std::string quoted = "root ::= \"" + std::string(1000, '(') + "\" [(((] # ((((";
  EXPECT_NO_THROW(vocabulary.grammar_filter(quoted, false));
}

// Each of these took llama.cpp minutes or all of the memory.
TEST(Grammar, WhatWouldCostTooMuchIsRefused) {
  const Vocabulary& vocabulary = tiny_model().vocabulary();
  std::string doubling = "root ::= a0\n";
  for (int i = 0; i < 40; ++i) doubling += fmt::format("a{} ::= a{} a{}\n", i, i + 1, i + 1);
  std::string optional, branching = "root ::= b0\n";
  for (int i = 0; i < 2000; ++i) optional += "\"a\"? ";
  for (int i = 0; i < 40; ++i) branching += fmt::format("b{} ::= b{} \"x\" | b{} \"y\"\n", i, i + 1, i + 1);
  for (const std::string& gbnf : {std::string("root ::= \"a\"{5,2}"),
                                  doubling + "a40 ::= \"a\"?",
                                  branching + "b40 ::= \"a\"",
                                  "root ::= \"" + std::string(30'000, 'a') + "\"{2000}",
                                  std::string("root ::= \"a\"{99999999999999999999}"),
                                  std::string("root ::= ((\"a\"{0,40}){0,40}){0,40}"),
                                  std::string("root ::= ((\"a\"{2000}){2000} \"b\"){2000}x"),
                                  std::string("root ::= root \"a\" | \"b\""),
                                  std::string("root ::= \"a\"? root"),
                                  std::string("root ::= <[5]>"),
                                  std::string("root ::= \"a\0\"", 13),
                                  std::string("root ::= \"a"),
                                  std::string("root ::= [a"),
                                  std::string("root ::= other"),
                                  std::string("other ::= \"a\""),
                                  std::string(),
                                  std::string("root"),
                                  std::string("root ::= \"\\q\""),
                                  std::string("root ::= * \"a\""),
                                  std::string("root ::= (\"a\"")}) {
    ::testing::internal::CaptureStderr();
    EXPECT_THROW(vocabulary.grammar_filter(gbnf, false), Error) << gbnf.substr(0, 100);
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "") << "what a client sent is not printed";
  }
  for (const std::string& gbnf :
       {std::string("root ::= ((\"a\"*)*)* \"b\""), "root ::= " + optional + "\"b\"",
        std::string("root ::= \"a\"{0,2000} \"b\" # so many\n"),
        std::string("root ::=\n  \"a\" root root | [^\\x00-\\x1F\\]\\-] .{2,} # more\r\n\r\nx ::= \"\\u00e4\" (\n | "
                    "y)\ny ::= x?")}) {
    EXPECT_NO_THROW(vocabulary.grammar_filter(gbnf, false)) << gbnf;
  }
}

// root ::= "{" [a-c]+ (":" | " is ") [^a-y]{1,3} "}", by hand: may a sentence begin so?
bool begins_sentence(const std::string& text) {
  std::size_t at = 1;
  if (text.empty()) return true;
  if (text[0] != '{') return false;
  while (at < text.size() && text[at] >= 'a' && text[at] <= 'c') ++at;
  if (at == text.size()) return true;
  if (at == 1) return false;
  if (text[at] == ':') {
    ++at;
  } else {
    for (const char c : {' ', 'i', 's', ' '}) {
      if (at == text.size()) return true;
      if (text[at++] != c) return false;
    }
  }
  const std::string rest = text.substr(at);
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'y'; };
  if (rest.size() > 4 || std::any_of(rest.begin(), rest.end(), is_letter)) return false;
  return rest.size() < 4 || rest.back() == '}';
}

TEST(Grammar, AllowsWhatASentenceMayBeginWith) {
  const Vocabulary& vocabulary = tiny_model().vocabulary();
  const auto filter = vocabulary.grammar_filter(R"(root ::= "{" [a-c]+ (":" | " is ") [^a-y]{1,3} "}")", false);
  std::string said;
  for (const char* next : {"{", "a", "b", " is ", "7", "z", "}"}) {
    std::vector<float> logits(static_cast<std::size_t>(vocabulary.size()), 0.0F);
    filter->apply(logits);
    for (Token token = 0; token < vocabulary.size(); ++token) {
      const std::string piece = vocabulary.piece(token, true);
      const auto is_ascii = [](char c) { return c > 0; };
      if (vocabulary.is_end(token) || piece.empty() || !std::all_of(piece.begin(), piece.end(), is_ascii)) continue;
      ASSERT_EQ(logits[static_cast<std::size_t>(token)] == 0.0F, begins_sentence(said + piece))
          << "'" << piece << "' after '" << said << "'";
    }
    for (const Token token : vocabulary.tokenize(next, false)) filter->accept(token);
    said += next;
  }
}

TEST(LlamaGrammar, EveryTrajectoryFollowsIt) {
  std::size_t finished = 0;
  std::int64_t splits = 0;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    for (const std::string method : {"dts-stable", "standard"}) {
      const Said said =
          say("root ::= [0-9] [0-9]? \" \" (\"yes\" | \"no\" | \"maybe\")", AnswerFilter::Start::kAnswer, seed, method);
      EXPECT_EQ(said.error, "");
      for (const std::string& text : said.finished) {
        const std::size_t space = text.find(' ');
        ASSERT_TRUE(space == 1 || space == 2) << text;
        const std::string word = text.substr(space + 1);
        EXPECT_TRUE(word == "yes" || word == "no" || word == "maybe") << text;
      }
      finished += said.finished.size();
      splits += said.splits;
    }
  }
  EXPECT_GE(finished, 8U);
  EXPECT_GT(splits, 0) << "a test of trees wants trees";
}

TEST(LlamaGrammar, ASchemaMakesJsonInItsOrder) {
  const std::string schema = R"({"type": "object", "properties": {"z": {"type": "integer", "minimum": 0, "maximum": 99},
    "a": {"enum": ["x", "y"]}, "list": {"type": "array", "items": {"type": "boolean"}, "minItems": 1, "maxItems": 2}},
    "required": ["z", "a", "list"], "additionalProperties": false})";
  const std::string grammar = tiny_model().vocabulary().grammar_of_schema(schema);
  const Said said = say(grammar, AnswerFilter::Start::kEither, 3, "dts-stable");
  EXPECT_EQ(said.error, "");
  ASSERT_FALSE(said.finished.empty());
  for (const std::string& text : said.finished) {
    const auto json = nlohmann::ordered_json::parse(text);
    EXPECT_EQ(json.begin().key(), "z");
    EXPECT_TRUE(json["a"] == "x" || json["a"] == "y");
    EXPECT_LE(json["z"].get<int>(), 99);
    EXPECT_GE(json["list"].size(), 1U);
  }
}

TEST(LlamaGrammar, ThinkingIsFreeAndTheAnswerIsNot) {
  // </think> has to come by itself: a model that hardly says it needs a grammar-free bias, so the filter is driven by
  // hand.
  const Vocabulary& vocabulary = tiny_model().vocabulary();
  const ThinkingTokens tokens = thinking_tokens(vocabulary);
  AnswerFilter filter(vocabulary, tokens, "root ::= \"7\"", AnswerFilter::Start::kThinking);
  const auto allowed = [&](const LogitsFilter& state) {
    std::vector<float> logits(static_cast<std::size_t>(vocabulary.size()), 0.0F);
    state.apply(logits);
    std::vector<std::string> pieces;
    for (std::size_t i = 0; i < logits.size(); ++i) {
      if (logits[i] == 0.0F) pieces.push_back(vocabulary.piece(static_cast<Token>(i), true));
    }
    return pieces;
  };
  const auto feed = [&](LogitsFilter& state, const std::string& text) {
    for (const Token token : vocabulary.tokenize(text, true)) state.accept(token);
  };
  EXPECT_EQ(allowed(filter).size(), static_cast<std::size_t>(vocabulary.size()) - tokens.ends.size());
  feed(filter, "Well, {\"a\"");
  const auto other = filter.clone();
  feed(filter, "</think>");
  feed(filter, "\n");
  EXPECT_GT(allowed(*other).size(), 100U) << "a trajectory of its own";
  const std::vector<std::string> next = allowed(filter);
  EXPECT_NE(std::find(next.begin(), next.end(), "7"), next.end());
  EXPECT_LE(next.size(), 8U) << "the answer, or one more line end before it";
  feed(filter, "7");
  EXPECT_EQ(allowed(filter).size(), tokens.ends.size()) << "nothing but the end";

  // Spelt by tokens that are not the tag itself: none may begin the answer while it closes the tag.
  AnswerFilter spelt(vocabulary, tokens, "root ::= \"7\"", AnswerFilter::Start::kThinking);
  for (const char byte : std::string("</think")) feed(spelt, std::string(1, byte));
  for (const std::string& piece : allowed(spelt)) {
    if (piece.starts_with(">")) {
      EXPECT_EQ(piece.find_first_not_of(" \n\r\t", 1), std::string::npos) << piece;
    }
  }
  feed(spelt, ">");
  EXPECT_LE(allowed(spelt).size(), 8U);
}

TEST(LlamaGrammar, WhatIsWrongIsRefusedInOneLine) {
  const Vocabulary& vocabulary = tiny_model().vocabulary();
  for (const std::string& grammar : {std::string(), std::string("rot ::= \"a\""), std::string("root ::= root \"a\""),
                                     std::string("root ::= \"a"), std::string("root ::= x"), std::string(70'000, 'a'),
                                     "root ::= " + std::string(60'000, '('), std::string("root ::= \"a\"{100000}")}) {
    try {
      vocabulary.grammar_filter(grammar, false);
      ADD_FAILURE() << grammar.substr(0, 40);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), Error::Kind::kUsage);
    }
  }
  for (const std::string schema :
       {R"({"$ref": "#/nowhere"})", R"({"type": "nothing"})", "{", R"({"type":"string","minLength":100000000})"}) {
    EXPECT_THROW(vocabulary.grammar_filter(vocabulary.grammar_of_schema(schema), false), Error) << schema;
  }
}

// llama.cpp's JSON looks for every name among those before it: 200,000 of them took a minute and a half, of a thread
// that nothing could stop. It is counted before it begins, over all that a conversation has.
TEST(LlamaChat, ObjectsOfManyMembersAreNotRead) {
  const Vocabulary& vocabulary = tiny_model().vocabulary();
  const auto object = [](int members, std::size_t bytes) {
    std::string json = "{";
    for (int i = 0; i < members; ++i) {
      json += fmt::format("{}\"{}{:x}\":1", i == 0 ? "" : ",", std::string(bytes, 'x'), i);
    }
    return json + "}";
  };
  const auto asked = [&](const std::string& arguments, int calls, const ChatOptions& options) {
    ChatMessage message{"assistant", ""};
    for (int i = 0; i < calls; ++i) message.tool_calls.push_back({.id = "", .name = "f", .arguments = arguments});
    return vocabulary.chat_with(std::vector<ChatMessage>{{"user", "Hi"}, message}, options);
  };
  EXPECT_FALSE(asked(object(1000, 0), 20, {}).tokens.empty());
  const std::string many = object(200'000, 0);
  for (const auto& ask : std::vector<std::function<void()>>{
           [&] { asked(many, 1, {}); }, [&] { asked("{}", 1, {.tools = "[" + many + "]", .variables = ""}); },
           [&] { asked("{}", 1, {.tools = "", .variables = many}); }, [&] { asked(object(9000, 0), 20, {}); },
           [&] { asked(object(4000, 2000), 1, {}); }}) {
    try {
      ask();
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), Error::Kind::kUsage);
      EXPECT_NE(std::string(error.what()).find("too many members"), std::string::npos) << error.what();
    }
  }
}

// May the model say just this?
bool admits(const std::string& schema, const std::string& text) {
  const Vocabulary& vocabulary = tiny_model().vocabulary();
  const auto filter = vocabulary.grammar_filter(vocabulary.grammar_of_schema(schema), false);
  const auto allowed = [&](Token token) {
    std::vector<float> logits(static_cast<std::size_t>(vocabulary.size()), 0.0F);
    filter->apply(logits);
    return logits[static_cast<std::size_t>(token)] == 0.0F;
  };
  for (const Token token : vocabulary.tokenize(text, false)) {
    if (!allowed(token)) return false;
    filter->accept(token);
  }
  for (Token token = 0; token < vocabulary.size(); ++token) {
    if (vocabulary.is_end(token) && allowed(token)) return true;
  }
  return false;
}

std::string pattern(const std::string& text) { return nlohmann::json{{"type", "string"}, {"pattern", text}}.dump(); }

// Refused in one short line, with nothing printed.
std::string refusal(const std::string& schema) {
  std::string line;
  ::testing::internal::CaptureStderr();
  try {
    tiny_model().vocabulary().grammar_of_schema(schema);
    ADD_FAILURE() << schema.substr(0, 200);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::kUsage);
    line = error.what();
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "") << "what a client sent is not printed";
  EXPECT_LT(line.size(), 300U);
  EXPECT_EQ(line.find('\n'), std::string::npos) << line;
  return line;
}

TEST(SchemaGrammar, ReferencesInCirclesEnd) {
  // These ended the process.
  for (const char* circle : {R"({"allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"$ref":"#/$defs/a"}}})",
                             R"({"allOf":[{"$ref":"#/$defs/a"},{}],"$defs":{"a":{"allOf":[{"$ref":"#/$defs/a"},{}]}}})",
                             R"({"allOf":[{"$ref":"#"}]})", R"({"$ref":"#"})"}) {
    EXPECT_NE(refusal(circle).find("$ref leads back to itself"), std::string::npos) << circle;
  }
  // As Pydantic 1 writes a class that has one of its own kind.
  const std::string list = R"({"$ref":"#/definitions/Node","definitions":{"Node":{"type":"object","properties":{
    "value":{"type":"integer"},"next":{"description":"the rest","allOf":[{"$ref":"#/definitions/Node"}]}},
    "required":["value"]}}})";
  EXPECT_TRUE(admits(list, R"({"value":1,"next":{"value":2,"next":{"value":3}}})"));
  EXPECT_FALSE(admits(list, R"({"value":1,"next":{"next":{"value":3}}})"));
  // Two kinds that are one, each with one of its own kind.
  const std::string both = R"({"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/b"}],"$defs":{
    "a":{"properties":{"n":{"$ref":"#/$defs/a"},"x":{"const":1}}},
    "b":{"properties":{"n":{"$ref":"#/$defs/b"},"y":{"const":2}},"required":["y"]}}})";
  EXPECT_TRUE(admits(both, R"({"y":2,"n":{"y":2,"x":1}})"));
  EXPECT_FALSE(admits(both, R"({"y":2,"n":{"x":1}})"));
}

// Each of these took the converter minutes, or all of the memory.
TEST(SchemaGrammar, WhatIsSmallStaysSmall) {
  std::string types = R"({"type":"integer"})";
  for (int i = 0; i < 12; ++i) {
    types = R"({"type":["object","object","object","object"],"properties":{"a":)" + types + R"(},"required":["a"]})";
  }
  EXPECT_LT(tiny_model().vocabulary().grammar_of_schema(types).size(), 10'000U);
  std::string doubling = R"({"allOf":[{"$ref":"#/$defs/o0"}],"$defs":{"o40":{"type":"object"})";
  for (int i = 0; i < 40; ++i) {
    doubling +=
        fmt::format(R"(,"o{0}":{{"properties":{{"p":{{"allOf":[{{"$ref":"#/$defs/o{1}"}},{{"$ref":"#/$defs/o{1}"}}]}},
      "q":{{"allOf":[{{"$ref":"#/$defs/o{1}"}},{{}}]}}}}}})",
                    i, i + 1);
  }
  EXPECT_LT(tiny_model().vocabulary().grammar_of_schema(doubling + "}}").size(), 100'000U);
  EXPECT_TRUE(admits(doubling + "}}", R"({"p":{"q":{"p":{}}}})"));
}

TEST(SchemaGrammar, WhatWouldCostTooMuchIsRefused) {
  using nlohmann::json;
  json choices = json::array(), patterns = json::array(), alike = json::object(), names = json::array();
  json optional = json::object(), inner = json::object(), circles = json::object(), bounds = json::array();
  for (int i = 0; i < 40; ++i) {
    const json one = {{"properties", {{fmt::format("a{}", i), json::object()}}}};
    const json other = {{"properties", {{fmt::format("b{}", i), json::object()}}}};
    choices.push_back({{"anyOf", {one, other}}});
  }
  for (int i = 0; i < 5; ++i) {
    json lowest = json::array();
    for (int j = 0; j < 9; ++j) lowest.push_back({{"minimum", 10 * i + j}});
    bounds.push_back({{"anyOf", lowest}});
  }
  for (int i = 0; i < 3500; ++i) patterns.push_back({{"pattern", "^a$"}});
  for (int i = 0; i < 3000; ++i) {
    // All of them are one name to the converter, which numbers them one by one.
    std::string name = "\xE2\x80\x80";
    name[1] = static_cast<char>(0x80 + i / 64);
    name[2] = static_cast<char>(0x80 + i % 64);
    alike[name] = json::object();
    names.push_back(name);
  }
  for (int i = 0; i < 300; ++i) optional[fmt::format("p{}", i)] = json::object();
  for (int i = 0; i < 60; ++i) inner[fmt::format("p{}", i)] = json::object();
  for (int i = 0; i < 97; ++i) {
    circles[fmt::format("d{}", i)] = {{"properties", {{"n", {{"$ref", fmt::format("#/$defs/d{}", (i + 1) % 97)}}}}}};
    circles[fmt::format("e{}", i)] = {{"properties", {{"n", {{"$ref", fmt::format("#/$defs/e{}", (i + 1) % 89)}}}}}};
  }
  const json long_name = {{"properties", {{std::string(50'000, 'x'), {{"properties", inner}}}}}};
  const json product = {{"allOf", {{{"$ref", "#/$defs/d0"}}, {{"$ref", "#/$defs/e0"}}}}, {"$defs", circles}};
  for (const json& schema :
       {json{{"allOf", choices}}, json{{"items", patterns}}, json{{"properties", alike}, {"required", names}},
        json{{"properties", optional}}, long_name, product}) {
    refusal(schema.dump());
  }
  const json integers = {{"allOf", bounds}, {"type", "integer"}};
  EXPECT_NE(refusal(integers.dump()).find("too large to be made a grammar"), std::string::npos);
  for (const std::string& schema :
       {std::string(R"({"type":"array","minItems":4294967297})"), std::string(R"({"type":"array","minItems":-1})"),
        std::string(R"({"type":"string","minLength":1e300})"), std::string(R"({"type":"string","maxLength":"x"})"),
        std::string(R"({"type":"array","minItems":5,"maxItems":2})"),
        std::string(R"({"type":"integer","minimum":1e300,"maximum":5})"),
        std::string(R"({"type":"integer","exclusiveMinimum":9223372036854775807,"maximum":0})"),
        R"({"type":")" + std::string(60'000, 'x') + R"("})", R"({"$ref":")" + std::string(60'000, 'x') + R"("})",
        R"({"$ref":"#/)" + std::string(60'000, 'x') + R"("})", R"({"minItems":")" + std::string(60'000, 'x') + R"("})",
        pattern(std::string(60'000, 'q')), pattern("^" + std::string(200, '(') + "a" + std::string(200, ')') + "$"),
        std::string(R"({"properties":{"a":5}})"), std::string(R"({"anyOf":[]})"), std::string("[1"),
        std::string("7")}) {
    refusal(schema);
  }
  // What is above any count is no bound.
  EXPECT_TRUE(admits(R"({"type":"array","items":{"const":1},"maxItems":4294967297})", "[1, 1, 1]"));
}

// Large values, names and lists that stand in one place, and would be written in thousands: in gigabytes, for minutes.
TEST(SchemaGrammar, WhatStandsOnceIsNotCopiedWithoutMeasure) {
  using nlohmann::json;
  const json anything = json::object(), list(10'000, 0), many(8000, anything);
  const std::string text(20'000, 'x');
  const json references(1000, json{{"$ref", "#/$defs/a"}, {"type", "array"}});
  for (const json& schema :
       {json{{"anyOf", many}, {"const", list}}, json{{"anyOf", many}, {"enum", {text, 1}}},
        json{{"anyOf", many}, {"properties", {{text, anything}}}},
        json{{"anyOf", many}, {"required", std::vector<std::string>(5000, "a")}},
        json{{"anyOf", many}, {"type", "integer"}, {"pattern", text}},
        // As short as patterns get, and a hundred times as long in JSON.
        json{{"anyOf", std::vector<json>(200, anything)}, {"type", "string"}, {"pattern", std::string(4000, '|')}},
        json{{"prefixItems", references}, {"$defs", {{"a", {{"const", list}}}}}}}) {
    const std::string line = refusal(schema.dump());
    EXPECT_NE(line.find("it grows without measure"), std::string::npos) << schema.dump().substr(0, 60) << ": " << line;
  }
}

TEST(SchemaGrammar, PatternsAreInsideOfStrings) {
  for (const auto& [text, yes, no] : std::vector<std::tuple<std::string, std::string, std::string>>{
           {"^\"[a-z]\"$", R"("\"u\"")", R"(""u"")"},
           {"^.{1,4}$", R"("a.b")", "\"a\x01\""},
           {"^.{1,4}$", R"("abcd")", R"("""")"},
           {"^[^a]{1,4}$", R"("bcd")", "\"b\n\""},
           {"^[^a]$", R"("b")", R"("\")"},
           {"^\\S+$", R"("b")", R"("b c")"},
           {"^a\\\\b$", R"("a\\b")", R"("a\b")"},
           {"^[\\n\"a]$", R"("\n")", "\"\n\""},
           {"^\\d{2}\\.\\d+$", R"("12.5")", R"("12x5")"},
           {"^(?:ab|c)+?$", R"("abcab")", R"("ac")"},
           {"^ab*c$", R"("abbc")", R"("ababc")"},
           {"^a\\.*$", R"("a...")", R"("a.a.")"},
           {"^\xC3\xA4*$", "\"\xC3\xA4\xC3\xA4\"", "\"a\""},
           {"[0-9]", R"("in 1999 or so")", R"("never")"},
           {"^a$|^b$", R"("b")", R"("ab")"},
           {"^x", R"("xyz")", R"("yx")"},
           // Of decimal numbers and of addresses, as
           // Pydantic and Zod write them.
           {"^(?!^[-+.]*$)[+-]?0*\\d*\\.?\\d*$", R"("-01.5")", R"("1.5x")"},
           {"^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)"
            "[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+"
            "[A-Za-z]{2,}$",
            R"("a.b@c-d.org")", R"("a.b@c")"},
           {"^(?=[)(]*\\))x(?<!y)$", R"("x")", R"("")"}}) {
    EXPECT_TRUE(admits(pattern(text), yes)) << text;
    EXPECT_FALSE(admits(pattern(text), no)) << text;
  }
  for (const char* text : {"^(?i)b$",  "^(?=a$",    "^(?!a)*b$", "^\\p{L}$",    "^\\bx$",  "^(a)\\1$", "^\\0$",
                           "^a{3,1}$", "^a{9999}$", "^a**$",     "^*$",         "^[z-a]$", "^[a",      "^(a",
                           "^a)$",     "^a$b$",     "^[]$",      "^[^\\s\\S]$", "\\",      "^\\u12$",  "\x01"}) {
    EXPECT_NE(refusal(pattern(text)).find("pattern is"), std::string::npos) << text;
  }
}

// A part that no value obeys is left out where the whole can be without it.
TEST(SchemaGrammar, WhatIsImpossibleInAPartLeavesTheRest) {
  const std::string never = R"({"allOf":[{"const":1},{"const":2}]})";
  for (const auto& [schema, yes, no] : std::vector<std::tuple<std::string, std::vector<std::string>, std::string>>{
           {R"({"allOf":[{"anyOf":[{"properties":{"kind":{"const":"a"}}},{"properties":{"kind":{"const":"b"}}}]},
                {"properties":{"kind":{"const":"a"}},"required":["kind"]}]})",
            {R"({"kind":"a"})"},
            R"({"kind":"b"})"},
           {R"({"type":"object","properties":{"a":{"type":"string"},"b":false}})",
            {R"({"a":"x"})", "{}"},
            R"({"b":1})"},
           {R"({"properties":{"x":{"$ref":"#/$defs/n"},"y":{"type":"integer"}},"$defs":{"n":)" + never + "}}",
            {R"({"y":1})", "{}"},
            R"({"x":1})"},
           {R"({"type":"object","additionalProperties":)" + never + "}", {"{}"}, R"({"a":1})"},
           {R"({"anyOf":[{"type":"string"},false]})", {R"("x")"}, "false"},
           {R"({"anyOf":[{"properties":{"a":{"items":false,"minItems":1}},"required":["a"]},{"const":7}]})",
            {"7"},
            R"({"a":[]})"},
           {R"({"type":"array","items":false})", {"[]"}, "[1]"},
           {R"({"type":"array","items":)" + never + "}", {"[]"}, "[1]"},
           {R"({"type":["string","null"],"minLength":3,"maxLength":2})", {"null"}, R"("abc")"},
           {R"({"type":["array","null"],"minItems":3,"maxItems":2})", {"null"}, "[1,2,3]"},
           // It has itself in itself, and an end.
           {R"({"anyOf":[{"properties":{"n":{"$ref":"#"}},"required":["n"]},{"type":"null"}]})",
            {R"({"n":{"n":null}})", "null"},
            "{}"}}) {
    for (const std::string& text : yes) EXPECT_TRUE(admits(schema, text)) << schema << text;
    EXPECT_FALSE(admits(schema, no)) << schema;
  }
  for (const std::string& schema :
       {std::string("false"), never, R"({"type":"array","minItems":1,"items":)" + never + "}",
        R"({"properties":{"a":)" + never + R"(},"required":["a"]})",
        std::string(R"({"properties":{"a":{"$ref":"#"}},"required":["a"]})"),
        std::string(R"({"anyOf":[false,{"type":"string","minLength":3,"maxLength":2}]})")}) {
    EXPECT_NE(refusal(schema).find("no value can obey it"), std::string::npos) << schema;
  }
  // A grammar of others cannot leave one out.
  EXPECT_NE(refusal(R"({"properties":{"gone":false},"additionalProperties":true})").find("'gone'"), std::string::npos);
}

struct Judged {
  std::string schema;
  std::vector<std::string> yes, no;
};

void judge(const std::vector<Judged>& all) {
  for (const auto& [schema, yes, no] : all) {
    for (const std::string& text : yes) EXPECT_TRUE(admits(schema, text)) << schema << text;
    for (const std::string& text : no) EXPECT_FALSE(admits(schema, text)) << schema << text;
  }
}

// What a schema says of those that it does not name holds for those that its neighbours name.
TEST(SchemaGrammar, WhatIsSaidOfTheRestHoldsForTheRest) {
  judge(
      {{R"({"allOf":[{"properties":{"a":{"type":"integer"}},"additionalProperties":false},{"properties":{"b":{}}}]})",
        {R"({"a":1})", "{}"},
        {R"({"a":1,"b":2})", R"({"b":2})"}},
       {R"({"allOf":[{"properties":{"a":{}},"additionalProperties":{"type":"integer"}},{"properties":{"b":{"minimum":5}}}],
              "required":["b"]})",
        {R"({"b":7})", R"({"b":7,"a":"x","c":1})"},
        {R"({"b":"x"})", R"({"b":3})", R"({"b":7,"c":"x"})"}},
       {R"({"allOf":[{"additionalProperties":{"type":"integer"}},{"additionalProperties":{"minimum":3}}]})",
        {R"({"x":4})", "{}"},
        {R"({"x":2})", R"({"x":"4"})"}},
       {R"({"allOf":[{"items":{"type":"integer"}},{"prefixItems":[{"minimum":3},{}]}]})",
        {"[4,1]"},
        {"[1,1]", R"([4,"x"])"}},
       {R"({"type":"object","patternProperties":{"^.*$":{"type":"integer"}},"additionalProperties":false})",
        {R"({"a":1,"b":2})", "{}"},
        {R"({"a":"x"})"}},
       {R"({"properties":{"a":{"minimum":3}},"patternProperties":{".*":{"type":"integer"}},"additionalProperties":false})",
        {R"({"a":4,"z":1})"},
        {R"({"a":2})", R"({"a":"x"})", R"({"z":null})"}},
       {R"({"properties":{"a":{"const":1}},"patternProperties":{"^x-":{}}})",
        {R"({"a":1,"x-1":[]})"},
        {R"({"a":2})"}}});
  const std::string forbidden = R"({"allOf":[{"properties":{"a":{}},"additionalProperties":false},
    {"properties":{"b":{}},"required":["b"]}]})";
  EXPECT_NE(refusal(forbidden).find("forbids the property 'b'"), std::string::npos);
  refusal(R"({"type":"object","patternProperties":{".*":false},"required":["b"]})");
  for (const char* more : {"false", R"({"type":"integer"})"}) {
    const std::string line = refusal(
        fmt::format(R"({{"type":"object","patternProperties":{{"^x-":{{}}}},"additionalProperties":{}}})", more));
    EXPECT_NE(line.find("patternProperties has '^x-'"), std::string::npos) << line;
  }
}

// A name's characters are no ranges: +-l had all digits and most letters.
TEST(SchemaGrammar, OtherNamesThanThoseNamedMayBeginWithAnything) {
  judge({{R"({"properties":{"+1":{},"-1":{},"laugh":{"const":1}},"additionalProperties":{"const":2}})",
          {R"({"b":2})", R"({"3":2,"=":2,"Z":2})", R"({"laugh":1,"laughs":2})", "{\"\xC3\xA4\":2}"},
          {R"({"laugh":2})", R"({"b":1})"}},
         {R"({"properties":{"-":{"const":1},"\u00e4-z":{"const":1},"\u00e4]":{}}})", {R"({"-":1})"}, {R"({"-":2})"}},
         {R"({"properties":{"a-z":{"const":1},"a!":{"const":1}},"additionalProperties":{"const":2}})",
          {R"({"ab":2})", R"({"a%":2})", R"({"a#":2})"},
          {R"({"a-z":2})", R"({"a!":2})"}}});
}

TEST(SchemaGrammar, WhatStandsSideBySideHolds) {
  const std::string names = R"({"properties":{"x":{"$ref":"#/$defs/a_b"},"y":{"$ref":"#/$defs/a-b"}},
    "required":["x","y"],"$defs":{"a_b":{"const":1},"a-b":{"const":2}}})";
  EXPECT_TRUE(admits(names, R"({"x":1,"y":2})"));
  EXPECT_FALSE(admits(names, R"({"x":1,"y":1})"));
  const std::string both = R"({"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],
    "allOf":[{"properties":{"b":{"type":"string"},"c":{}},"required":["b"]},{"properties":{"a":{"minimum":5}}}]})";
  EXPECT_TRUE(admits(both, R"({"b":"x","a":7})"));
  EXPECT_FALSE(admits(both, R"({"a":7})"));
  EXPECT_FALSE(admits(both, R"({"b":"x","a":4})"));
  const std::string one_of_them = R"({"type":"object","properties":{"a":{"const":1},"b":{"const":2}},
    "anyOf":[{"required":["a"]},{"required":["b"]}]})";
  EXPECT_TRUE(admits(one_of_them, R"({"b":2})"));
  EXPECT_FALSE(admits(one_of_them, "{}"));
  EXPECT_FALSE(admits(one_of_them, "7"));
  EXPECT_TRUE(admits(R"({"$ref":"#/$defs/a~1b","$defs":{"a/b":{"const":1}}})", "1"));
  EXPECT_FALSE(admits(R"({"type":"string","enum":["a",1]})", "1"));
  // Names that were rules of the converter's own.
  const std::string own =
      R"({"properties":{"":{"const":1},"space":{"const":2},"root":{"const":3}},"required":["","root"]})";
  EXPECT_TRUE(admits(own, R"({"":1,"root":3})"));
  EXPECT_FALSE(admits(own, "1"));
  // Others than those named, which are JSON, too.
  const std::string open = R"({"properties":{"ab":{"const":1}},"additionalProperties":true})";
  EXPECT_TRUE(admits(open, R"({"ab":1,"x":[]})"));
  EXPECT_FALSE(admits(open, "{\"\n\":1}"));
  EXPECT_FALSE(admits(open, R"({"\q":1})"));
  // Bounds of integers, one alone, too.
  EXPECT_TRUE(admits(R"({"type":"integer","maximum":-1})", "-20"));
  EXPECT_FALSE(admits(R"({"type":"integer","maximum":-1})", "-05"));
  EXPECT_FALSE(admits(R"({"type":"integer","minimum":0,"exclusiveMinimum":true})", "0"));
  EXPECT_TRUE(admits(R"({"type":"integer","minimum":0,"maximum":18446744073709551615})", "12345678901234567"));
  refusal(R"({"allOf":[{"type":"string"},{"type":"integer"}]})");
  // An alternative that cannot be is none; the others are left.
  const std::string some = R"({"type":"string","anyOf":[{"const":1},{"const":"a"},{"enum":[null,"b"]}]})";
  for (const char* text : {R"("a")", R"("b")"}) EXPECT_TRUE(admits(some, text)) << text;
  for (const char* text : {"1", "null"}) EXPECT_FALSE(admits(some, text)) << text;
  EXPECT_TRUE(admits(R"({"type":"integer","minimum":5,"anyOf":[{"maximum":3},{"maximum":9}]})", "7"));
  refusal(R"({"type":"integer","minimum":5,"anyOf":[{"maximum":3},{"maximum":4}]})");
}

}  // namespace
}  // namespace dts
