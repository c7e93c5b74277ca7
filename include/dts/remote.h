// Models that run on servers: vLLM, SGLang, llama-server, or whatever speaks OpenAI's completions API.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dts/model.h"
#include "dts/vocabulary.h"

namespace dts {

enum class RemoteKind { kVllm, kSglang, kLlamaServer, kOpenai };

// Which log-probabilities servers give: of the model's distribution as it is, or as it is drawn from, with logits
// divided by the temperature.
enum class LogprobsScale { kAuto, kBeforeTemperature, kAfterTemperature };

struct RemoteModelOptions {
  RemoteKind kind = RemoteKind::kLlamaServer;
  std::vector<std::string> urls;  // of one or more servers with the same model: "http://host:8000"
  std::string api_key;            // sent as a bearer token; empty: none. Never shown
  std::string served_model;       // the name to ask for; empty: the first that the server has
  // Text by this vocabulary instead of the servers': the same model's, so that ids mean the same. Not owned; outlives
  // the model. Null: the servers' own.
  const Vocabulary* vocabulary = nullptr;
  int candidates = 0;  // log-probabilities a token while the method needs them; 0: as the server is used to
  LogprobsScale logprobs = LogprobsScale::kAuto;  // kAuto: found out by two requests of a token, where servers differ
  // Looked at while servers are asked for their model: true ends that with an error. Null: nothing does.
  std::function<bool()> stopping = nullptr;
  // Seconds.
  double connect_timeout = 10;
  double first_token_timeout = 300;  // from a request to its first token: the server's queue and the prompt
  double stall_timeout = 60;         // between tokens; then the branch is asked for elsewhere
  double patience = 0;               // a step waits for a branch, all retries together; 0: as long as it takes
};

// What the requests of an engine came to.
struct RemoteTraffic {
  std::int64_t requests = 0;
  std::int64_t retries = 0;  // of them, after a failure
  std::int64_t received_bytes = 0;
  std::int64_t received_tokens = 0;
  std::int64_t overshoot_tokens = 0;  // sent ahead and never used
};

// Asks the servers for their model while it is made. Throws dts::Error naming the address and what went wrong.
std::unique_ptr<Model> make_remote_model(const RemoteModelOptions& options);

// Of an engine that such a model made; all 0 for others.
RemoteTraffic remote_traffic(const Engine& engine);

}  // namespace dts
