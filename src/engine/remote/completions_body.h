// What requests in OpenAI's completions format have in common.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "engine/remote/server_protocol.h"

namespace dts::remote {

// Everything but the prompt and what only one kind of server knows.
inline nlohmann::json completions_body(const GenerationRequest& request, const std::string& served_model) {
  nlohmann::json body = {{"max_tokens", request.max_tokens},
                         {"stream", true},
                         {"temperature", request.sampling.temperature},
                         {"top_p", request.sampling.top_p},
                         {"seed", request.seed}};
  if (!served_model.empty()) body["model"] = served_model;
  if (request.top_n > 0) body["logprobs"] = request.top_n;
  return body;
}

}  // namespace dts::remote
