// The body of a request for a completion, read and checked.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "dts/options.h"
#include "dts/vocabulary.h"
#include "question/answer_form.h"
#include "question/penalties.h"
#include "serve/api/response_format.h"
#include "serve/api/tools.h"
#include "serve/limits.h"

namespace dts::serve {

enum class CompletionKind { kChat, kText };

struct CompletionRequest {
  CompletionKind kind = CompletionKind::kChat;
  std::vector<ChatMessage> messages;                   // of a chat
  std::variant<std::string, std::vector<Token>> text;  // of a text completion: tokens are not checked yet
  DecodingOptions decoding;
  ToolsAsked tools;
  AnswerFormat format;
  std::optional<AnswerForm> answer;  // in which form it is asked for; none: the server's
  Penalties penalties;               // tokens are not checked yet
  std::string template_variables;    // JSON; empty: none
  std::vector<std::string> stop;
  int choices = 1;
  bool stream = false;
  bool include_usage = false;
  bool logprobs = false;
  int top_logprobs = 0;
};

// The model and method that a request's `model` names: "MODEL" or "MODEL:METHOD"; the empty name is the model.
struct ModelName {
  std::string model;
  std::optional<std::string> method;
};
ModelName split_model_name(const std::string& name);

// Throws an ApiError for what is no JSON object, nests too deep or has too many values.
nlohmann::json parse_body(std::string_view body, const Limits& limits);

// Both throw an ApiError. `json` is an object; `defaults` are the server's own options, which a request may change. A
// method in the model's name comes before the server's, and one in the `dts` object before both.
// `ordered` is the same body with its keys in order: a schema's properties come in the order they were written.
CompletionRequest read_chat_request(const nlohmann::json& json, const DecodingOptions& defaults, const Limits& limits,
                                    const nlohmann::ordered_json& ordered);
CompletionRequest read_text_request(const nlohmann::json& json, const DecodingOptions& defaults, const Limits& limits,
                                    const nlohmann::ordered_json& ordered);

}  // namespace dts::serve
