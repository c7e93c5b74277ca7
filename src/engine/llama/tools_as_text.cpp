#include "engine/llama/tools_as_text.h"

#include <algorithm>

namespace dts {

bool speaks_of_tools(std::span<const ChatMessage> messages) {
  return std::any_of(messages.begin(), messages.end(),
                     [](const ChatMessage& message) { return message.role == "tool" || !message.tool_calls.empty(); });
}

std::vector<ChatMessage> with_tools_as_text(std::span<const ChatMessage> messages, const std::string& tools) {
  std::vector<ChatMessage> plain;
  for (const ChatMessage& message : messages) {
    if (message.role == "tool") {
      plain.push_back({"user", "<tool_response>\n" + message.content + "\n</tool_response>"});
      continue;
    }
    ChatMessage text{message.role, message.content};
    for (const ToolCall& call : message.tool_calls) {
      if (!text.content.empty()) text.content += "\n";
      text.content +=
          "<tool_call>\n{\"name\": \"" + call.name + "\", \"arguments\": " + call.arguments + "}\n</tool_call>";
    }
    plain.push_back(std::move(text));
  }
  if (tools.empty()) return plain;
  const std::string told = "You may call functions. These are there, as JSON:\n" + tools +
                           "\nTo call one, write its name and arguments as JSON, like this, and nothing after it:\n"
                           "<tool_call>\n{\"name\": \"NAME\", \"arguments\": {}}\n</tool_call>";
  if (!plain.empty() && plain.front().role == "system") {
    plain.front().content += "\n\n" + told;
  } else {
    plain.insert(plain.begin(), {"system", told});
  }
  return plain;
}

}  // namespace dts
