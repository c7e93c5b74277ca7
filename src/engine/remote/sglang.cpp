// SGLang: POST /generate with token ids in and out.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "dts/error.h"
#include "engine/remote/answer_json.h"
#include "engine/remote/server_protocol.h"

namespace dts::remote {
namespace {

using nlohmann::json;

class SglangReader final : public AnswerReader {
 public:
  SglangReader(int top_n, PieceSink& pieces) : top_n_(top_n), pieces_(pieces) {}

  void read(std::string_view data, std::vector<DrawnToken>& out) override {
    if (data == "[DONE]") return;
    const json event = parse_event(data);
    const json& meta = member(event, "meta_info");
    const std::int64_t total = count_in(member(meta, "completion_tokens"), -1);
    if (total < 0) throw Error("an event of the stream has no meta_info.completion_tokens");
    const json& reason = member(meta, "finish_reason");
    const std::int64_t fresh = total - count_;
    if (fresh > 0) read_tokens(event, meta, reason, total, static_cast<std::size_t>(fresh), out);
    if (!reason.is_object()) return;
    const std::string why = text_in(member(reason, "type"));
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
      throw Error("the server ended the stream: " + text_in(member(reason, "message")).substr(0, 200));
    }
  }

 private:
  // Lists have all tokens since the beginning, or, when the server streams so, the new ones alone.
  static std::size_t begin_of(const json& list, std::int64_t total, std::size_t fresh) {
    if (!list.is_array()) throw Error("an event of the stream lacks a list of its tokens");
    if (list.size() == static_cast<std::size_t>(total)) return list.size() - fresh;
    if (list.size() == fresh) return 0;
    throw Error(fmt::format("the stream is out of order: {} tokens where {} are new", list.size(), fresh));
  }

  void read_tokens(const json& event, const json& meta, const json& reason, std::int64_t total, std::size_t fresh,
                   std::vector<DrawnToken>& out) {
    json ids = member(event, "output_ids");
    // A matched stop token may be left out of the ids.
    const json& matched = member(reason, "matched");
    if (ids.is_array() && matched.is_number_integer() && (ids.empty() || ids.back() != matched) &&
        (ids.size() + 1 == static_cast<std::size_t>(total) || ids.size() + 1 == fresh)) {
      ids.push_back(matched);
    }
    const std::size_t begin = begin_of(ids, total, fresh);
    const json& top = member(meta, "output_top_logprobs");
    const json& own = member(meta, "output_token_logprobs");
    const std::size_t top_begin = top_n_ > 0 ? begin_of(top, total, fresh) : 0;
    const std::size_t own_begin = top_n_ > 0 ? begin_of(own, total, fresh) : 0;
    for (std::size_t i = 0; i < fresh; ++i) {
      DrawnToken drawn;
      drawn.token = token_in(ids[begin + i]);
      if (top_n_ > 0) {
        const json& pair = own[own_begin + i];
        if (!pair.is_array() || pair.size() < 2) throw Error("a log-probability of the stream is not a pair");
        if (token_in(pair[1]) != drawn.token) throw Error("the log-probabilities are another token's");
        drawn.logprob = logprob_in(pair[0]);
        const json& candidates = top[top_begin + i];
        if (!candidates.is_array()) throw Error("an event of the stream has no log-probabilities");
        for (const json& candidate : candidates) {
          if (!candidate.is_array() || candidate.size() < 2) throw Error("a candidate of the stream is not a pair");
          drawn.top.push_back({token_in(candidate[1]), logprob_in(candidate[0])});
        }
        finish_token(drawn, /*ranked=*/true);
      }
      last_ = drawn.token;
      out.push_back(std::move(drawn));
    }
    count_ = total;
  }

  int top_n_;
  PieceSink& pieces_;
  std::int64_t count_ = 0;
  Token last_ = 0;
};

class Sglang final : public Protocol {
 public:
  using Protocol::Protocol;

  const char* kind() const override { return "sglang"; }
  int most_candidates() const override { return std::numeric_limits<int>::max(); }
  bool tells_control_tokens() const override { return false; }

  ServerCall generate(const GenerationRequest& request, PieceSink&) const override {
    const SamplingOptions& sampling = request.sampling;
    if (sampling.min_p > 0 && sampling.top_k > 0) {
      throw CannotServe(
          fmt::format("SGLang applies {} and {} in an order that depends on its backend: give one of them",
                      option_name("min_p"), option_name("top_k")));
    }
    json body = {{"input_ids", request.prefix},
                 {"stream", true},
                 {"sampling_params",
                  {{"max_new_tokens", request.max_tokens},
                   {"temperature", sampling.temperature},
                   {"top_p", sampling.top_p},
                   {"top_k", sampling.top_k > 0 ? sampling.top_k : -1},
                   {"min_p", sampling.min_p},
                   {"sampling_seed", request.seed},
                   {"skip_special_tokens", false}}}};
    if (request.top_n > 0) {
      body["return_logprob"] = true;
      body["top_logprobs_num"] = request.top_n;
      body["logprob_start_len"] = -1;  // of the prompt none
      body["return_text_in_logprobs"] = false;
    }
    return {"/generate", true, std::move(body)};
  }

  std::unique_ptr<AnswerReader> reader(const GenerationRequest& request, PieceSink& pieces) const override {
    return std::make_unique<SglangReader>(request.top_n, pieces);
  }

  ServerModel model(const Asker& server) const override {
    ServerModel model = first_model(server, served_model());
    check_owner(kind(), model.owner);
    return model;
  }

  std::vector<Token> tokenize(const Asker& server, std::string_view text, bool, bool bos) const override {
    std::vector<Token> tokens;
    const json answer = server.ask({"/tokenize", true, {{"prompt", text}, {"add_special_tokens", bos}}});
    for (const json& token : member(answer, "tokens")) tokens.push_back(token_in(token));
    return tokens;
  }

  std::string detokenize(const Asker& server, std::span<const Token> tokens) const override {
    return text_in(
        member(server.ask({"/detokenize", true, {{"tokens", tokens}, {"skip_special_tokens", false}}}), "text"));
  }

  ChatPrompt chat(const Asker&, std::span<const ChatMessage>) const override {
    throw usage_error(
        fmt::format("SGLang has no endpoint that applies a chat template: give {} (a GGUF of the same "
                    "model), or {} with a prompt as it is",
                    option_name("tokenizer"), option_name("raw")));
  }
};

}  // namespace

std::unique_ptr<Protocol> make_sglang_protocol(std::string served_model) {
  return std::make_unique<Sglang>(std::move(served_model));
}

}  // namespace dts::remote
