#include "serve/api/known_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "dts/options.h"
#include "json/field.h"
#include "serve/api/api_error.h"
#include "text/display.h"

namespace dts::serve {
namespace {

// Read by whoever is concerned; the options of a search are in their own table.
// clang-format off
constexpr auto kChatHonoured = std::to_array<std::string_view>({
    "model", "messages", "dts", "tools", "tool_choice", "response_format", "parallel_tool_calls",
    "json_schema", "grammar", "presence_penalty", "frequency_penalty", "repeat_penalty", "logit_bias",
    "reasoning_effort", "repetition_penalty", "enable_thinking", "modalities", "n_predict", "chat_template_kwargs",
    "stop", "n", "best_of", "max_completion_tokens", "stream", "stream_options", "logprobs", "top_logprobs",
});
constexpr auto kTextHonoured = std::to_array<std::string_view>({
    "model", "prompt", "dts", "response_format", "json_schema", "grammar", "presence_penalty", "frequency_penalty",
    "repeat_penalty", "logit_bias", "repetition_penalty", "modalities", "n_predict", "stop", "n", "best_of",
    "max_completion_tokens", "stream", "stream_options", "logprobs",
});
// Of tools, which a text has none of.
constexpr auto kTextHarmless = std::to_array<std::string_view>({"parallel_tool_calls"});
// clang-format on

// They change nothing here: who asks, how it is billed, cached or placed, and numbers of samplers that are not on.
// clang-format off
constexpr auto kHarmless = std::to_array<std::string_view>({
    "user", "metadata", "store", "service_tier", "safety_identifier", "prompt_cache_key", "prompt_cache_retention",
    "prompt_cache_options", "prediction", "provider", "route", "usage", "keep_alive", "request_id", "rid", "priority",
    "session_id",
    // llama.cpp's.
    "cache_prompt", "id_slot", "slot_id", "n_keep", "n_discard", "n_cache_reuse", "timings_per_token",
    "return_progress", "post_sampling_probs", "return_tokens", "verbose", "parse_tool_calls", "mirostat_tau",
    "mirostat_eta", "dry_base", "dry_allowed_length", "dry_penalty_last_n", "dry_sequence_breakers", "xtc_threshold",
    "dynatemp_exponent", "adaptive_decay", "penalize_nl", "backend_sampling",
    // vLLM's and SGLang's.
    "cache_salt", "kv_transfer_params", "spaces_between_special_tokens", "detokenize", "stream_interval",
    "data_parallel_rank", "return_cached_tokens_details",
});
// clang-format on

// A field that would change what is generated, and that we cannot honour, with the values that would not.
struct RefusedField {
  const char* name;
  const char* neutral;  // JSON texts, one after the other; empty: none but null, [] and {}
  const char* remedy;
};

constexpr const char* kOut = "leave it out";
constexpr const char* kZero = "it must be 0 or left out";
constexpr const char* kOne = "it must be 1 or left out";
constexpr const char* kFalse = "it must be false or left out";
constexpr const char* kTrue = "it must be true or left out";

constexpr auto kUnsupported = std::to_array<RefusedField>({
    {"functions", "", kOut},
    {"function_call", R"(["none", "auto"])", kOut},
    {"audio", "", kOut},
    {"web_search_options", "", kOut},
    {"suffix", R"([""])", kOut},
    {"images", "", kOut},
    {"lora", "", kOut},
    {"reasoning", "", "use reasoning_effort"},
    {"thinking", "", "use reasoning_effort or chat_template_kwargs"},
    {"moderation", "", kOut},
    {"verbosity", R"(["medium"])", kOut},
    // llama.cpp's samplers.
    {"dry_multiplier", "[0]", kZero},
    {"xtc_probability", "[0]", kZero},
    {"mirostat", "[0]", kZero},
    {"dynatemp_range", "[0]", kZero},
    {"typical_p", "[1]", kOne},
    {"tfs_z", "[1]", kOne},
    {"top_n_sigma", "[-1, 0]", kOut},
    {"top_a", "[0]", kZero},
    {"adaptive_target", "[-1]", kOut},
    {"t_max_predict_ms", "[-1, 0]", "use dts.max_seconds"},
    {"n_indent", "[0]", kZero},
    {"min_keep", "[0, 1]", kOut},
    {"reasoning_format", R"(["auto", "deepseek"])", kOut},
    {"thinking_forced_open", "[false]", kFalse},
    {"thinking_budget_tokens", "[-1]", kOut},
    {"reasoning_budget", "[-1]", kOut},
    {"grammar_lazy", "[false]", kFalse},
    {"response_fields", "", kOut},
    {"add_bos", "[true]", kOut},
    {"samplers", "", kOut},
    {"n_probs", "[0]", kZero},
    {"ignore_eos", "[false]", kFalse},
    {"input_prefix", R"([""])", kOut},
    {"input_suffix", R"([""])", kOut},
    // vLLM's and SGLang's.
    {"min_tokens", "[0]", kZero},
    {"length_penalty", "[1]", kOne},
    {"use_beam_search", "[false]", kFalse},
    {"early_stopping", "[false]", kFalse},
    {"stop_token_ids", "", kOut},
    {"bad_words", "", kOut},
    {"allowed_token_ids", "", kOut},
    {"guided_json", "", "use response_format"},
    {"guided_regex", "", "use response_format or grammar"},
    {"guided_choice", "", "use response_format or grammar"},
    {"guided_grammar", "", "use grammar"},
    {"guided_whitespace_pattern", "", kOut},
    {"structured_outputs", "", "use response_format"},
    {"regex", "", "use grammar"},
    {"ebnf", "", "use grammar"},
    {"continue_final_message", "[false]", kFalse},
    {"add_generation_prompt", "[true]", kTrue},
    {"add_special_tokens", "[false]", kFalse},
    {"chat_template", "", kOut},
    {"documents", "", kOut},
    {"truncate_prompt_tokens", "", kOut},
    {"prompt_logprobs", "[0]", kOut},
    {"include_stop_str_in_output", "[false]", kFalse},
    {"skip_special_tokens", "[true]", kTrue},
    {"logits_processors", "", kOut},
    {"thinking_token_budget", "", kOut},
    {"include_reasoning", "[true]", kTrue},
    {"separate_reasoning", "[true]", kTrue},
    {"stream_reasoning", "[true]", kTrue},
    {"no_stop_trim", "[false]", kFalse},
    {"return_tokens_as_token_ids", "[false]", kFalse},
    {"return_token_ids", "[false]", kFalse},
    {"return_hidden_states", "[false]", kFalse},
    {"repetition_detection", "", kOut},
    {"lora_path", "", kOut},
    {"custom_logit_processor", "", kOut},
    {"mm_processor_kwargs", "", kOut},
    {"echo", "[false]", kFalse},
});

constexpr const char* kChatsOnly = "it goes with chats only";

constexpr auto kChatRefused = std::to_array<RefusedField>({
    {"prompt", R"([""])", "use messages"},
});
constexpr auto kTextRefused = std::to_array<RefusedField>({
    {"messages", "", "use prompt, or POST /v1/chat/completions"},
    {"tools", "", kChatsOnly},
    {"tool_choice", R"(["none", "auto"])", kChatsOnly},
    {"chat_template_kwargs", "", kChatsOnly},
    {"reasoning_effort", "", kChatsOnly},
    {"enable_thinking", "", kChatsOnly},
    {"top_logprobs", "[0]", "use logprobs: how many"},
});

// Text to tokens and back, and the prompt of a chat.
constexpr auto kTokenizeHonoured =
    std::to_array<std::string_view>({"content", "add_special", "parse_special", "with_pieces"});
constexpr auto kDetokenizeHonoured = std::to_array<std::string_view>({"tokens"});
constexpr auto kTokensHarmless = std::to_array<std::string_view>({"model"});
constexpr auto kTokenizeRefused = std::to_array<RefusedField>({
    {"prompt", "", "use content"},
    {"messages", "", "use /apply-template"},
    {"add_special_tokens", "[false]", "use add_special"},
});
// clang-format off
constexpr auto kTemplateHonoured = std::to_array<std::string_view>({
    "messages", "tools", "tool_choice", "parallel_tool_calls", "chat_template_kwargs", "reasoning_effort",
    "enable_thinking",
});
// What a chat does once it has its prompt.
constexpr auto kTemplateHarmless = std::to_array<std::string_view>({
    "model", "response_format", "json_schema", "grammar", "presence_penalty", "frequency_penalty", "repeat_penalty",
    "logit_bias", "repetition_penalty", "repeat_last_n", "penalty_last_n", "n_predict", "stop", "n", "best_of",
    "max_completion_tokens", "stream", "stream_options", "logprobs", "top_logprobs",
});
// clang-format on
constexpr auto kTemplateRefused = std::to_array<RefusedField>({
    {"dts", "", kOut},  // it can ask for an answer's form, which is part of the prompt
    {"prompt", R"([""])", "use messages"},
});

// OpenAI's Responses.
// clang-format off
constexpr auto kResponsesHonoured = std::to_array<std::string_view>({
    "model", "input", "instructions", "dts", "tools", "tool_choice", "parallel_tool_calls", "text", "reasoning",
    "include", "max_output_tokens", "stream", "stop", "temperature", "top_p", "top_k", "min_p", "seed", "logit_bias",
    "presence_penalty", "frequency_penalty", "repetition_penalty", "repeat_penalty",
});
// Tools that are not the client's own are not here to be called; a stream always ends with its usage.
constexpr auto kResponsesHarmless = std::to_array<std::string_view>({
    "max_tool_calls", "stream_options", "client_metadata",
});
// clang-format on

constexpr const char* kKeepsNothing = "this server keeps no conversations: send all of it as input";
constexpr const char* kMaxOutputTokens = "use max_output_tokens";
constexpr const char* kTextFormat = "use text.format";
constexpr const char* kEffort = "use reasoning.effort";

constexpr auto kResponsesRefused = std::to_array<RefusedField>({
    {"previous_response_id", "", kKeepsNothing},
    {"conversation", "", kKeepsNothing},
    {"prompt", "", kKeepsNothing},
    {"background", "[false]", kFalse},
    {"truncation", R"(["disabled"])", "it must be \"disabled\" or left out"},
    {"context_management", "", kOut},
    {"logprobs", "[false]", kFalse},
    {"top_logprobs", "[0]", kZero},
    {"n", "[1]", kOne},
    {"best_of", "[1]", kOne},
    {"modalities", R"([["text"]])", kOut},
    // OpenAI's chats, and what this server's have besides, say it otherwise.
    {"messages", "", "use input"},
    {"max_tokens", "", kMaxOutputTokens},
    {"max_completion_tokens", "", kMaxOutputTokens},
    {"n_predict", "", kMaxOutputTokens},
    {"response_format", R"([{"type": "text"}])", kTextFormat},
    {"json_schema", "", kTextFormat},
    {"grammar", R"([""])", "use text.format, or POST /v1/chat/completions"},
    {"reasoning_effort", "", kEffort},
    {"enable_thinking", "", kEffort},
    {"chat_template_kwargs", "", kEffort},
    {"thinking", "", kEffort},
});

// Ollama's. What `options` has is not checked here: Ollama's own clients send it what only its engine has.
// clang-format off
constexpr auto kOllamaChatHonoured = std::to_array<std::string_view>({
    "model", "messages", "system", "stream", "tools", "dts", "options", "format", "think",
});
constexpr auto kOllamaGenerateHonoured = std::to_array<std::string_view>({
    "model", "prompt", "system", "raw", "stream", "dts", "options", "format", "think",
});
// What happens when the context is full: here it ends, whatever they say.
constexpr auto kOllamaHarmless = std::to_array<std::string_view>({"truncate", "shift"});
// clang-format on

constexpr const char* kThink = "use think";
constexpr const char* kFormat = "use format";
constexpr const char* kNumPredict = "use options.num_predict";
constexpr const char* kInOptions = "put it into options";

constexpr auto kOllamaRefused = std::to_array<RefusedField>({
    {"tool_choice", R"(["auto"])", "it must be \"auto\" or left out"},
    {"parallel_tool_calls", "[true]", kTrue},
    {"logprobs", "[false]", kFalse},
    {"top_logprobs", "[0]", kZero},
    {"_debug_render_only", "[false]", kFalse},
    {"images", R"([""])", "this model reads text only"},
    {"suffix", R"([""])", kOut},
    {"template", R"([""])", kOut},
    {"context", R"([""])", kOut},
    {"width", "[0]", kOut},
    {"height", "[0]", kOut},
    {"steps", "[0]", kOut},
    // Each of /api/chat and /api/generate is without what the other has.
    {"prompt", R"([""])", "use messages"},
    {"messages", "", "use prompt"},
    {"raw", "[false]", "use /api/generate"},
    {"tools", "", "use /api/chat"},
    // OpenAI's, and what is not where it belongs.
    {"n", "[1]", kOne},
    {"response_format", R"([{"type": "text"}])", kFormat},
    {"json_schema", "", kFormat},
    {"grammar", R"([""])", kFormat},
    {"reasoning_effort", "", kThink},
    {"reasoning", "", kThink},
    {"thinking", "", kThink},
    {"enable_thinking", "", kThink},
    {"chat_template_kwargs", "", kThink},
    {"max_tokens", "", kNumPredict},
    {"max_completion_tokens", "", kNumPredict},
    {"n_predict", "", kNumPredict},
    {"num_predict", "", kInOptions},
    {"num_ctx", "", kInOptions},
    {"temperature", "", kInOptions},
    {"top_p", "", kInOptions},
    {"top_k", "", kInOptions},
    {"min_p", "", kInOptions},
    {"seed", "", kInOptions},
    {"stop", "", kInOptions},
    {"repeat_penalty", "", kInOptions},
    {"presence_penalty", "", kInOptions},
    {"frequency_penalty", "", kInOptions},
});

// What an API has of its own. A field that is nowhere in here is harmless or refused as it is everywhere.
struct ApiFields {
  std::span<const std::string_view> honoured;
  std::span<const std::string_view> harmless;
  std::span<const RefusedField> refused;
};

ApiFields fields_of(Api api) {
  switch (api) {
    case Api::kChat:
      return {kChatHonoured, {}, kChatRefused};
    case Api::kText:
      return {kTextHonoured, kTextHarmless, kTextRefused};
    case Api::kResponses:
      return {kResponsesHonoured, kResponsesHarmless, kResponsesRefused};
    case Api::kOllamaChat:
      return {kOllamaChatHonoured, kOllamaHarmless, kOllamaRefused};
    case Api::kOllamaGenerate:
      return {kOllamaGenerateHonoured, kOllamaHarmless, kOllamaRefused};
    case Api::kTokenize:
      return {kTokenizeHonoured, kTokensHarmless, kTokenizeRefused};
    case Api::kDetokenize:
      return {kDetokenizeHonoured, kTokensHarmless, {}};
    case Api::kApplyTemplate:
      return {kTemplateHonoured, kTemplateHarmless, kTemplateRefused};
  }
  return {};
}

// How far back penalties look: to the beginning. Where there are none it does not matter.
constexpr auto kPenaltyRanges = std::to_array<std::string_view>({"repeat_last_n", "penalty_last_n"});

template <typename List>
bool has(const List& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

bool is_neutral(const RefusedField& field, const JsonField& value) {
  // An empty schema asks for JSON of any kind.
  if (value.is_empty()) return value.absent() || field.name != std::string_view("guided_json");
  const std::string_view neutral = field.neutral;
  if (neutral.empty()) return false;
  const auto values = nlohmann::json::parse(neutral);
  return std::find(values.begin(), values.end(), value.json()) != values.end();
}

bool has_penalties(const JsonField& body) {
  const auto is = [&](const char* name, double neutral) {
    return !body[name].absent() && !(body[name].is_number() && body[name].number() == neutral);
  };
  return is("presence_penalty", 0) || is("frequency_penalty", 0) || is("repetition_penalty", 1) ||
         is("repeat_penalty", 1);
}

const RefusedField* find_refused(std::span<const RefusedField> list, const std::string& name) {
  for (const RefusedField& field : list) {
    if (name == field.name) return &field;
  }
  return nullptr;
}

void check_field(const JsonField& body, Api api, const std::string& name, const JsonField& value) {
  const ApiFields own = fields_of(api);
  const bool openai = api == Api::kChat || api == Api::kText || api == Api::kApplyTemplate;
  const OptionInfo* option = openai ? find_option(name) : nullptr;
  if (has(own.honoured, name) || (option != nullptr && option->openai)) return;
  const RefusedField* refused = find_refused(own.refused, name);
  if (refused == nullptr) {
    if (has(own.harmless, name) || has(kHarmless, name)) return;
    if (name.starts_with("speculative.")) return;  // llama.cpp's: how fast, not what
    refused = find_refused(kUnsupported, name);
  }
  if (refused != nullptr) {
    if (!is_neutral(*refused, value)) unsupported_field(name, refused->remedy);
    return;
  }
  if (has(kPenaltyRanges, name) && has(own.honoured, "repeat_penalty")) {
    if (has_penalties(body) && value.as_integer() != -1) unsupported_field(name, "it must be -1 or left out");
    return;
  }
  if (!value.absent()) unknown_field(name);
}

}  // namespace

void unsupported_field(const std::string& name, const std::string& why) {
  throw ApiError(400, fmt::format("{} is not supported: {}", name, why), name, "unsupported_parameter");
}

void unknown_field(const std::string& name) {
  const std::string shown = text::shorten(text::one_line(name), 60);
  throw ApiError(400, fmt::format("{} is unknown: leave it out, or say it as this server's manual does", shown), shown,
                 "unknown_parameter");
}

void wrong_field(const std::string& name, const nlohmann::ordered_json* value, const std::string& what) {
  nlohmann::json whole = nlohmann::json::object();
  if (value != nullptr) whole[name] = nlohmann::json(*value);
  try {
    JsonField(whole)[name].fail(what);
  } catch (const Error& error) {
    throw api_error(error);
  }
}

void check_fields(const JsonField& body, Api api) {
  body.each_member([&](const std::string& name, const JsonField& value) { check_field(body, api, name, value); });
  const JsonField modalities = body["modalities"];
  if (modalities.absent()) return;
  for (std::size_t i = 0; i < modalities.size(); ++i) {
    if (modalities.item(i).string() != "text") unsupported_field("modalities", "it must be [\"text\"]");
  }
}

}  // namespace dts::serve
