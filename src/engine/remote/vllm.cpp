// vLLM: POST /v1/completions with token ids in (prompt) and out (return_token_ids).
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>

#include "dts/error.h"
#include "engine/remote/answer_json.h"
#include "engine/remote/completions_body.h"
#include "engine/remote/json_cursor.h"
#include "engine/remote/server_protocol.h"
#include "engine/remote/vllm_decisions.h"

namespace dts::remote {
namespace {

using nlohmann::json;

// "token_id:123", as return_tokens_as_token_ids has it.
Token named_token(std::string_view name) {
  constexpr std::string_view kPrefix = "token_id:";
  Token token = -1;
  if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  const auto [end, status] = std::from_chars(name.data(), name.data() + name.size(), token);
  if (status != std::errc() || end != name.data() + name.size() || token < 0) {
    throw CannotServe("a candidate of the stream is not named by its id: vLLM 0.10.2 or later is needed");
  }
  return token;
}

class VllmReader final : public AnswerReader {
 public:
  // `decision_token`: what ends a request at a decision token; none: nothing does.
  VllmReader(int top_n, std::optional<Token> decision_token, PieceSink& pieces)
      : top_n_(top_n), decision_token_(decision_token), pieces_(pieces) {}

  void read(std::string_view data, std::vector<DrawnToken>& out) override {
    if (data == "[DONE]") return;
    if (top_n_ == 0 && read_quickly(data, out)) return;
    const json event = parse_event(data);
    const json& choices = member(event, "choices");
    if (!choices.is_array() || choices.empty()) return;  // the usage, at the end
    if (choices.size() != 1) throw Error("an event of the stream has several choices");
    const json& choice = choices[0];
    const json& tokens = member(choice, "token_ids");
    if (!tokens.is_array())
      throw CannotServe("an event of the stream has no token_ids: vLLM 0.10.2 or later is needed");
    const auto fresh = static_cast<std::int64_t>(tokens.size());
    // continuous_usage_stats number the tokens: what comes twice is passed over, what is missing is noticed.
    const std::int64_t total = count_in(member(member(event, "usage"), "completion_tokens"), count_ + fresh);
    if (fresh > 0 && total <= count_) return;
    if (total != count_ + fresh) {
      throw Error(fmt::format("the stream is out of order: token {} after {}", total, count_));
    }
    const json& logprobs = member(choice, "logprobs");
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      DrawnToken drawn;
      drawn.token = token_in(tokens[i]);
      if (decision_token_ && drawn.token == *decision_token_) {
        check_raw(logprobs, i);
        end_ = End::kDecision;
        return;
      }
      if (top_n_ > 0) read_logprobs(logprobs, i, tokens.size(), drawn);
      last_ = drawn.token;
      out.push_back(std::move(drawn));
    }
    count_ += fresh;
    const std::string why = text_in(member(choice, "finish_reason"));
    if (why.empty()) return;
    if (why == "stop") {
      end_ = End::kStopped;
      if (count_ == 0) {
        out.push_back({.token = pieces_.end_token()});
      } else {
        pieces_.learn_end(last_);
      }
    } else if (why == "length") {
      end_ = End::kLength;
    } else {
      throw Error("the server ended the stream: " + why.substr(0, 40));  // abort, error
    }
  }

 private:
  // The event of more tokens without log-probabilities, as nearly all are once nothing can branch. False: it is
  // something else, and nothing has changed.
  bool read_quickly(std::string_view data, std::vector<DrawnToken>& out) {
    JsonCursor cursor(data);
    quick_.clear();
    std::optional<std::int64_t> total;
    int choices = 0;
    std::string_view key;
    cursor.open('{');
    for (bool first = true; cursor.member(first, key); first = false) {
      if (key == "choices") {
        cursor.open('[');
        for (bool head = true; cursor.item(head); head = false, ++choices) read_choice(cursor);
      } else if (key == "usage") {
        if (cursor.word("null")) continue;
        cursor.open('{');
        for (bool head = true; cursor.member(head, key); head = false) {
          if (key == "completion_tokens") {
            total = cursor.integer();
          } else {
            cursor.skip_scalar();
          }
        }
      } else {
        if (key == "error") return false;
        cursor.skip_scalar();
      }
    }
    const auto fresh = static_cast<std::int64_t>(quick_.size());
    if (!cursor.finished() || choices != 1 || fresh == 0 || (total && *total != count_ + fresh)) return false;
    for (const Token token : quick_) out.push_back({.token = token});
    last_ = quick_.back();
    count_ += fresh;
    return true;
  }

  void read_choice(JsonCursor& cursor) {
    std::string_view key;
    cursor.open('{');
    for (bool first = true; cursor.member(first, key); first = false) {
      if (key == "token_ids") {
        if (!quick_.empty()) cursor.fail();  // twice
        cursor.open('[');
        for (bool head = true; cursor.item(head); head = false) {
          const std::int64_t token = cursor.integer();
          if (token < 0 || token > std::numeric_limits<Token>::max()) cursor.fail();
          if (decision_token_ && token == *decision_token_) cursor.fail();
          quick_.push_back(static_cast<Token>(token));
        }
      } else if (key == "finish_reason" || key == "logprobs") {
        if (!cursor.word("null")) cursor.fail();
      } else if (key == "prompt_token_ids") {
        if (cursor.word("null")) continue;
        cursor.open('[');
        for (bool head = true; cursor.item(head); head = false) cursor.integer();
      } else {
        cursor.skip_scalar();
      }
    }
  }

