#include "serve/api/token_weights.h"

#include <charconv>
#include <limits>

#include "json/field.h"

namespace dts::serve {
namespace {

constexpr std::size_t kMostBiases = 1024;

}  // namespace

Penalties read_penalties(const JsonField& body) {
  Penalties penalties;
  const auto read = [&](const char* name, double least, double most, float& value) {
    if (const JsonField field = body[name]; !field.absent()) value = static_cast<float>(field.number(least, most));
  };
  read("presence_penalty", -2, 2, penalties.presence);
  read("frequency_penalty", -2, 2, penalties.frequency);
  read("repetition_penalty", 0.1, 10, penalties.repetition);
  read("repeat_penalty", 0.1, 10, penalties.repetition);
  const JsonField bias = body["logit_bias"];
  if (bias.absent()) return penalties;
  bias.check_object();
  bias.each_member([&](const std::string& key, const JsonField& value) {
    if (penalties.biases.size() >= kMostBiases) bias.fail("it must have at most 1024 tokens");
    Token token = -1;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), token);
    if (error != std::errc() || end != key.data() + key.size() || token < 0) {
      bias.fail("its keys must be tokens: whole numbers from 0 on");
    }
    penalties.biases[token] = static_cast<float>(value.number(-100, 100));
  });
  return penalties;
}

std::string read_template_variables(const JsonField& body) {
  nlohmann::json variables = nlohmann::json::object();
  if (const JsonField given = body["chat_template_kwargs"]; !given.absent()) {
    given.check_object();
    variables = given.json();
  }
  if (const JsonField effort = body["reasoning_effort"]; !effort.absent()) {
    const std::string& word = effort.string();
    if (word != "none" && word != "minimal" && word != "low" && word != "medium" && word != "high" && word != "xhigh") {
      effort.fail("it must be one of none, minimal, low, medium, high, xhigh");
    }
    variables["reasoning_effort"] = word;
    if (word == "none") variables["enable_thinking"] = false;
  }
  if (const JsonField thinking = body["enable_thinking"]; !thinking.absent()) {
    variables["enable_thinking"] = thinking.boolean();
  }
  return variables.empty() ? std::string() : variables.dump();
}

}  // namespace dts::serve
