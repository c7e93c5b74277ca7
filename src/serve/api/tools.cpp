#include "serve/api/tools.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "json/field.h"
#include "json/parse.h"
#include "serve/api/api_error.h"
#include "serve/api/body_limits.h"

namespace dts::serve {
namespace {

using Ordered = nlohmann::ordered_json;

bool is_name(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  };
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), allowed);
}

void check_name(const JsonField& name) {
  if (!is_name(name.string())) name.fail("it must have from 1 to 64 letters, digits, dashes, dots and underscores");
}

void check_function(const JsonField& tool, const char* what) {
  tool.check_object();
  const JsonField type = tool["type"];
  if (!type.absent() && type.string() != "function") {
    type.fail(fmt::format("{} must be of type \"function\"", what));
  }
  tool["function"].check_object();
  check_name(tool["function"]["name"]);
}

// A string, or a list of parts of which all are text.
std::string read_content(const JsonField& content) {
  if (content.is_string()) return content.string();
  if (!content.is_list()) content.fail("it must be a string or a list of parts");
  std::string text;
  for (std::size_t i = 0; i < content.size(); ++i) {
    const JsonField part = content.item(i);
    part.check_object();
    const std::string& type = part["type"].string();
    if (type != "text") part["type"].fail("this model reads text only: each part must be of type \"text\"");
    text += part["text"].string();
  }
  return text;
}

ToolCall read_call(const JsonField& call, const Limits& limits) {
  check_function(call, "a call");
  ToolCall read;
  if (const JsonField id = call["id"]; !id.absent()) read.id = id.string();
  const JsonField function = call["function"];
  read.name = function["name"].string();
  const JsonField arguments = function["arguments"];
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  if (arguments.is_string() && !arguments.string().empty()) {
    // Bounded as the body is: it is written out again, which recurses.
    try {
      parse_json(arguments.string(), body_limits(limits));
      json = parse_ordered_json(arguments.string(), body_limits(limits));
    } catch (const JsonError&) {
      arguments.fail(
          fmt::format("it must be a JSON object, as text, nested at most {} deep, of at most {} values and {} members "
                      "in one object, with no key twice",
                      limits.json_depth, limits.json_values, kMostMembers));
    }
  } else if (!arguments.absent() && !arguments.is_string()) {
    json = arguments.json();
  }
  if (!json.is_object()) arguments.fail("it must be a JSON object, as text");
  read.arguments = json.dump();
  return read;
}

// The schema stands at `place` of another: what referred to its own root, or to a part of it, is made to refer there.
// Values and names that only look like references are left alone.
void move_references(Ordered& schema, const std::string& place) {
  if (schema.is_array()) {
    for (Ordered& inner : schema) move_references(inner, place);
  }
  if (!schema.is_object()) return;
  for (auto& [key, value] : schema.items()) {
    if (key == "$ref" && value.is_string()) {
      const auto& reference = value.get_ref<const std::string&>();
      if (reference == "#" || reference.starts_with("#/")) value = "#" + place + reference.substr(1);
    } else if (key == "const" || key == "enum" || key == "default" || key == "example" || key == "examples") {
      continue;
    } else if (key == "properties" || key == "patternProperties" || key == "dependentSchemas" || key == "$defs" ||
               key == "definitions") {
      // Its keys are names, whatever they are.
      if (!value.is_object()) continue;
      for (auto& [name, inner] : value.items()) move_references(inner, place);
    } else {
      move_references(value, place);
    }
  }
}

ChatMessage read_message(const JsonField& message, const Limits& limits) {
  message.check_object();
  const std::string& role = message["role"].string();
  if (role != "system" && role != "developer" && role != "user" && role != "assistant" && role != "tool") {
    message["role"].fail("it must be one of system, developer, user, assistant, tool");
  }
  for (const char* name : {"function_call", "audio"}) {
    const JsonField field = message[name];
    if (field.is_empty()) continue;
    throw ApiError(400, fmt::format("{} is not supported: leave it out", field.path()), field.path(),
                   "unsupported_parameter");
  }
  ChatMessage read;
  read.role = role == "developer" ? "system" : role;
  if (const JsonField calls = message["tool_calls"]; !calls.absent()) {
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (role != "assistant") calls.fail("it goes with the role assistant only");
      read.tool_calls.push_back(read_call(calls.item(i), limits));
    }
  }
  // What an assistant said may be nothing: it has called tools, or was cut off.
  if (role != "assistant" || !message["content"].absent()) read.content = read_content(message["content"]);
  if (const JsonField id = message["tool_call_id"]; role == "tool" && !id.absent()) read.tool_call_id = id.string();
  if (const JsonField name = message["name"]; role == "tool" && !name.absent()) read.name = name.string();
  if (const JsonField thought = message["reasoning_content"]; role == "assistant" && !thought.absent()) {
    read.reasoning = thought.string();
  }
  return read;
}

}  // namespace

