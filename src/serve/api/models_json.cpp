#include "serve/api/models_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "dts/error.h"
#include "dts/options.h"
#include "json/option_json.h"
#include "serve/api/option_fields.h"
#include "text/utf8.h"

namespace dts::serve {
namespace {

using namespace text;

// What is chosen here where there is no default.
std::string automatic_at(const OptionInfo& option, const Limits& limits) {
  if (option.name == "seed") return "a new one for every request";
  if (option.name == "max_tokens") return "what the context holds";
  if (option.name == "max_seconds") return fmt::format("{} seconds", limits.seconds);
  if (option.name == "max_total_tokens" && limits.max_total_tokens > 0) {
    return fmt::format("{} tokens", limits.max_total_tokens);
  }
  return Error(option.automatic).what();  // with options by their names
}

// What a request may say, and what it gets where it says nothing.
Json option_json_at(const OptionInfo& option, const ServiceOptions& options, const EngineInfo& engine) {
  OptionRange range = request_range(option, options.limits);
  if (option.name == "max_tokens") range.most = std::min(range.most, static_cast<double>(engine.context_length));
  const auto bound = [&](double value, bool none) {
    if (none) return Json();
    return option.type == OptionType::kNumber ? Json(value) : Json(static_cast<std::int64_t>(value));
  };
  constexpr std::array kTypes = {"whole", "number", "word", "seed"};
  constexpr std::array kGroups = {"method", "budget", "sampling"};
  const bool word = option.type == OptionType::kWord;
  const bool endless = option.type == OptionType::kNumber ? std::isinf(range.most) : range.most >= 0x1p53;
  Json json;
  json["name"] = option.name;
  json["field"] = field_name(option.name);
  json["label"] = option.label;
  json["help"] = option.help;
  json["group"] = kGroups[static_cast<std::size_t>(option.group)];
  json["type"] = kTypes[static_cast<std::size_t>(option.type)];
  json["least"] = bound(range.least, word);
  json["above"] = range.above;
  json["most"] = bound(range.most, word || endless);
  json["infinite"] = range.infinite;
  json["words"] = option.words;
  json["unit"] = option.unit;
  json["default"] = option_json(option.get(options.defaults));
  json["automatic"] = automatic_at(option, options.limits);
  json["methods"] = Json::array();
  for (const MethodInfo& method : methods()) {
    if (option.concerns(make_method(method.name))) json["methods"].push_back(method.name);
  }
  return json;
}

// As a request's `dts` object has them, or `openai` fields of its own.
Json defaults_json(const DecodingOptions& defaults, bool sampling) {
  Json json;
  for (const OptionInfo& option : decoding_options()) {
    const OptionValue value = option.get(defaults);
    if (std::holds_alternative<std::monostate>(value)) continue;
    const bool chosen = sampling ? option.group == OptionGroup::kSampling : !option.openai;
    if (chosen) json[std::string(option.name)] = option_json(value);
  }
  return json;
}

Json limits_json(const Limits& limits, const EngineInfo& engine) {
  Json json;
  json["context"] = engine.context_length;
  json["max_tokens"] = limits.max_tokens > 0 ? limits.max_tokens : engine.context_length;
  json["max_total_tokens"] = limits.max_total_tokens > 0 ? Json(limits.max_total_tokens) : Json();
  json["max_branches"] = limits.branches;
  json["branch_k"] = limits.branch_k;
  json["votes"] = limits.votes;
  json["max_seconds"] = limits.seconds;
  json["n"] = limits.choices;
  json["messages"] = limits.messages;
  json["body_bytes"] = limits.body_bytes;
  json["stop"] = limits.stop_strings;
  json["top_logprobs"] = limits.top_logprobs;
  return json;
}

Json entry(const std::string& id, std::int64_t created) {
  Json json;
  json["id"] = id;
  json["object"] = "model";
  json["created"] = created;
  json["owned_by"] = "dts";
  return json;
}

}  // namespace

Json models_json(const ServiceOptions& options, const EngineInfo& engine) {
  const ServedModel& model = options.model;
  Json main = entry(model.id, model.created);
  Json& dts = main["dts"];
  dts["name"] = text::valid_utf8(model.name);
  dts["description"] = text::valid_utf8(model.description);
  dts["parameters"] = model.parameters;
  dts["training_context"] = model.training_context;
  dts["engine"] = {{"kind", engine.kind},
                   {"honours_draws", engine.capabilities.honours_draws},
                   {"exact_statistics", engine.capabilities.exact_statistics},
                   {"batch_invariant", engine.capabilities.batch_invariant}};
  dts["methods"] = Json::array();
  Json aliases = Json::array();
  for (const MethodInfo& method : methods()) {
    dts["methods"].push_back(Json{{"name", method.name}, {"summary", method.summary}, {"source", method.source}});
    Json alias = entry(model.id + ":" + std::string(method.name), model.created);
    alias["dts"] = Json{{"model", model.id}, {"method", method.name}};
    aliases.push_back(std::move(alias));
  }
  dts["options"] = Json::array();
  for (const OptionInfo& option : decoding_options()) {
    dts["options"].push_back(option_json_at(option, options, engine));
  }
  dts["defaults"] = defaults_json(options.defaults, /*sampling=*/false);
  dts["sampling"] = defaults_json(options.defaults, /*sampling=*/true);
  dts["limits"] = limits_json(options.limits, engine);
  Json list;
  list["object"] = "list";
  list["data"] = Json::array({std::move(main)});
  for (Json& alias : aliases) list["data"].push_back(std::move(alias));
  return list;
}

}  // namespace dts::serve
