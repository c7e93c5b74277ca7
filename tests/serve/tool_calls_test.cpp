// Calls of tools in what a model says: every way to cut it into pieces reads the same.
#include "question/tool_calls.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace dts {
namespace {

struct Told {
  std::string content;
  std::vector<std::pair<std::string, std::string>> calls;

  friend bool operator==(const Told&, const Told&) = default;
};

void take(ToolReader& reader, Told& told) {
  told.content += reader.take_content();
  for (const ToolCall& call : reader.take_calls()) told.calls.emplace_back(call.name, call.arguments);
}

Told read(const ToolSyntax& syntax, const std::vector<std::string>& pieces) {
  ToolReader reader(syntax);
  Told told;
  for (const std::string& piece : pieces) {
    reader.feed(piece);
    take(reader, told);
  }
  reader.finish();
  take(reader, told);
  return told;
}

// Reads `text` whole, byte by byte, and cut in two anywhere.
Told read_every_way(const ToolSyntax& syntax, const std::string& text) {
  const Told whole = read(syntax, {text});
  std::vector<std::string> bytes;
  for (const char byte : text) bytes.emplace_back(1, byte);
  EXPECT_EQ(read(syntax, bytes), whole) << text;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    EXPECT_EQ(read(syntax, {text.substr(0, i), text.substr(i)}), whole) << text << " at " << i;
  }
  return whole;
}

const ToolSyntax kHermes{ToolFormat::kHermes, {"add", "now"}};
const ToolSyntax kLlama{ToolFormat::kLlama3, {"add", "now"}};
const ToolSyntax kPhi{ToolFormat::kPhi4, {"add", "now"}};

TEST(ToolReader, Hermes) {
  EXPECT_EQ(read_every_way(kHermes,
                           "Let me see.\n<tool_call>\n{\"name\": \"add\", \"arguments\": {\"b\": 1, \"a\": "
                           "[2]}}\n</tool_call>\n<tool_call>{\"name\":\"now\"}</tool_call>\n"),
            (Told{"Let me see.", {{"add", R"({"b":1,"a":[2]})"}, {"now", "{}"}}}));
  EXPECT_EQ(read_every_way(kHermes, "a < b and <tool> \n"), (Told{"a < b and <tool> \n", {}}));
  EXPECT_EQ(read_every_way(kHermes, "<tool_call>{\"name\": \"add\"}"), (Told{"", {{"add", "{}"}}}))
      << "the turn ended instead of the tag";
  EXPECT_EQ(read_every_way(kHermes, "<tool_call>no JSON</tool_call> text"),
            (Told{"<tool_call>no JSON</tool_call> text", {}}));
  EXPECT_EQ(read_every_way(kHermes, R"(<tool_call>{"name": "add", "arguments": "{\"a\": 1}"}</tool_call>)"),
            (Told{"", {{"add", R"({"a":1})"}}}));
  EXPECT_EQ(read_every_way(kHermes, R"(<tool_call>{"name": "add", "arguments": [1]}</tool_call>)").calls.size(), 0U);
  EXPECT_EQ(read_every_way(kHermes, "<tool_call>" + std::string(200, '[')).calls.size(), 0U);
  ToolSyntax one = kHermes;
  one.parallel = false;
  EXPECT_EQ(read_every_way(one, R"(<tool_call>{"name":"add"}</tool_call><tool_call>{"name":"now"}</tool_call>)"),
            (Told{"", {{"add", "{}"}}}));
}

TEST(ToolReader, Llama3) {
  EXPECT_EQ(read_every_way(kLlama, R"( {"name": "add", "parameters": {"a": "x"}})"),
            (Told{"", {{"add", R"({"a":"x"})"}}}));
  EXPECT_EQ(read_every_way(kLlama, R"(<|python_tag|>{"name": "now", "parameters": {}})"), (Told{"", {{"now", "{}"}}}));
  EXPECT_EQ(read_every_way(kLlama, R"({"name": "add", "parameters": {}}; {"name": "now", "parameters": {}})"),
            (Told{"", {{"add", "{}"}, {"now", "{}"}}}));
  EXPECT_EQ(read_every_way(kLlama, R"({"name": "Bob", "age": 7})"), (Told{R"({"name": "Bob", "age": 7})", {}}))
      << "JSON that calls nothing there is";
  EXPECT_EQ(read_every_way(kLlama, "<b>It is 7.</b>"), (Told{"<b>It is 7.</b>", {}}));
}

TEST(ToolReader, Phi4) {
  EXPECT_EQ(
      read_every_way(kPhi, R"(<|tool_call|>[{"name": "add", "arguments": {"a": 1}}, {"name": "now"}]<|/tool_call|>)"),
      (Told{"", {{"add", R"({"a":1})"}, {"now", "{}"}}}));
  EXPECT_EQ(read_every_way(kPhi, "<|tool_call|>[]<|/tool_call|>").calls.size(), 0U);
}

