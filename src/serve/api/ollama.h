// Ollama's API in terms of OpenAI's: requests are translated, replies are written as Ollama's clients read them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "dts/engine.h"
#include "serve/api/completion_reply.h"
#include "serve/api/other_requests.h"
#include "serve/service.h"

namespace dts::serve {

// A body of /api/chat or /api/generate as one of OpenAI's. Throws ApiError. `generate`: what `raw` texts become is a
// text completion; else both become chats.
struct OllamaRequest : RewrittenRequest {
  CompletionKind kind = CompletionKind::kChat;
  bool load = false;  // asks for nothing: only that the model be there
};
OllamaRequest read_ollama_request(const nlohmann::ordered_json& json, bool generate);
// The `model` of a body, or its `name`, as older clients call it, without the tag that Ollama adds; empty where there
// is none. Throws ApiError.
std::string ollama_model_name(const nlohmann::ordered_json& json);

// One choice, line by line when it streams.
class OllamaReply final : public Reply {
 public:
  OllamaReply(CompletionFormat format, std::unique_ptr<CompletionRuns> runs, bool stream);
  void on_change(std::function<void()> wake) override { runs_->on_change(wake); }
  std::optional<HttpResponse> head() override;
  bool streams() const override { return stream_; }
  Piece next() override;

 private:
  Json line(const ChoiceReader::Delta& delta) const;
  void add_end(Json& json, const TreeDocument& document) const;

  CompletionFormat format_;
  std::unique_ptr<CompletionRuns> runs_;
  bool stream_;
  ChoiceReader reader_;
};

// {"error": "..."}, which is what its clients show.
HttpResponse ollama_error(const ApiError& error);

// The reply to a request that only loads the model.
Json ollama_loaded_json(const CompletionFormat& format);
Json ollama_tags_json(const ServiceOptions& options);
Json ollama_show_json(const ServiceOptions& options, const EngineInfo& engine);

}  // namespace dts::serve
