// A server without a model that speaks the wire format of vLLM, SGLang or llama-server: next-token logits are a
// function of the tokens (scripted_engine.h), tokens are drawn greedily. For a simulated network as for a socket.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dts/remote.h"
#include "engine/remote/server_protocol.h"
#include "support/scripted_engine.h"

namespace dts {

struct WireModel {
  RemoteKind kind = RemoteKind::kVllm;
  LogitsScript script;
  int n_vocab = 16;
  Token end_token = 0;
  int context_length = 4096;
  bool tempered = false;     // log-probabilities are those after the temperature
  bool incremental = false;  // SGLang: lists of the new tokens only
  // vLLM with the logits processor of python/dts_vllm: what it forces to end a request at a decision token.
  std::optional<Token> decision_token = {};
};

// The pieces of one answer, in order.
class WireAnswer {
 public:
  // Throws std::runtime_error when the body is not what the format says.
  WireAnswer(const WireModel& model, std::string_view body);

  std::optional<std::string> next();  // none: it is complete
  bool asks_logprobs() const { return top_n_ > 0; }
  int candidates() const { return top_n_; }
  const std::vector<Token>& tokens() const { return tokens_; }  // prefix and all that was drawn

 private:
  std::string vllm(bool last);
  std::string sglang(bool last);
  std::string llama_server(bool last);
  std::string end();

  // vLLM: what the processor makes of this position; none: the model draws.
  std::optional<Token> forced() const;

  const WireModel& model_;
  nlohmann::json decisions_;  // vllm_xargs, where there is a processor
  std::vector<Token> tokens_;
  std::size_t prefix_ = 0;
  int most_ = 0;
  int top_n_ = 0;
  bool stream_ = true;
  double temperature_ = 1;  // that log-probabilities are taken at
  bool ended_ = false;
  bool closed_ = false;
  std::vector<float> logits_;
  std::vector<Candidate> top_;  // of the last token
  std::vector<std::vector<Candidate>> tops_;
  std::vector<float> logprobs_;
};

// Its facts are asked for and known.
std::unique_ptr<remote::Protocol> protocol_for(const WireModel& model);
// The rest of such a server: models, tokenizer. None for an unknown path.
std::optional<std::string> wire_fact(const WireModel& model, std::string_view path, std::string_view body);

}  // namespace dts
