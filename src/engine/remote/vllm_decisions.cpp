#include "engine/remote/vllm_decisions.h"

#include <algorithm>

#include "dts/error.h"
#include "engine/remote/answer_json.h"

namespace dts::remote {
namespace {

using nlohmann::json;

const char* criterion_name(Criterion criterion) {
  switch (criterion) {
    case Criterion::kHighEntropy:
      return "high-entropy";
    case Criterion::kEither:
      return "either";
    case Criterion::kDecision:
      break;
  }
  return "decision";
}

// JSON has no infinity; this is one in the processor's single precision.
double finite(double value) { return std::min(value, 1e300); }

std::optional<Token> probe(const Asker& asker, int server, const std::string& served_model, int which) {
  json body = {{"prompt", {0}},
               {"max_tokens", 1},
               {"temperature", 0},
               {"return_token_ids", true},
               {"vllm_xargs", {{"dts_version", kDecisionVersion}, {"dts_probe", which}}}};
  if (!served_model.empty()) body["model"] = served_model;
  const json answer = asker.ask_one(server, {"/v1/completions", true, std::move(body)});
  const json& choices = member(answer, "choices");
  if (!choices.is_array() || choices.size() != 1) return std::nullopt;
  const json& tokens = member(choices[0], "token_ids");
  if (!tokens.is_array() || tokens.size() != 1) return std::nullopt;
  return token_in(tokens[0]);
}

}  // namespace

json decision_arguments(const DecisionWatch& watch, int unwatched) {
  return {{"dts_version", kDecisionVersion},         {"dts_criterion", criterion_name(watch.rule.criterion)},
          {"dts_tau_v", finite(watch.rule.tau_v)},   {"dts_tau_h", finite(watch.rule.tau_h)},
          {"dts_stat_temp", watch.stat_temperature}, {"dts_skip", unwatched}};
}

std::optional<Token> find_decision_token(const Asker& asker, int server, const std::string& served_model) {
  try {
    const std::optional<Token> token = probe(asker, server, served_model, 1);
    // Without the processor both are the model's own most probable token.
    const std::optional<Token> other = probe(asker, server, served_model, 2);
    if (token && other && *other == (*token > 0 ? *token - 1 : 1)) return token;
  } catch (const Error&) {
    // An older or another server that will not have it: it does without.
  }
  return std::nullopt;
}

}  // namespace dts::remote