std::vector<ChatMessage> read_messages(const JsonField& list, const Limits& limits) {
  const std::size_t size = list.size();
  if (size < 1 || size > static_cast<std::size_t>(limits.messages)) {
    list.fail(fmt::format("it must have from 1 to {} messages", limits.messages));
  }
  std::vector<ChatMessage> messages;
  std::map<std::string, std::string> called;  // id -> tool
  for (std::size_t i = 0; i < size; ++i) {
    messages.push_back(read_message(list.item(i), limits));
    ChatMessage& message = messages.back();
    for (const ToolCall& call : message.tool_calls) called[call.id] = call.name;
    const auto tool = called.find(message.tool_call_id);
    if (message.role == "tool" && message.name.empty() && tool != called.end()) message.name = tool->second;
  }
  return messages;
}

ToolsAsked read_tools(const JsonField& body, const Ordered& ordered, const Limits& limits) {
  ToolsAsked asked;
  const JsonField tools = body["tools"];
  const JsonField choice = body["tool_choice"];
  if (const JsonField parallel = body["parallel_tool_calls"]; !parallel.absent()) asked.parallel = parallel.boolean();
  if (!tools.absent()) {
    if (tools.size() > static_cast<std::size_t>(limits.tools)) {
      tools.fail(fmt::format("it must be a list of at most {}", limits.tools));
    }
    for (std::size_t i = 0; i < tools.size(); ++i) {
      const JsonField tool = tools.item(i);
      check_function(tool, "a tool");
      if (const JsonField parameters = tool["function"]["parameters"]; !parameters.absent()) parameters.check_object();
      asked.names.push_back(tool["function"]["name"].string());
    }
    if (!asked.names.empty()) asked.list = ordered.at("tools");
  }
  if (choice.absent()) return asked;
  if (choice.is_string()) {
    const std::string& word = choice.string();
    if (word == "none") {
      asked.choice = ToolsAsked::Choice::kNone;
    } else if (word == "required") {
      asked.choice = ToolsAsked::Choice::kRequired;
    } else if (word != "auto") {
      choice.fail("it must be none, auto, required, or {\"type\": \"function\", \"function\": {\"name\": ...}}");
    }
  } else {
    check_function(choice, "what to call");
    asked.choice = ToolsAsked::Choice::kRequired;
    asked.only = choice["function"]["name"].string();
    if (std::find(asked.names.begin(), asked.names.end(), asked.only) == asked.names.end()) {
      choice["function"]["name"].fail("it must be one of the tools");
    }
  }
  if (asked.choice == ToolsAsked::Choice::kRequired && asked.names.empty()) choice.fail("there are no tools to call");
  return asked;
}

std::string tool_grammar(const ToolsAsked& tools, const Vocabulary& vocabulary) {
  const ToolFormat format = vocabulary.tool_format();
  const char* arguments = format == ToolFormat::kLlama3 ? "parameters" : "arguments";
  const auto can_be_called = [&](const std::string& name) { return tools.only.empty() || name == tools.only; };
  const bool single = std::count_if(tools.names.begin(), tools.names.end(), can_be_called) == 1;
  Ordered calls = Ordered::array();
  for (const Ordered& tool : tools.list) {
    const Ordered& function = tool.at("function");
    if (!can_be_called(function.at("name").get_ref<const std::string&>())) continue;
    Ordered parameters = function.contains("parameters") ? function["parameters"] : Ordered();
    if (parameters.is_null() || parameters.empty()) parameters = {{"type", "object"}};
    const std::string call = single ? "" : fmt::format("/anyOf/{}", calls.size());
    move_references(parameters, fmt::format("{}/properties/{}", call, arguments));
    calls.push_back({{"type", "object"},
                     {"properties", {{"name", {{"const", function.at("name")}}}, {arguments, parameters}}},
                     {"required", Ordered::array({"name", arguments})},
                     {"additionalProperties", false}});
  }
  const Ordered schema = single ? calls[0] : Ordered{{"anyOf", calls}};
  std::string grammar = "\n" + vocabulary.grammar_of_schema(schema.dump());
  constexpr std::string_view kRoot = "\nroot ::=";
  const std::size_t root = grammar.find(kRoot);
  if (root == std::string::npos) throw ApiError(500, "the grammar of the tools has no root");
  grammar.replace(root, kRoot.size(), "\ntool-call-json ::=");
  // So many that no task wants more, and a model that repeats itself comes to an end.
  const bool many = tools.parallel && tools.only.empty();
  switch (format) {
    case ToolFormat::kHermes:
      grammar += "\ntool-call ::= \"<tool_call>\\n\" tool-call-json \"\\n</tool_call>\"\nroot ::= tool-call";
      if (many) grammar += " (\"\\n\" tool-call){0,7}";
      break;
    case ToolFormat::kPhi4:
      grammar += "\nroot ::= \"<|tool_call|>[\" tool-call-json ";
      if (many) grammar += "(\", \" tool-call-json){0,7} ";
      grammar += "\"]<|/tool_call|>\"";
      break;
    case ToolFormat::kLlama3:
      grammar += "\nroot ::= tool-call-json";
      break;
  }
  return grammar + "\n";
}

}  // namespace dts::serve
