// Tools for a chat template that knows none: told in the system's message, calls and results as text.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "dts/vocabulary.h"

namespace dts {

bool speaks_of_tools(std::span<const ChatMessage> messages);

// The same conversation in plain messages. `tools`: a JSON list; empty: none. Calls are written as ToolFormat::kHermes
// has them, which is what most models have seen.
std::vector<ChatMessage> with_tools_as_text(std::span<const ChatMessage> messages, const std::string& tools);

}  // namespace dts
