#include "remote/wire_server.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>

#include "oracle/distribution_oracle.h"

namespace dts {

using nlohmann::json;

WireAnswer::WireAnswer(const WireModel& model, std::string_view body) : model_(model) {
  const json request = json::parse(body);
  switch (model.kind) {
    case RemoteKind::kSglang: {
      tokens_ = request.at("input_ids").get<std::vector<Token>>();
      most_ = request.at("sampling_params").at("max_new_tokens");
      if (request.value("return_logprob", false)) top_n_ = request.at("top_logprobs_num");
      stream_ = request.at("stream");
      temperature_ = request.at("sampling_params").at("temperature");
      break;
    }
    case RemoteKind::kLlamaServer:
      tokens_ = request.at("prompt").get<std::vector<Token>>();
      most_ = request.at("n_predict");
      top_n_ = request.value("n_probs", 0);
      stream_ = request.at("stream");
      if (!request.at("return_tokens")) throw std::runtime_error("return_tokens");
      break;
    default:
      tokens_ = request.at("prompt").get<std::vector<Token>>();
      most_ = request.at("max_tokens");
      top_n_ = request.value("logprobs", 0);
      if (!request.at("return_token_ids")) throw std::runtime_error("return_token_ids");
      if (top_n_ > 0 && !request.at("return_tokens_as_token_ids")) throw std::runtime_error("token ids");
      if (request.contains("prompt_logprobs")) throw std::runtime_error("prompt_logprobs");
      stream_ = request.value("stream", false);
      if (!stream_ && request.contains("stream_options")) throw std::runtime_error("stream_options");
      temperature_ = request.at("temperature");
      if (!model.decision_token) break;  // xargs of nobody's are not looked at
      decisions_ = request.value("vllm_xargs", json());
      if (!decisions_.is_null() && decisions_.at("dts_version") != 1) throw std::runtime_error("dts_version");
      if (decisions_.contains("dts_tau_v") && request.at("stop_token_ids") != json{*model.decision_token}) {
        throw std::runtime_error("stop_token_ids");
      }
  }
  if (!model.tempered || temperature_ <= 0) temperature_ = 1;
  prefix_ = tokens_.size();
  if (prefix_ == 0) throw std::runtime_error("no prompt");
  most_ = std::min(most_, model.context_length - static_cast<int>(prefix_));
}

std::optional<Token> WireAnswer::forced() const {
  if (decisions_.is_null()) return std::nullopt;
  if (decisions_.contains("dts_probe")) return *model_.decision_token - (decisions_["dts_probe"] == 2 ? 1 : 0);
  if (tokens_.size() - prefix_ < decisions_.at("dts_skip").get<std::size_t>()) return std::nullopt;
  PredictionSpec spec;
  spec.stat_temperature = decisions_.at("dts_stat_temp");
  const Prediction truth = predict_oracle(logits_, spec, 0);
  BranchRule rule;
  rule.tau_v = decisions_.at("dts_tau_v");
  rule.tau_h = decisions_.at("dts_tau_h");
  const std::string criterion = decisions_.at("dts_criterion");
  if (criterion == "high-entropy") rule.criterion = Criterion::kHighEntropy;
  if (criterion == "either") rule.criterion = Criterion::kEither;
  const bool decision = rule.is_decision(static_cast<double>(truth.entropy), static_cast<double>(truth.varentropy));
  return decision ? model_.decision_token : std::nullopt;
}

std::optional<std::string> WireAnswer::next() {
  if (closed_) return std::nullopt;
  if (ended_) {
    closed_ = true;
    return end();
  }
  std::string pieces;
  do {
    logits_.resize(static_cast<std::size_t>(model_.n_vocab));
    model_.script(tokens_, logits_);
    const std::vector<float> raw = logits_;
    for (float& logit : logits_) logit = static_cast<float>(static_cast<double>(logit) / temperature_);
    double largest = -1e30;
    for (const float logit : logits_) largest = std::max(largest, static_cast<double>(logit));
    double sum = 0;
    for (const float logit : logits_) sum += std::exp(static_cast<double>(logit) - largest);
    top_.clear();
    for (Token token = 0; token < model_.n_vocab; ++token) {
      const double logit = static_cast<double>(logits_[static_cast<std::size_t>(token)]);
      top_.push_back({token, static_cast<float>(logit - largest - std::log(sum))});
    }
    std::stable_sort(top_.begin(), top_.end(),
                     [](const Candidate& a, const Candidate& b) { return a.logprob > b.logprob; });
    logits_ = raw;
    const std::optional<Token> forced_token = forced();
    const Candidate drawn_here = forced_token ? Candidate{*forced_token, -40} : top_.front();
    logprobs_.push_back(drawn_here.logprob);
    tokens_.push_back(drawn_here.token);
    top_.resize(std::min(top_.size(), static_cast<std::size_t>(top_n_)));
    if (forced_token && top_n_ > 0) top_.push_back(drawn_here);  // one more: what was drawn is always told
    tops_.push_back(top_);
    const auto drawn = static_cast<int>(tokens_.size() - prefix_);
    const bool stopped = tokens_.back() == model_.end_token || tokens_.back() == model_.decision_token;
    ended_ = stopped || drawn >= most_;
    switch (model_.kind) {
      case RemoteKind::kSglang:
        pieces = sglang(ended_);
        break;
      case RemoteKind::kLlamaServer:
        pieces = llama_server(ended_);
        break;
      default:
        pieces = vllm(ended_);
    }
  } while (!stream_ && !ended_);
  return pieces;
}

std::string WireAnswer::vllm(bool last) {
  const auto drawn = tokens_.size() - prefix_;
  json choice = {{"index", 0},
                 {"text", "\xE2\x82\xAC"},
                 {"logprobs", nullptr},
                 {"finish_reason", nullptr},
                 {"stop_reason", nullptr},
                 {"token_ids", {tokens_.back()}}};
  if (drawn == 1) choice["prompt_token_ids"] = std::vector<Token>(tokens_.begin(), tokens_.end() - 1);
  if (top_n_ > 0) {
    json top = json::object();
    for (const Candidate& candidate : top_) top["token_id:" + std::to_string(candidate.token)] = candidate.logprob;
    choice["logprobs"] = {{"text_offset", {0}},
                          {"token_logprobs", {logprobs_.back()}},
                          {"tokens", {"token_id:" + std::to_string(tokens_.back())}},
                          {"top_logprobs", {top}}};
  }
  if (last) choice["finish_reason"] = tokens_.back() == model_.end_token ? "stop" : "length";
  if (last && tokens_.back() == model_.decision_token) {
    choice["finish_reason"] = "stop";
    choice["stop_reason"] = *model_.decision_token;
  }
  if (!stream_)
    choice["token_ids"] = std::vector<Token>(tokens_.begin() + static_cast<std::ptrdiff_t>(prefix_), tokens_.end());
  const json event = {
      {"id", "cmpl-1"},
      {"object", "text_completion"},
      {"created", 1},
      {"model", "m"},
      {"choices", {choice}},
      {"usage", {{"prompt_tokens", prefix_}, {"total_tokens", tokens_.size()}, {"completion_tokens", drawn}}}};
  if (!stream_) {
    closed_ = last;
    return event.dump();
  }
  return "data: " + event.dump() + "\n\n";
}

std::string WireAnswer::sglang(bool last) {
  const auto drawn = static_cast<std::ptrdiff_t>(tokens_.size() - prefix_);
  const std::ptrdiff_t from = model_.incremental && stream_ ? drawn - 1 : 0;
  json meta = {{"id", "r"},
               {"finish_reason", nullptr},
               {"prompt_tokens", prefix_},
               {"completion_tokens", drawn},
               {"cached_tokens", 0}};
  if (last) {
    if (tokens_.back() == model_.end_token) {
      meta["finish_reason"] = {{"type", "stop"}, {"matched", model_.end_token}};
    } else {
      meta["finish_reason"] = {{"type", "length"}, {"length", most_}};
    }
  }
  if (top_n_ > 0) {
    json own = json::array();
    json tops = json::array();
    for (std::ptrdiff_t i = from; i < drawn; ++i) {
      const auto index = static_cast<std::size_t>(i);
      own.push_back({logprobs_[index], tokens_[prefix_ + index], nullptr});
      json list = json::array();
      for (const Candidate& candidate : tops_[index]) list.push_back({candidate.logprob, candidate.token, nullptr});
      tops.push_back(std::move(list));
    }
    meta["output_token_logprobs"] = std::move(own);
    meta["output_top_logprobs"] = std::move(tops);
  }
  const json event = {
      {"text", "\xE2\x82\xAC"},
      {"output_ids", std::vector<Token>(tokens_.begin() + static_cast<std::ptrdiff_t>(prefix_) + from, tokens_.end())},
      {"meta_info", meta}};
  if (!stream_) {
    closed_ = last;
    return event.dump();
  }
  return "data: " + event.dump() + "\n\n";
}

std::string WireAnswer::llama_server(bool last) {
  const auto drawn = tokens_.size() - prefix_;
  const auto probabilities = [this](std::size_t i) {
    json list = json::array();
    for (const Candidate& candidate : tops_[i]) {
      const std::string text = "<" + std::to_string(candidate.token) + ">";
      list.push_back({{"id", candidate.token},
                      {"token", text},
                      {"bytes", std::vector<int>(text.begin(), text.end())},
                      {"logprob", candidate.logprob}});
    }
    return json{{"id", tokens_[prefix_ + i]},
                {"token", ""},
                {"bytes", json::array()},
                {"logprob", logprobs_[i]},
                {"top_logprobs", list}};
  };
  if (!stream_) {
    if (!last) return {};
    json event = {{"index", 0},
                  {"stop", true},
                  {"tokens", std::vector<Token>(tokens_.begin() + static_cast<std::ptrdiff_t>(prefix_), tokens_.end())},
                  {"stop_type", tokens_.back() == model_.end_token ? "eos" : "limit"},
                  {"tokens_predicted", drawn}};
    if (top_n_ > 0) {
      event["completion_probabilities"] = json::array();
      for (std::size_t i = 0; i < drawn; ++i) event["completion_probabilities"].push_back(probabilities(i));
    }
    closed_ = true;
    return event.dump();
  }
  json event = {{"index", 0},   {"content", "\xE2\x82\xAC"}, {"tokens", {tokens_.back()}}, {"stop", false},
                {"id_slot", 0}, {"tokens_predicted", drawn}, {"tokens_evaluated", prefix_}};
  if (top_n_ > 0) event["completion_probabilities"] = {probabilities(drawn - 1)};
  return "data: " + event.dump() + "\n\n";
}

std::string WireAnswer::end() {
  if (model_.kind != RemoteKind::kLlamaServer) return "data: [DONE]\n\n";
  const json event = {{"index", 0},
                      {"content", ""},
                      {"tokens", json::array()},
                      {"stop", true},
                      {"tokens_predicted", tokens_.size() - prefix_},
                      {"stop_type", tokens_.back() == model_.end_token ? "eos" : "limit"}};
  return "data: " + event.dump() + "\n\n";
}

namespace {

// Asks the server that exists only in the program.
struct WireAsker final : remote::Asker {
  explicit WireAsker(const WireModel& of) : model(of) {}
  json ask(const remote::ServerCall& call) const override {
    const std::string body = call.body.is_null() ? std::string() : call.body.dump();
    if (const auto fact = wire_fact(model, call.path, body)) return json::parse(*fact);
    return json::parse(WireAnswer(model, body).next().value());
  }
  int servers() const override { return 1; }
  json ask_one(int, const remote::ServerCall& call) const override { return ask(call); }
  const WireModel& model;
};

std::unique_ptr<remote::Protocol> make_protocol(RemoteKind kind) {
  switch (kind) {
    case RemoteKind::kSglang:
      return remote::make_sglang_protocol("m");
    case RemoteKind::kLlamaServer:
      return remote::make_llama_server_protocol("m");
    default:
      return remote::make_vllm_protocol("m");
  }
}

}  // namespace

std::unique_ptr<remote::Protocol> protocol_for(const WireModel& model) {
  auto protocol = make_protocol(model.kind);
  protocol->find_decisions(WireAsker(model));
  return protocol;
}

std::optional<std::string> wire_fact(const WireModel& model, std::string_view path, std::string_view body) {
  const auto spelled = [](const json& tokens) {
    std::string text;
    for (const json& token : tokens) text += "<" + std::to_string(token.get<Token>()) + ">";
    return text;
  };
  const json request = body.empty() ? json::object() : json::parse(body);
  if (path == "/v1/models") {
    return json{
        {"object", "list"},
        {"data", {{{"id", "m"}, {"max_model_len", model.context_length}, {"meta", {{"n_vocab", model.n_vocab}}}}}}}
        .dump();
  }
  if (path == "/props") {
    return json{{"default_generation_settings", {{"n_ctx", model.context_length}}},
                {"total_slots", 4},
                {"eos_token", ""},
                {"bos_token", ""}}
        .dump();
  }
  if (path == "/tokenize") {
    // Names of control tokens are words here; any other text is the prompt 1, 2, 3.
    const std::string text = request.value(request.contains("prompt") ? "prompt" : "content", std::string("chat"));
    json tokens = json::array();
    if (!text.empty()) tokens = text.starts_with('<') || text.starts_with('[') ? json{1, 1} : json{1, 2, 3};
    return json{{"count", tokens.size()}, {"max_model_len", model.context_length}, {"tokens", tokens}}.dump();
  }
  if (path == "/detokenize") {
    const std::string text = spelled(request.at("tokens"));
    return json{{"prompt", text}, {"content", text}, {"text", text}}.dump();
  }
  if (path == "/apply-template") return json{{"prompt", "chat"}}.dump();
  return std::nullopt;
}

}  // namespace dts
