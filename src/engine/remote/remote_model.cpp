#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <limits>
#include <utility>

#include "dts/error.h"
#include "dts/remote.h"
#include "engine/remote/answer_text.h"
#include "engine/remote/curl_transport.h"
#include "engine/remote/http_asker.h"
#include "engine/remote/logprobs_scale.h"
#include "engine/remote/remote_engine.h"
#include "engine/remote/remote_vocabulary.h"

namespace dts {
namespace {

using namespace remote;

constexpr int kMostRemoteBranches = 65536;
// What an endpoint is taken to bear that does not say: servers of models batch; what is behind an API of text may
// count.
constexpr int kUsualBranches = 64;
constexpr int kUsualTextBranches = 16;
constexpr double kTextPatience = 30;           // seconds a question's text waits for a fleet that is away
constexpr int kUnknownContext = 32768 + 8192;  // a server that does not say: our default trajectory, and a prompt

std::unique_ptr<Protocol> make_protocol(RemoteKind kind, const std::string& served_model) {
  switch (kind) {
    case RemoteKind::kVllm:
      return make_vllm_protocol(served_model);
    case RemoteKind::kSglang:
      return make_sglang_protocol(served_model);
    case RemoteKind::kLlamaServer:
      return make_llama_server_protocol(served_model);
    case RemoteKind::kOpenai:
      break;
  }
  return make_openai_protocol(served_model);
}

// "http://host:8000", without what paths are put after.
std::string checked_url(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  if (url.ends_with("/v1")) url.resize(url.size() - 3);
  // Before anything of it is shown.
  if (url.find('@') != std::string::npos) {
    throw usage_error(
        fmt::format("{} has a user or password in it: keys go into an environment variable", option_name("url")));
  }
  const bool http = url.starts_with("http://") || url.starts_with("https://");
  const bool printable = std::all_of(url.begin(), url.end(), [](char c) { return c > ' ' && c < 0x7F; });
  if (!http || !printable || url.size() < 9) {
    throw out_of_range("url", url.empty() ? "''" : url, "an address such as http://host:8000");
  }
  if (url.find_first_of("?#") != std::string::npos) {
    throw out_of_range("url", url.substr(0, url.find_first_of("?#")) + "?...",
                       "an address without a query, such as http://host:8000: paths are put after it");
  }
  return url;
}

std::vector<std::string> headers_of(const RemoteModelOptions& options) {
  if (options.api_key.empty()) return {};
  const bool clean =
      std::all_of(options.api_key.begin(), options.api_key.end(), [](char c) { return c > ' ' && c < 0x7F; });
  if (!clean) throw usage_error("the API key has characters that no key has");
  return {"Authorization: Bearer " + options.api_key};
}

class RemoteModel final : public Model {
 public:
  explicit RemoteModel(RemoteModelOptions options) : options_(std::move(options)) {
    if (options_.urls.empty())
      throw usage_error(fmt::format("{} is missing: where the servers are", option_name("url")));
    for (std::string& url : options_.urls) url = checked_url(std::move(url));
    asker_ = std::make_unique<HttpAsker>(
        AskerOptions{.urls = options_.urls,
                     .headers = headers_of(options_),
                     .connect_seconds = options_.connect_timeout,
                     .stopping = [this] { return loading_ && options_.stopping && options_.stopping(); }},
        make_curl_transport(), make_steady_clock());
    protocol_ = make_protocol(options_.kind, options_.served_model);
    served_ = protocol_->model(*asker_);
    if (options_.served_model.empty() && !served_.name.empty()) {
      protocol_ = make_protocol(options_.kind, served_.name);  // requests must name it
    }
    protocol_->find_decisions(*asker_);
    if (options_.vocabulary != nullptr && !protocol_->knows_tokens()) {
      throw usage_error(fmt::format("{} goes with servers that take token ids: {} takes text", option_name("tokenizer"),
                                    protocol_->kind()));
    }
    if (options_.vocabulary != nullptr && served_.n_vocab == 0) served_.n_vocab = options_.vocabulary->size();
    vocabulary_ = std::make_unique<RemoteVocabulary>(*protocol_, *asker_, served_, options_.vocabulary);
    const int most =
        std::min(protocol_->most_candidates(), served_.n_vocab > 0 ? served_.n_vocab : std::numeric_limits<int>::max());
    if (options_.candidates > protocol_->most_candidates()) {
      throw out_of_range("candidates", fmt::format("{}", options_.candidates),
                         fmt::format("at most {} with {}", protocol_->most_candidates(), protocol_->kind()));
    }
    candidates_ = std::min(most, options_.candidates > 0 ? options_.candidates : protocol_->default_candidates());
    info_.name = served_.name.empty() ? protocol_->kind() : shown(served_.name);
    info_.description = fmt::format("{} at {}", protocol_->kind(), options_.urls.front());
    info_.training_context = served_.context_length;
    info_.parameters = served_.parameters;
    info_.size_bytes = served_.size_bytes;
    info_.most_branches = kMostRemoteBranches;
    find_scale();
    asker_->set_patience(kTextPatience);
    loading_ = false;
  }

