#include "engine/remote/answer_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "dts/error.h"
#include "engine/remote/answer_text.h"
#include "json/parse.h"

namespace dts::remote {

using nlohmann::json;

json parse_answer(std::string_view text) {
  // No server nests so deep. A whole vocabulary's log-probabilities have some millions of values.
  return parse_json(text, {.depth = 24, .values = std::size_t{8} << 20U});
}

json parse_event(std::string_view data) {
  json event;
  try {
    event = parse_answer(data);
  } catch (const JsonError& error) {
    throw Error(fmt::format("an event of the stream is not JSON: {}", error.what()));
  }
  if (!event.is_object()) throw Error("an event of the stream is not a JSON object");
  if (!member(event, "error").is_null()) {
    const json& code = member(member(event, "error"), "code");
    throw Error("the server broke off: " + complaint_of(code.is_number_integer() ? code.get<long>() : 500, data));
  }
  return event;
}

const json& member(const json& object, const char* name) {
  static const json kNull = nullptr;
  if (!object.is_object()) return kNull;
  const auto found = object.find(name);
  return found == object.end() ? kNull : *found;
}

Token token_in(const json& value) {
  if (!value.is_number_integer()) throw Error("a token of the stream is not a whole number");
  const auto token = value.get<std::int64_t>();
  if (token < 0 || token > std::numeric_limits<Token>::max()) {
    throw Error(fmt::format("a token of the stream is {}: it must be 0 or more", token));
  }
  return static_cast<Token>(token);
}

float logprob_in(const json& value) {
  // Some servers write what JSON has no number for as null; the others are not JSON and do not get here.
  if (value.is_null()) return -std::numeric_limits<float>::infinity();
  if (!value.is_number()) throw Error("a log-probability of the stream is not a number");
  const auto logprob = value.get<double>();
  if (std::isnan(logprob) || logprob > 1e-3) {
    throw Error(fmt::format("a log-probability of the stream is {}: it must be at most 0", logprob));
  }
  return static_cast<float>(std::clamp(logprob, -1e4, 0.0));
}

std::string bytes_in(const json& list) {
  std::string bytes;
  if (!list.is_array()) return bytes;
  for (const json& byte : list) {
    if (!byte.is_number_integer()) throw Error("a byte of the stream is not a number");
    bytes += static_cast<char>(byte.get<std::int64_t>() & 0xFF);
  }
  return bytes;
}

namespace {

void finish_candidates(std::vector<Candidate>& top, bool ranked) {
  std::stable_sort(top.begin(), top.end(), [ranked](const Candidate& a, const Candidate& b) {
    return a.logprob != b.logprob ? a.logprob > b.logprob : !ranked && a.token < b.token;
  });
  std::vector<Token> tokens;
  double mass = 0;
  for (const Candidate& candidate : top) {
    tokens.push_back(candidate.token);
    mass += std::exp(static_cast<double>(candidate.logprob));
  }
  std::sort(tokens.begin(), tokens.end());
  if (std::adjacent_find(tokens.begin(), tokens.end()) != tokens.end()) {
    throw Error("a token is twice among the candidates of the stream");
  }
  if (mass > 1.01) throw Error(fmt::format("the probabilities of the stream add up to {:.3f}", mass));
}

}  // namespace

void finish_token(DrawnToken& drawn, bool ranked) {
  finish_candidates(drawn.top, ranked);
  const auto own = std::find_if(drawn.top.begin(), drawn.top.end(),
                                [&](const Candidate& candidate) { return candidate.token == drawn.token; });
  if (own != drawn.top.end()) drawn.logprob = own->logprob;
}

std::int64_t count_in(const json& value, std::int64_t otherwise) {
  return value.is_number_integer() ? value.get<std::int64_t>() : otherwise;
}

std::string text_in(const json& value) { return value.is_string() ? value.get<std::string>() : std::string(); }

ServerModel first_model(const Asker& server, const std::string& name) {
  const json answer = server.ask({"/v1/models", false});
  std::string names;
  for (const json& entry : member(answer, "data")) {
    const std::string id = text_in(member(entry, "id"));
    if (names.size() < 400) names += (names.empty() ? "" : ", ") + shown(id.substr(0, 100));
    if (!name.empty() && id != name) continue;
    ServerModel model;
    model.name = id;
    model.owner = text_in(member(entry, "owned_by")).substr(0, 100);
    const std::int64_t context = count_in(member(entry, "max_model_len"), 0);
    model.context_length = static_cast<int>(std::clamp<std::int64_t>(context, 0, 1 << 28));
    return model;
  }
  if (names.empty()) throw Error("the server has no model: /v1/models is empty");
  throw out_of_range("served_model", name, "one that the server has: " + names);
}

void check_owner(std::string_view kind, std::string_view owner) {
  struct Known {
    std::string_view owner;
    std::string_view engine;
  };
  constexpr Known kKnown[] = {{"vllm", "vllm"}, {"sglang", "sglang"}, {"llamacpp", "llama-server"}, {"dts", "openai"}};
  for (const Known& known : kKnown) {
    if (owner != known.owner || kind == known.engine) continue;
    throw usage_error(fmt::format("{} is {}, but the server says that it is {}: {} goes with it", option_name("engine"),
                                  kind, owner == "dts" ? "dts serve" : known.engine, known.engine));
  }
}

bool opens_thinking(std::string_view prompt) {
  return prompt.substr(0, prompt.find_last_not_of(" \t\r\n") + 1).ends_with("<think>");
}

}  // namespace dts::remote
