// OpenAI's completions API and nothing more: text in, tokens named by their text out.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "dts/error.h"
#include "engine/remote/answer_json.h"
#include "engine/remote/completions_body.h"
#include "engine/remote/server_protocol.h"
#include "text/utf8.h"

namespace dts::remote {
namespace {

using nlohmann::json;

// A token that is no valid text is written as "bytes:\xe2\x80".
std::string token_bytes(const std::string& name) {
  constexpr std::string_view kPrefix = "bytes:";
  if (!name.starts_with(kPrefix) || name.find("\\x") != kPrefix.size()) return name;
  std::string bytes;
  for (std::size_t at = kPrefix.size(); at + 4 <= name.size() && name.compare(at, 2, "\\x") == 0; at += 4) {
    bytes += static_cast<char>(std::strtol(name.substr(at + 2, 2).c_str(), nullptr, 16));
  }
  return bytes;
}

class OpenaiReader final : public AnswerReader {
 public:
  OpenaiReader(int top_n, PieceSink& pieces) : top_n_(top_n), pieces_(pieces) {}

  void read(std::string_view data, std::vector<DrawnToken>& out) override {
    if (data == "[DONE]") return;
    const json event = parse_event(data);
    const json& choices = member(event, "choices");
    if (!choices.is_array() || choices.empty()) return;
    const json& choice = choices[0];
    const json& logprobs = member(choice, "logprobs");
    if (const std::string text = text_in(member(choice, "text")); top_n_ > 0 && member(logprobs, "tokens").is_array()) {
      read_tokens(logprobs, out);
    } else if (!text.empty()) {
      if (top_n_ > 0) throw Error("an event of the stream has no log-probabilities: the method needs them");
      out.push_back({.token = pieces_.token_of(text)});  // as much as came at once
    }
    const std::string why = text_in(member(choice, "finish_reason"));
    if (why.empty()) return;
    if (why != "stop" && why != "length") throw Error("the server ended the stream: " + why.substr(0, 40));
    end_ = why == "stop" ? End::kStopped : End::kLength;
    if (end_ == End::kStopped) out.push_back({.token = pieces_.end_token()});
  }

 private:
  void read_tokens(const json& logprobs, std::vector<DrawnToken>& out) {
    const json& names = member(logprobs, "tokens");
    const json& own = member(logprobs, "token_logprobs");
    const json& top = member(logprobs, "top_logprobs");
    if (!own.is_array() || !top.is_array() || own.size() != names.size() || top.size() != names.size()) {
      throw Error("the lists of an event's log-probabilities differ in length");
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string name = text_in(names[i]);
      if (name.empty()) continue;  // an end that has no text: finish_reason says so
      DrawnToken drawn;
      drawn.token = pieces_.token_of(token_bytes(name));
      if (!top[i].is_object()) throw Error("an event of the stream has no log-probabilities");
      for (const auto& [candidate, logprob] : top[i].items()) {
        const Token token = candidate.empty() ? pieces_.end_token() : pieces_.token_of(token_bytes(candidate));
        drawn.top.push_back({token, logprob_in(logprob)});
      }
      drawn.logprob = logprob_in(own[i]);
      finish_token(drawn, /*ranked=*/false);
      if (drawn.top.size() > static_cast<std::size_t>(top_n_)) drawn.top.resize(static_cast<std::size_t>(top_n_));
      out.push_back(std::move(drawn));
    }
  }

  int top_n_;
  PieceSink& pieces_;
};

class Openai final : public Protocol {
 public:
  using Protocol::Protocol;

  const char* kind() const override { return "openai"; }
  int most_candidates() const override { return 20; }
  int default_candidates() const override { return 5; }  // the most that OpenAI's own API gives
  bool knows_tokens() const override { return false; }

  ServerCall generate(const GenerationRequest& request, PieceSink& pieces) const override {
    json body = completions_body(request, served_model());
    std::string prompt;
    for (const Token token : request.prefix) prompt += pieces.text_of(token);
    if (!text::is_valid_utf8(prompt)) {
      throw Error("a branch ends inside a character, which an API of text cannot go on from");
    }
    body["prompt"] = std::move(prompt);
    if (request.sampling.top_k > 0) body["top_k"] = request.sampling.top_k;
    if (request.sampling.min_p > 0) body["min_p"] = request.sampling.min_p;
    return {"/v1/completions", true, std::move(body)};
  }

  std::unique_ptr<AnswerReader> reader(const GenerationRequest& request, PieceSink& pieces) const override {
    return std::make_unique<OpenaiReader>(request.top_n, pieces);
  }

  ServerModel model(const Asker& server) const override { return first_model(server, served_model()); }

  std::vector<Token> tokenize(const Asker&, std::string_view, bool, bool) const override {
    throw Error("OpenAI's API has no tokenizer");
  }
  std::string detokenize(const Asker&, std::span<const Token>) const override {
    throw Error("OpenAI's API has no tokenizer");
  }
  ChatPrompt chat(const Asker&, std::span<const ChatMessage>) const override {
    throw usage_error(
        fmt::format("an API of completions applies no chat template: give {} with a prompt as it is, or "
                    "name the engine if it is vllm or llama-server",
                    option_name("raw")));
  }
};

}  // namespace

std::unique_ptr<Protocol> make_openai_protocol(std::string served_model) {
  return std::make_unique<Openai>(std::move(served_model));
}

}  // namespace dts::remote