  const ModelInfo& info() const override { return info_; }
  const Vocabulary& vocabulary() const override { return *vocabulary_; }
  RecommendedSampling recommended_sampling() const override { return {SamplingOptions{}, "defaults"}; }

  EnginePlan plan_engine(const EngineRequest& request) const override {
    const int most = served_.context_length > 0 ? served_.context_length : kUnknownContext;
    if (request.context_length > most) {
      throw usage_error(fmt::format("{} is {}, but the server's context holds {}", option_name("context_length"),
                                    request.context_length, most));
    }
    RemoteEngineOptions engine;
    engine.urls = options_.urls;
    engine.candidates = candidates_;
    engine.max_branches = request.max_branches;
    engine.context_length = request.context_length > 0 ? request.context_length : most;
    engine.n_vocab = served_.n_vocab;
    engine.model_name = info_.name;
    engine.patience = options_.patience;
    engine.logprobs_after_temperature = after_temperature_;
    engine.no_logprobs = no_logprobs_;
    engine.stream.connect_seconds = options_.connect_timeout;
    engine.stream.first_token_seconds = options_.first_token_timeout;
    engine.stream.stall_seconds = options_.stall_timeout;
    engine.stream.headers = headers_of(options_);
    EnginePlan plan;
    plan.context_length = engine.context_length;
    const int usual = protocol_->knows_tokens() ? kUsualBranches : kUsualTextBranches;
    const int each = served_.parallel > 0 ? served_.parallel : usual;
    plan.parallel = std::min(kMostRemoteBranches, each * static_cast<int>(options_.urls.size()));
    plan.settings = {{"engine", protocol_->kind()},
                     {"endpoints", fmt::format("{}", options_.urls.size())},
                     {"candidates", fmt::format("{}", candidates_)}};
    plan.description = fmt::format("servers  {} x {}, {} log-probabilities a token, contexts of {} tokens",
                                   options_.urls.size(), protocol_->kind(), candidates_, plan.context_length);
    if (served_.parallel > 0) plan.description += fmt::format(", {} branches at once each", served_.parallel);
    if (after_temperature_) {
      plan.settings.emplace_back("logprobs", "after temperature");
      plan.description += ", taken after the temperature";
    }
    if (protocol_->tells_decisions()) {
      plan.settings.emplace_back("decisions", "by the servers");
      plan.description += ", decision tokens by the servers, from the whole distribution";
    }
    plan.make = [this, engine] {
      return std::make_unique<RemoteEngine>(engine, *protocol_, *vocabulary_, make_curl_transport(),
                                            make_steady_clock());
    };
    return plan;
  }

 private:
  void find_scale() {
    after_temperature_ = options_.logprobs == LogprobsScale::kAfterTemperature;
    if (options_.logprobs != LogprobsScale::kAuto || !protocol_->scale_of_logprobs_varies()) return;
    const LogprobsFound found =
        find_logprobs(*protocol_, *asker_, *vocabulary_, *vocabulary_, std::min(candidates_, 20));
    if (options_.stopping && options_.stopping()) throw Error("interrupted while a server was waited for");
    after_temperature_ = found.scale == FoundScale::kAfter;
    no_logprobs_ = found.none;
  }

  RemoteModelOptions options_;
  std::atomic<bool> loading_ = true;  // streams' threads ask for text, too
  bool after_temperature_ = false;
  std::string no_logprobs_;
  std::unique_ptr<Protocol> protocol_;
  std::unique_ptr<HttpAsker> asker_;
  ServerModel served_;
  std::unique_ptr<RemoteVocabulary> vocabulary_;
  ModelInfo info_;
  int candidates_ = 0;
};

}  // namespace

std::unique_ptr<Model> make_remote_model(const RemoteModelOptions& options) {
  return std::make_unique<RemoteModel>(options);
}

RemoteTraffic remote_traffic(const Engine& engine) {
  const auto* remote = dynamic_cast<const RemoteEngine*>(&engine);
  if (remote == nullptr) return {};
  const Traffic& traffic = remote->traffic();
  return {traffic.requests, traffic.retries, traffic.received_bytes, traffic.received_tokens, traffic.overshoot_tokens};
}

}  // namespace dts
