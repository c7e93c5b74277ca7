#include "serve/api/models_json.h"

#include <cmath>

#include "core/names.h"
#include "text/utf8.h"
#include "tree_file/tree_json.h"

namespace dts::serve {
namespace {

using namespace text;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json("inf"); }

// As a request's `dts` object has them.
Json defaults_json(const Decoding& decoding) {
  const MethodOptions& numbers = decoding.numbers;
  const BranchRule& branch = numbers.branch;
  Json json;
  json["method"] = decoding.method;
  json["branch_k"] = branch.k;
  json["max_branches"] = branch.max_branches;
  json["votes"] = numbers.votes;
  json["samples"] = numbers.samples;
  json["tau_v"] = number(branch.tau_v);
  json["tau_h"] = number(branch.tau_h);
  json["stat_temp"] = sampling_json({.temperature = decoding.stat_temperature})["temperature"];
  json["criterion"] = name_of(kCriteria, branch.criterion);
  json["freeze"] = name_of(kFreezes, branch.freeze);
  json["consensus"] = numbers.consensus;
  json["adaptive"] = numbers.certainty;
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
  dts["methods"] = Json::array();
  Json aliases = Json::array();
  for (const MethodInfo& method : methods()) {
    dts["methods"].push_back(Json{{"name", method.name}, {"summary", method.summary}, {"source", method.source}});
    Json alias = entry(model.id + ":" + std::string(method.name), model.created);
    alias["dts"] = Json{{"model", model.id}, {"method", method.name}};
    aliases.push_back(std::move(alias));
  }
  dts["defaults"] = defaults_json(options.defaults);
  dts["sampling"] = sampling_json(options.defaults.sampling);
  dts["criteria"] = Json::array();
  for (const auto& [word, value] : kCriteria) dts["criteria"].push_back(word);
  dts["limits"] = limits_json(options.limits, engine);
  Json list;
  list["object"] = "list";
  list["data"] = Json::array({std::move(main)});
  for (Json& alias : aliases) list["data"].push_back(std::move(alias));
  return list;
}

}  // namespace dts::serve