Told read_cut(const ToolSyntax& syntax, const std::string& text) {
  ToolReader reader(syntax);
  Told told;
  for (const char byte : text) reader.feed(std::string(1, byte));
  reader.finish(/*cut=*/true);
  take(reader, told);
  return told;
}

TEST(ToolReader, ACallThatIsCutHasTheArgumentsSoFar) {
  EXPECT_EQ(read_cut(kHermes, R"(Well. <tool_call>{"name": "add", "arguments": {"a": "x)"),
            (Told{"Well.", {{"add", R"({"a": "x)"}}}));
  EXPECT_EQ(read_cut(kHermes, R"(<tool_call>{"name":"now"}</tool_call><tool_call>{"name": "add", "arg)"),
            (Told{"", {{"now", "{}"}, {"add", ""}}}));
  EXPECT_EQ(read_cut(kHermes, R"(<tool_call>{"name": "ad)"), (Told{R"(<tool_call>{"name": "ad)", {}}));
  EXPECT_EQ(read_cut(kHermes, R"(<tool_call>{"name": "other", "arguments": {"a)").calls.size(), 0U);
  EXPECT_EQ(read_cut(kPhi, R"(<|tool_call|>[{"name": "now", "arguments": {}}, {"name": "add", "arguments": {"a": [1)"),
            (Told{"", {{"now", "{}"}, {"add", R"({"a": [1)"}}}));
  EXPECT_EQ(read_cut(kLlama, R"({"name": "add", "parameters": {"a": "}\"")"), (Told{"", {{"add", R"({"a": "}\"")"}}}));
  EXPECT_EQ(read_cut(kLlama, R"({"name": "Bob", "age": 7)"), (Told{R"({"name": "Bob", "age": 7)", {}}));
  ToolSyntax one = kHermes;
  one.parallel = false;
  EXPECT_EQ(read_cut(one, R"(<tool_call>{"name":"now"}</tool_call><tool_call>{"name": "add", "arg)"),
            (Told{"", {{"now", "{}"}}}));
}

// Wherever it is cut: nothing, or the one call with the beginning of its arguments, and never the markup.
TEST(ToolReader, ARequiredCallIsCutAnywhere) {
  const std::string arguments = R"({"a":"x}{\"]","list":[1,{"b":null}],"n":-1.5})";
  for (ToolSyntax syntax : {kHermes, kLlama, kPhi}) {
    syntax.required = true;
    const char* key = syntax.format == ToolFormat::kLlama3 ? "parameters" : "arguments";
    std::string call = R"({"name": "add", ")" + std::string(key) + "\": " + arguments + "}";
    if (syntax.format == ToolFormat::kHermes) call = "<tool_call>\n" + call + "\n</tool_call>";
    if (syntax.format == ToolFormat::kPhi4) call = "<|tool_call|>[" + call + "]<|/tool_call|>";
    std::size_t last = 0, calls = 0;
    for (std::size_t n = 0; n <= call.size(); ++n) {
      const Told told = read_cut(syntax, call.substr(0, n));
      EXPECT_EQ(told.content, "") << call.substr(0, n);
      ASSERT_GE(told.calls.size(), calls);
      calls = told.calls.size();
      ASSERT_LE(calls, 1U);
      if (calls == 0) continue;
      EXPECT_EQ(told.calls[0].first, "add");
      EXPECT_TRUE(arguments.starts_with(told.calls[0].second)) << told.calls[0].second;
      EXPECT_GE(told.calls[0].second.size(), last);
      last = told.calls[0].second.size();
    }
    EXPECT_EQ(calls, 1U);
    EXPECT_EQ(last, arguments.size());
  }
}

TEST(ToolReader, CallsThatAreTheSameVoteForTheSame) {
  const auto vote = [](const std::string& text) {
    ToolReader reader(kHermes);
    reader.feed(text);
    reader.finish();
    return canonical_calls(reader.take_calls());
  };
  EXPECT_EQ(vote(R"(<tool_call>{"arguments": {"b": 2.0, "a": [1, {"d": 1, "c": 2}]}, "name": "add"}</tool_call>)"),
            vote(R"(Well. <tool_call>{"name":"add","arguments":{"a":[1,{"c":2,"d":1}],"b":2}}</tool_call>)"));
  EXPECT_NE(vote(R"(<tool_call>{"name":"add","arguments":{"a":1}}</tool_call>)"),
            vote(R"(<tool_call>{"name":"add","arguments":{"a":"1"}}</tool_call>)"));
  EXPECT_EQ(vote("no call"), "");
  EXPECT_EQ(canonical_json(" {\"b\": 1.0, \"a\": null}\n"), R"({"a":null,"b":1})");
  EXPECT_EQ(canonical_json(" yes\n"), "yes");
}

}  // namespace
}  // namespace dts
