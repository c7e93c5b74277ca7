// vLLM with the logits processor of python/dts_vllm: it ends a request at a decision token by forcing a token that the
// model never draws.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "engine/remote/server_protocol.h"

namespace dts::remote {

inline constexpr int kDecisionVersion = 1;  // python/dts_vllm/dts_vllm/__init__.py

// The arguments of a watched request.
nlohmann::json decision_arguments(const DecisionWatch& watch, int unwatched);

// The token that server `server` forces; none: it has no such processor, or does not answer.
std::optional<Token> find_decision_token(const Asker& asker, int server, const std::string& served_model);

}  // namespace dts::remote
