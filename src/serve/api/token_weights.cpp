#include "serve/api/token_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "json/field.h"
#include "serve/api/known_fields.h"
#include "text/display.h"

namespace dts::serve {
namespace {

constexpr std::size_t kMostBiases = 1024;

// Plain decimal only: were "07" and "-0" tokens, too, one token could have several biases.
std::optional<Token> read_token(std::string_view key) {
  const bool digits = std::all_of(key.begin(), key.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!digits || key.empty() || (key.size() > 1 && key.front() == '0')) return std::nullopt;
  Token token = -1;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), token);
  if (error != std::errc() || end != key.data() + key.size()) return std::nullopt;
  return token;
}

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
    const std::optional<Token> token = read_token(key);
    if (!token) {
      bias.fail(fmt::format("its key \"{}\" must be a token: a whole number from 0 on, in plain decimal digits",
                            text::shorten(text::one_line(key), 60)));
    }
    penalties.biases[*token] = static_cast<float>(value.number(-100, 100));
  });
  return penalties;
}

std::string read_template_variables(const JsonField& body) {
  nlohmann::json variables = nlohmann::json::object();
  if (const JsonField given = body["chat_template_kwargs"]; !given.absent()) {
    given.check_object();
    variables = given.json();
    // A variable of the template like any other, but without it the model would not be the one to speak next. So it is
    // refused as the field of that name is.
    constexpr const char* kOpens = "add_generation_prompt";
    if (const JsonField opens = given[kOpens]; !opens.absent() && opens.json() != true) {
      unsupported_field(opens.path(), "it must be true or left out");
    }
    variables.erase(kOpens);
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
