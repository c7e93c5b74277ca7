// OpenAI's Responses API, the part of it that keeps nothing between requests: requests are translated to chats, replies
// are written as its clients read them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "serve/api/completion_reply.h"
#include "serve/api/other_requests.h"

namespace dts::serve {

// A body of /v1/responses as one of /v1/chat/completions. Throws ApiError naming what it cannot honour.
RewrittenRequest read_responses_request(const nlohmann::ordered_json& json);

// One choice. `asked` is the body, of which replies repeat some.
class ResponsesReply final : public Reply {
 public:
  ResponsesReply(CompletionFormat format, std::unique_ptr<CompletionRuns> runs, bool stream);
  void on_change(std::function<void()> wake) override { runs_->on_change(wake); }
  std::optional<HttpResponse> head() override;
  bool streams() const override { return stream_; }
  Piece next() override;

 private:
  // An item of the output as it grows.
  struct Item {
    std::string type;  // "reasoning", "message", "function_call"
    std::string id;
    std::string text;  // or arguments
    ToolCall call;
    bool done = false;
    bool cut = false;  // a budget ended it
  };

  void absorb(const ChoiceReader::Delta& delta, std::string& out);
  Item& open_item(const std::string& type, std::string& out);
  void close_item(std::string& out);
  Json item_json(const Item& item) const;
  Json part_json(const Item& item) const;
  Json response_json(const TreeDocument* document) const;
  void add_event(std::string& out, const char* type, Json data);

  CompletionFormat format_;
  std::unique_ptr<CompletionRuns> runs_;
  bool stream_;
  ChoiceReader reader_;
  std::vector<Item> items_;
  std::int64_t sequence_ = 0;
  bool begun_ = false;
};

}  // namespace dts::serve
