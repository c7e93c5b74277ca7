#include "serve/api/completion_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "dts/error.h"
#include "json/field.h"
#include "json/option_json.h"
#include "json/parse.h"
#include "serve/api/api_error.h"
#include "serve/api/body_limits.h"
#include "serve/api/known_fields.h"
#include "serve/api/option_fields.h"
#include "serve/api/token_weights.h"
#include "text/display.h"

namespace dts::serve {
namespace {

using namespace text;

std::vector<std::string> read_stop(const JsonField& stop, const Limits& limits) {
  std::vector<std::string> strings;
  const auto add = [&](const JsonField& item) {
    const std::string& text = item.string();
    if (text.empty() || text.size() > limits.stop_bytes) {
      item.fail(fmt::format("it must have from 1 to {} bytes", limits.stop_bytes));
    }
    strings.push_back(text);
  };
  if (stop.absent()) return strings;
  if (stop.is_string()) {
    add(stop);
    return strings;
  }
  if (stop.size() > static_cast<std::size_t>(limits.stop_strings)) {
    stop.fail(fmt::format("it must be a string or a list of at most {}", limits.stop_strings));
  }
  for (std::size_t i = 0; i < stop.size(); ++i) add(stop.item(i));
  return strings;
}

void read_value(const OptionInfo& option, const JsonField& value, const Limits& limits, DecodingOptions& decoding) {
  if (value.absent()) return;
  if (option.name == "top_p" && value.is_number() && value.number() == 0) {
    // OpenAI's range begins with 0, which leaves the most probable token.
    decoding.top_p = std::numeric_limits<float>::min();
  } else if (option.name == "top_k" && value.as_integer() == -1) {
    decoding.top_k = 0;  // how some clients say that there is no limit
  } else if (option.name == "max_tokens" && value.as_integer() == -1) {
    decoding.max_tokens.reset();  // and here
  } else {
    option.set(decoding, read_option(option, value, request_range(option, limits)));
  }
}

[[noreturn]] void unknown(const JsonField& value) {
  std::vector<std::string_view> names;
  for (const OptionInfo& option : decoding_options()) {
    if (!option.openai) names.push_back(option.name);
  }
  names.emplace_back("answer");
  const std::string name = text::shorten(text::one_line(value.path()), 60);
  throw ApiError(400,
                 fmt::format("{} is unknown: the dts object has {} and {}", name,
                             fmt::join(names.begin(), names.end() - 1, ", "), names.back()),
                 name, "unknown_parameter");
}

void read_options(const JsonField& body, const Limits& limits, DecodingOptions& decoding,
                  std::optional<AnswerForm>& answer) {
  const JsonField dts = body["dts"];
  if (!dts.absent()) {
    dts.each_member([&](const std::string& key, const JsonField& value) {
      if (key == "answer") {
        if (!value.absent()) answer = value.one_of(kAnswerForms);
        return;
      }
      const bool other_name = key == "max_tokens_total";
      if (other_name && !dts["max_total_tokens"].absent()) value.fail("max_total_tokens is there, too: it must be one");
      const OptionInfo* option = find_option(other_name ? "max_total_tokens" : key);
      if (option == nullptr || option->openai) {
        if (!value.absent()) unknown(value);
        return;
      }
      read_value(*option, value, limits, decoding);
    });
  }
  for (const OptionInfo& option : decoding_options()) {
    if (option.openai) read_value(option, body[option.name], limits, decoding);
  }
  for (const char* name : {"n_predict", "max_completion_tokens"}) {  // llama.cpp's word, and OpenAI's newer one
    read_value(*find_option("max_tokens"), body[name], limits, decoding);
  }
  // The server's own window gives way to a client's budget; the client's own is checked against it.
  const bool own_window = dts.absent() || dts["window"].absent();
  if (own_window && decoding.max_tokens) {
    decoding.numbers.window = std::min(decoding.numbers.window, *decoding.max_tokens);
  }
}

// What chats and texts have in common.
CompletionRequest read_common(const JsonField& body, Api api, const DecodingOptions& defaults, const Limits& limits,
                              const nlohmann::ordered_json& ordered) {
  check_fields(body, api);
  CompletionRequest request;
  request.format = read_answer_format(body, ordered);
  request.penalties = read_penalties(body);
  request.decoding = defaults;
  DecodingOptions& decoding = request.decoding;
  if (const JsonField model = body["model"]; !model.absent() && !model.string().empty()) {
    if (const auto method = split_model_name(model.string()).method) decoding.method = *method;
  }
  read_options(body, limits, decoding, request.answer);
  request.stop = read_stop(body["stop"], limits);
  if (const JsonField n = body["n"]; !n.absent()) request.choices = n.whole(1, limits.choices);
  if (const JsonField best = body["best_of"]; !best.absent() && best.whole(1, limits.choices) != request.choices) {
    unsupported_field("best_of",
                      "it must equal n or be left out; the methods of the dts object choose among trajectories");
  }
  if (const JsonField stream = body["stream"]; !stream.absent()) request.stream = stream.boolean();
  if (const JsonField options = body["stream_options"]; !options.absent()) {
    options.check_object();
    if (!request.stream) options.fail("it goes with stream: true only");
    if (const JsonField usage = options["include_usage"]; !usage.absent()) request.include_usage = usage.boolean();
  }
  return request;
}

CompletionRequest read_chat(const JsonField& body, const DecodingOptions& defaults, const Limits& limits,
                            const nlohmann::ordered_json& ordered) {
  CompletionRequest request = read_common(body, Api::kChat, defaults, limits, ordered);
  request.kind = CompletionKind::kChat;
  request.messages = read_messages(body["messages"], limits);
  request.tools = read_tools(body, ordered, limits);
  request.template_variables = read_template_variables(body);
  if (const JsonField logprobs = body["logprobs"]; !logprobs.absent()) request.logprobs = logprobs.boolean();
  if (const JsonField top = body["top_logprobs"]; !top.absent()) {
    request.top_logprobs = top.whole(0, limits.top_logprobs);
    if (!request.logprobs && request.top_logprobs > 0) top.fail("it goes with logprobs: true only");
  }
  return request;
}

CompletionRequest read_text(const JsonField& body, const DecodingOptions& defaults, const Limits& limits,
                            const nlohmann::ordered_json& ordered) {
  CompletionRequest request = read_common(body, Api::kText, defaults, limits, ordered);
  request.kind = CompletionKind::kText;
  if (request.answer) unsupported_field("dts.answer", "it goes with chats only");
  JsonField prompt = body["prompt"];
  if (prompt.is_list() && prompt.size() == 1 && !prompt.item(0).is_number()) prompt = prompt.item(0);
  if (prompt.is_string()) {
    request.text = prompt.string();
  } else {
    if (!prompt.is_list()) prompt.fail("it must be a string or a list of tokens");
    std::vector<Token> tokens;
    for (std::size_t i = 0; i < prompt.size(); ++i) {
      if (prompt.item(i).is_string()) prompt.fail("it must be one prompt: ask for several in several requests");
      tokens.push_back(prompt.item(i).whole(0, std::numeric_limits<int>::max()));
    }
    request.text = std::move(tokens);
  }
  if (const JsonField logprobs = body["logprobs"]; !logprobs.absent()) {
    // The legacy form: how many alternatives.
    request.logprobs = true;
    request.top_logprobs = logprobs.whole(0, limits.top_logprobs);
  }
  return request;
}

// What is wrong with a field, as the client is told.
template <typename Read>
CompletionRequest or_api_error(Read read) {
  try {
    return read();
  } catch (const Error& error) {
    throw api_error(error);
  }
}

}  // namespace

nlohmann::json parse_body(std::string_view body, const Limits& limits) {
  nlohmann::json json;
  try {
    json = parse_json(body, body_limits(limits));
  } catch (const JsonError& error) {
    switch (error.reason()) {
      case JsonError::What::kDepth:
        throw ApiError(400, fmt::format("the body nests deeper than {} levels", limits.json_depth));
      case JsonError::What::kValues:
        throw ApiError(400, fmt::format("the body has more than {} values", limits.json_values));
      case JsonError::What::kMembers:
      case JsonError::What::kTwice:
        throw ApiError(400, fmt::format("in the body {}", error.what()), {}, "invalid_json");
      case JsonError::What::kNumber:
        throw ApiError(400, "the body has a number that is too large", {}, "invalid_json");
      case JsonError::What::kSyntax:
        throw ApiError(400, fmt::format("the body is not valid JSON: it breaks at byte {}", error.byte()), {},
                       "invalid_json");
    }
  }
  if (!json.is_object()) throw ApiError(400, "the body must be a JSON object", {}, "invalid_json");
  return json;
}

ModelName split_model_name(const std::string& name) {
  const std::size_t colon = name.rfind(':');
  if (colon == std::string::npos) return {name, std::nullopt};
  const std::string method = name.substr(colon + 1);
  const auto known = [&](const MethodInfo& info) { return info.name == method; };
  if (std::none_of(methods().begin(), methods().end(), known)) return {name, std::nullopt};
  return {name.substr(0, colon), method};
}

CompletionRequest read_chat_request(const nlohmann::json& json, const DecodingOptions& defaults, const Limits& limits,
                                    const nlohmann::ordered_json& ordered) {
  return or_api_error([&] { return read_chat(JsonField(json), defaults, limits, ordered); });
}

CompletionRequest read_text_request(const nlohmann::json& json, const DecodingOptions& defaults, const Limits& limits,
                                    const nlohmann::ordered_json& ordered) {
  return or_api_error([&] { return read_text(JsonField(json), defaults, limits, ordered); });
}

}  // namespace dts::serve
