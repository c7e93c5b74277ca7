#include "serve/api/completion_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/names.h"
#include "serve/api/api_error.h"
#include "serve/api/param.h"
#include "serve/api/token_weights.h"
#include "text/display.h"

namespace dts::serve {
namespace {

using namespace text;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

[[noreturn]] void unsupported(const std::string& name, const std::string& why) {
  throw ApiError(400, fmt::format("{} is not supported: {}", name, why), name, "unsupported_parameter");
}

bool is_empty(const Param& param) {
  return param.absent() || ((param.json().is_array() || param.json().is_object()) && param.json().empty());
}

// Fields that would change what is generated, and that we cannot honour. Those that would not are ignored.
void refuse_what_changes_the_meaning(const Param& body) {
  for (const char* name : {"functions", "function_call", "audio", "web_search_options", "suffix", "images", "lora"}) {
    if (!is_empty(body[name])) unsupported(name, "leave it out");
  }
  for (const char* name : {"dry_multiplier", "xtc_probability", "mirostat"}) {
    const Param value = body[name];
    if (!value.absent() && value.number(-kInfinity, kInfinity) != 0) unsupported(name, "it must be 0 or left out");
  }
  const Param modalities = body["modalities"];
  if (!modalities.absent()) {
    for (std::size_t i = 0; i < modalities.list_size(); ++i) {
      if (modalities.item(i).string() != "text") unsupported("modalities", "it must be [\"text\"]");
    }
  }
  const Param echo = body["echo"];
  if (!echo.absent() && echo.boolean()) unsupported("echo", "it must be false or left out");
}

std::vector<std::string> read_stop(const Param& stop, const Limits& limits) {
  std::vector<std::string> strings;
  const auto add = [&](const Param& item) {
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
  if (stop.list_size() > static_cast<std::size_t>(limits.stop_strings)) {
    stop.fail(fmt::format("it must be a string or a list of at most {}", limits.stop_strings));
  }
  for (std::size_t i = 0; i < stop.list_size(); ++i) add(stop.item(i));
  return strings;
}

void read_sampling(const Param& body, SamplingOptions& sampling) {
  if (const Param value = body["temperature"]; !value.absent()) {
    sampling.temperature = static_cast<float>(value.number(0, 2));
  }
  if (const Param value = body["top_p"]; !value.absent()) {
    sampling.top_p = static_cast<float>(value.number(0, 1));
    // OpenAI's range begins with 0, which leaves the most probable token.
    if (sampling.top_p <= 0) sampling.top_p = std::numeric_limits<float>::min();
  }
  if (const Param value = body["min_p"]; !value.absent()) sampling.min_p = static_cast<float>(value.number(0, 1));
  if (const Param value = body["top_k"]; !value.absent()) {
    sampling.top_k = std::max(0, value.whole(-1, std::numeric_limits<int>::max()));
  }
}

// A number from 0 on, or "inf".
double threshold(const Param& value) {
  return value.is_string() && value.string() == "inf" ? kInfinity : value.number(0, kInfinity);
}

template <typename Enum, std::size_t n>
Enum one_of(const Param& param, const Names<Enum, n>& names) {
  if (const auto value = value_of(names, param.string())) return *value;
  std::string words;
  for (const auto& [word, value] : names) words += (words.empty() ? "" : ", ") + std::string(word);
  param.fail("it must be one of " + words);
}

void check_method(const Param& param) {
  const std::string& name = param.string();
  std::string known;
  for (const MethodInfo& method : methods()) {
    if (method.name == name) return;
    known += (known.empty() ? "" : ", ") + std::string(method.name);
  }
  param.fail("it must be one of " + known);
}

void read_dts(const Param& dts, const Limits& limits, Decoding& decoding) {
  if (dts.absent()) return;
  dts.check_object();
  BranchRule& branch = decoding.numbers.branch;
  MethodOptions& numbers = decoding.numbers;
  for (const auto& [key, json] : dts.json().items()) {
    const Param value = dts[key.c_str()];
    if (value.absent()) continue;
    if (key == "method") {
      check_method(value);
      decoding.method = value.string();
    } else if (key == "branch_k") {
      branch.k = value.whole(1, limits.branch_k);
    } else if (key == "max_branches") {
      branch.max_branches = value.whole(1, limits.branches);
    } else if (key == "votes") {
      numbers.votes = value.whole(1, limits.votes);
    } else if (key == "samples") {
      numbers.samples = value.whole(1, limits.votes);
    } else if (key == "tau_v") {
      branch.tau_v = threshold(value);
    } else if (key == "tau_h") {
      branch.tau_h = threshold(value);
    } else if (key == "stat_temp") {
      decoding.stat_temperature = static_cast<float>(value.number(0.01, 100));
    } else if (key == "criterion") {
      branch.criterion = one_of(value, kCriteria);
    } else if (key == "freeze") {
      branch.freeze = one_of(value, kFreezes);
    } else if (key == "warmup") {
      numbers.warmup = value.whole(1, limits.votes);
    } else if (key == "window") {
      numbers.window = value.whole(1, std::numeric_limits<int>::max());
    } else if (key == "consensus") {
      numbers.consensus = value.number(0, 1);
    } else if (key == "adaptive") {
      numbers.certainty = value.number(0, 1);
    } else if (key == "max_total_tokens") {
      const bool limited = limits.max_total_tokens > 0;
      decoding.max_total_tokens = value.integer(1, limited ? limits.max_total_tokens : INT64_MAX);
    } else if (key == "max_seconds") {
      decoding.max_seconds = value.number(0.001, limits.seconds);
    } else {
      const std::string name = text::shorten(text::one_line(value.name()), 60);
      throw ApiError(400,
                     fmt::format("{} is unknown: the dts object has method, branch_k, max_branches, votes, samples, "
                                 "tau_v, tau_h, stat_temp, criterion, freeze, warmup, window, consensus, adaptive, "
                                 "max_total_tokens and max_seconds",
                                 name),
                     name, "unknown_parameter");
    }
  }
}

void read_seed(const Param& seed, Decoding& decoding) {
  if (seed.absent()) return;
  const std::int64_t value = seed.integer(-1, INT64_MAX);
  decoding.seed = value < 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(value));
}

// What chats and texts have in common.
CompletionRequest read_common(const Param& body, const Decoding& defaults, const Limits& limits,
                              const nlohmann::ordered_json& ordered) {
  refuse_what_changes_the_meaning(body);
  CompletionRequest request;
  request.format = read_answer_format(body, ordered);
  request.penalties = read_penalties(body);
  request.decoding = defaults;
  Decoding& decoding = request.decoding;
  if (const Param model = body["model"]; !model.absent() && !model.string().empty()) {
    if (const auto method = split_model_name(model.string()).method) decoding.method = *method;
  }
  read_dts(body["dts"], limits, decoding);
  read_sampling(body, decoding.sampling);
  read_seed(body["seed"], decoding);
  const int most = limits.max_tokens > 0 ? limits.max_tokens : std::numeric_limits<int>::max();
  for (const char* name : {"max_tokens", "max_completion_tokens"}) {
    if (const Param value = body[name]; !value.absent()) decoding.max_tokens = value.whole(1, most);
  }
  request.stop = read_stop(body["stop"], limits);
  if (const Param n = body["n"]; !n.absent()) request.choices = n.whole(1, limits.choices);
  if (const Param best = body["best_of"]; !best.absent() && best.whole(1, limits.choices) != request.choices) {
    unsupported("best_of", "it must equal n or be left out; the methods of the dts object choose among trajectories");
  }
  if (const Param stream = body["stream"]; !stream.absent()) request.stream = stream.boolean();
  if (const Param options = body["stream_options"]; !options.absent()) {
    options.check_object();
    if (!request.stream) options.fail("it goes with stream: true only");
    if (const Param usage = options["include_usage"]; !usage.absent()) request.include_usage = usage.boolean();
  }
  return request;
}

}  // namespace

ModelName split_model_name(const std::string& name) {
  const std::size_t colon = name.rfind(':');
  if (colon == std::string::npos) return {name, std::nullopt};
  const std::string method = name.substr(colon + 1);
  const auto known = [&](const MethodInfo& info) { return info.name == method; };
  if (std::none_of(methods().begin(), methods().end(), known)) return {name, std::nullopt};
  return {name.substr(0, colon), method};
}

CompletionRequest read_chat_request(const nlohmann::json& json, const Decoding& defaults, const Limits& limits,
                                    const nlohmann::ordered_json& ordered) {
  const Param body(json, "");
  CompletionRequest request = read_common(body, defaults, limits, ordered);
  request.kind = CompletionKind::kChat;
  request.messages = read_messages(body["messages"], limits);
  request.tools = read_tools(body, ordered, limits);
  request.template_variables = read_template_variables(body);
  if (const Param logprobs = body["logprobs"]; !logprobs.absent()) request.logprobs = logprobs.boolean();
  if (const Param top = body["top_logprobs"]; !top.absent()) {
    request.top_logprobs = top.whole(0, limits.top_logprobs);
    if (!request.logprobs) top.fail("it goes with logprobs: true only");
  }
  return request;
}

CompletionRequest read_text_request(const nlohmann::json& json, const Decoding& defaults, const Limits& limits,
                                    const nlohmann::ordered_json& ordered) {
  const Param body(json, "");
  CompletionRequest request = read_common(body, defaults, limits, ordered);
  request.kind = CompletionKind::kText;
  for (const char* name : {"tools", "chat_template_kwargs", "reasoning_effort"}) {
    if (!is_empty(body[name])) unsupported(name, "it goes with chats only");
  }
  Param prompt = body["prompt"];
  if (prompt.is_list() && prompt.list_size() == 1 && !prompt.item(0).json().is_number()) prompt = prompt.item(0);
  if (prompt.is_string()) {
    request.text = prompt.string();
  } else {
    if (!prompt.is_list()) prompt.fail("it must be a string or a list of tokens");
    std::vector<Token> tokens;
    for (std::size_t i = 0; i < prompt.list_size(); ++i) {
      if (prompt.item(i).is_string()) prompt.fail("it must be one prompt: ask for several in several requests");
      tokens.push_back(prompt.item(i).whole(0, std::numeric_limits<int>::max()));
    }
    request.text = std::move(tokens);
  }
  if (const Param logprobs = body["logprobs"]; !logprobs.absent()) {
    // The legacy form: how many alternatives.
    request.logprobs = true;
    request.top_logprobs = logprobs.whole(0, limits.top_logprobs);
  }
  return request;
}

}  // namespace dts::serve
