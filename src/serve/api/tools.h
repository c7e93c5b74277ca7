// Tools of a request: what there is to call, whether the model must, and messages that speak of calls.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "dts/vocabulary.h"
#include "serve/limits.h"

namespace dts {
class JsonField;
}

namespace dts::serve {

struct ToolsAsked {
  enum class Choice { kNone, kAuto, kRequired };

  nlohmann::ordered_json list;  // as OpenAI has it, keys in the order they came in; null: no tools
  std::vector<std::string> names;
  Choice choice = Choice::kAuto;
  std::string only;  // the one that must be called; empty: any
  bool parallel = true;

  // The model sees them.
  bool shown() const { return !names.empty() && choice != Choice::kNone; }
};

// `tools`, `tool_choice` and `parallel_tool_calls` of a body. `ordered`: the same body, with its keys in order.
ToolsAsked read_tools(const JsonField& body, const nlohmann::ordered_json& ordered, const Limits& limits);

// `messages`.
std::vector<ChatMessage> read_messages(const JsonField& list, const Limits& limits);

// The grammar of a reply that calls the tools that must be called, and says nothing else.
std::string tool_grammar(const ToolsAsked& tools, const Vocabulary& vocabulary);

}  // namespace dts::serve