  // The token that ends a request at a decision token was forced: it has no probability of its own.
  static void check_raw(const json& logprobs, std::size_t i) {
    const json& own = member(logprobs, "token_logprobs");
    if (own.is_array() && i < own.size() && logprob_in(own[i]) > -0.01F) {
      throw CannotServe(
          "the server's log-probabilities are those after its processors: start vLLM with "
          "--logprobs-mode raw_logprobs");
    }
  }

  void read_logprobs(const json& logprobs, std::size_t i, std::size_t count, DrawnToken& drawn) const {
    const json& own = member(logprobs, "token_logprobs");
    const json& top = member(logprobs, "top_logprobs");
    if (!own.is_array() || !top.is_array() || own.size() != count || top.size() != count || !top[i].is_object()) {
      throw Error("an event of the stream has no log-probabilities");
    }
    for (const auto& [name, logprob] : top[i].items()) drawn.top.push_back({named_token(name), logprob_in(logprob)});
    drawn.logprob = logprob_in(own[i]);
    finish_token(drawn, /*ranked=*/false);
    // One more than asked for is the sampled token, which is not among the most probable.
    if (drawn.top.size() > static_cast<std::size_t>(top_n_)) drawn.top.resize(static_cast<std::size_t>(top_n_));
  }

  int top_n_;
  std::optional<Token> decision_token_;
  PieceSink& pieces_;
  std::int64_t count_ = 0;
  Token last_ = 0;
  std::vector<Token> quick_;  // scratch
};

class Vllm final : public Protocol {
 public:
  using Protocol::Protocol;

  const char* kind() const override { return "vllm"; }
  int most_candidates() const override { return std::numeric_limits<int>::max(); }  // --max-logprobs decides
  bool tells_control_tokens() const override { return false; }

  ServerCall generate(const GenerationRequest& request, PieceSink&) const override {
    json body = completions_body(request, served_model());
    body["prompt"] = request.prefix;
    // Said explicitly: what is left out comes from the model's generation_config.
    body["top_k"] = request.sampling.top_k > 0 ? request.sampling.top_k : -1;
    body["min_p"] = request.sampling.min_p;
    body["repetition_penalty"] = 1.0;
    body["presence_penalty"] = 0.0;
    body["frequency_penalty"] = 0.0;
    body["add_special_tokens"] = false;
    body["skip_special_tokens"] = false;
    body["return_token_ids"] = true;
    body["stream_options"] = {{"include_usage", true}, {"continuous_usage_stats", true}};
    if (request.top_n > 0) body["return_tokens_as_token_ids"] = true;
    if (request.watch != nullptr && decision_token_) {
      body["stop_token_ids"] = {*decision_token_};
      body["vllm_xargs"] = decision_arguments(*request.watch, request.unwatched);
    }
    return {"/v1/completions", true, std::move(body)};
  }

  void find_decisions(const Asker& server) override {
    std::optional<Token> token;
    for (int i = 0; i < server.servers(); ++i) {
      const std::optional<Token> here = find_decision_token(server, i, served_model());
      if (!here || (token && *token != *here)) return;
      token = here;
    }
    decision_token_ = token;
  }

  bool tells_decisions() const override { return decision_token_.has_value(); }

  std::unique_ptr<AnswerReader> reader(const GenerationRequest& request, PieceSink& pieces) const override {
    const bool watched = request.watch != nullptr;
    return std::make_unique<VllmReader>(request.top_n, watched ? decision_token_ : std::nullopt, pieces);
  }

  ServerModel model(const Asker& server) const override {
    ServerModel model = first_model(server, served_model());
    check_owner(kind(), model.owner);
    return model;
  }

  std::vector<Token> tokenize(const Asker& server, std::string_view text, bool, bool bos) const override {
    return tokens_of(server, {{"prompt", text}, {"add_special_tokens", bos}});
  }

  std::string detokenize(const Asker& server, std::span<const Token> tokens) const override {
    json body = {{"tokens", tokens}};
    if (!served_model().empty()) body["model"] = served_model();
    return text_in(member(server.ask({"/detokenize", true, std::move(body)}), "prompt"));
  }

  ChatPrompt chat(const Asker& server, std::span<const ChatMessage> messages) const override {
    json list = json::array();
    for (const ChatMessage& message : messages) list.push_back({{"role", message.role}, {"content", message.content}});
    ChatPrompt prompt;
    prompt.tokens = tokens_of(
        server, {{"messages", std::move(list)}, {"add_generation_prompt", true}, {"add_special_tokens", false}});
    if (prompt.tokens.empty()) throw Error("vLLM applied its chat template and gave nothing");
    prompt.text = detokenize(server, prompt.tokens);
    prompt.opens_thinking = opens_thinking(prompt.text);
    return prompt;
  }

 private:
  std::vector<Token> tokens_of(const Asker& server, json body) const {
    if (!served_model().empty()) body["model"] = served_model();
    std::vector<Token> tokens;
    const json answer = server.ask({"/tokenize", true, std::move(body)});
    for (const json& token : member(answer, "tokens")) tokens.push_back(token_in(token));
    return tokens;
  }

  std::optional<Token> decision_token_;
};

}  // namespace

std::unique_ptr<Protocol> make_vllm_protocol(std::string served_model) {
  return std::make_unique<Vllm>(std::move(served_model));
}

}  // namespace dts::remote
