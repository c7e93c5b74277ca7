// OpenAI's completions API and nothing more: text in, tokens named by their text out.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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

bool is_stop(const std::string& why) {
  return why == "stop" || why == "eos" || why == "eos_token" || why == "stop_sequence" || why == "end_turn";
}

class OpenaiReader final : public AnswerReader {
 public:
  OpenaiReader(const GenerationRequest& request, PieceSink& pieces)
      : top_n_(request.top_n), left_(request.max_tokens), pieces_(pieces) {}

  void read(std::string_view data, std::vector<DrawnToken>& out) override {
    // Some servers say that they are done, and not why.
    if (data == "[DONE]") return stop(out);
    const json event = parse_event(data);
    const json& choices = member(event, "choices");
    if (!choices.is_array() || choices.empty()) return;
    const json& choice = choices[0];
    const std::string why = text_in(member(choice, "finish_reason"));
    read_tokens(choice, out);
    if (why.empty()) return;
    if (is_stop(why)) return stop(out);
    if (why != "length" && why != "max_tokens") throw Error("the server ended the stream: " + why.substr(0, 40));
    end_ = End::kLength;
    // Where texts of several tokens came at once, the server has counted more than we have: the rest is in them.
    if (in_pieces_) {
      for (; left_ > 0; --left_) out.push_back({.token = pieces_.token_of("")});
    }
  }

 private:
  void stop(std::vector<DrawnToken>& out) {
    if (end_ != End::kNone) return;
    end_ = End::kStopped;
    out.push_back({.token = pieces_.end_token()});
  }

  void read_tokens(const json& choice, std::vector<DrawnToken>& out) {
    const json& logprobs = member(choice, "logprobs");
    const std::size_t before = out.size();
    if (member(logprobs, "tokens").is_array()) {
      read_lists(logprobs, out);
    } else if (member(logprobs, "content").is_array()) {
      for (const json& token : member(logprobs, "content")) read_entry(token, out);
    } else if (const std::string text = text_in(member(choice, "text")); !text.empty()) {
      if (top_n_ > 0) {
        throw NoLogprobs(
            "the server sends no log-probabilities, which the method needs: it can do with "
            "self-consistency, or another engine is meant");
      }
      in_pieces_ = true;
      for (const Token token : pieces_.words_of(text)) out.push_back({.token = token});
    }
    left_ -= static_cast<int>(out.size() - before);
  }

  // Of the API of completions: a list of names, one of log-probabilities, one of objects {name: log-probability}.
  void read_lists(const json& logprobs, std::vector<DrawnToken>& out) {
    const json& names = member(logprobs, "tokens");
    const json& own = member(logprobs, "token_logprobs");
    const json& top = member(logprobs, "top_logprobs");
    if (top_n_ > 0 && own.is_array() && top.is_null()) {
      throw NoLogprobs("the server sends the log-probability of what it drew alone, and the method needs candidates");
    }
    const bool whole = own.is_array() && own.size() == names.size() && (top_n_ == 0 || top.size() == names.size());
    if (!whole) throw Error("the lists of an event's log-probabilities differ in length");
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string name = text_in(names[i]);
      if (name.empty()) continue;  // an end that has no text: finish_reason says so
      DrawnToken drawn;
      drawn.token = pieces_.token_of(token_bytes(name));
      if (!own[i].is_null()) drawn.logprob = logprob_in(own[i]);
      if (top_n_ > 0) {
        if (!top[i].is_object()) throw Error("an event of the stream has no log-probabilities");
        for (const auto& [candidate, logprob] : top[i].items()) {
          drawn.top.push_back({token_named(token_bytes(candidate)), logprob_in(logprob)});
        }
      }
      finish(drawn, out);
    }
  }

  // Of the API of chats, which some servers use here, too: objects with a name, its bytes and the candidates.
  void read_entry(const json& entry, std::vector<DrawnToken>& out) {
    const std::string name = bytes_of(entry);
    if (name.empty()) return;
    DrawnToken drawn;
    drawn.token = pieces_.token_of(name);
    if (const json& own = member(entry, "logprob"); !own.is_null()) drawn.logprob = logprob_in(own);
    if (top_n_ > 0) {
      const json& top = member(entry, "top_logprobs");
      if (!top.is_array()) throw Error("an event of the stream has no log-probabilities");
      for (const json& candidate : top) {
        drawn.top.push_back({token_named(bytes_of(candidate)), logprob_in(member(candidate, "logprob"))});
      }
    }
    finish(drawn, out);
  }

  static std::string bytes_of(const json& entry) {
    const std::string bytes = bytes_in(member(entry, "bytes"));
    return bytes.empty() ? token_bytes(text_in(member(entry, "token"))) : bytes;
  }

  Token token_named(const std::string& name) { return name.empty() ? pieces_.end_token() : pieces_.token_of(name); }

  void finish(DrawnToken& drawn, std::vector<DrawnToken>& out) {
    merge_alike(drawn.top);
    finish_token(drawn, /*ranked=*/false);
    if (std::isnan(drawn.logprob) && !drawn.top.empty()) drawn.logprob = drawn.top.back().logprob;  // at most that
    if (drawn.top.size() > static_cast<std::size_t>(top_n_)) drawn.top.resize(static_cast<std::size_t>(top_n_));
    out.push_back(std::move(drawn));
  }

  // Tokens with the same text are one here: their probabilities add up.
  static void merge_alike(std::vector<Candidate>& top) {
    for (std::size_t i = 0; i < top.size(); ++i) {
      for (std::size_t j = i + 1; j < top.size();) {
        if (top[j].token != top[i].token) {
          ++j;
          continue;
        }
        const double sum =
            std::exp(static_cast<double>(top[i].logprob)) + std::exp(static_cast<double>(top[j].logprob));
        top[i].logprob = static_cast<float>(std::min(0.0, std::log(sum)));
        top.erase(top.begin() + static_cast<std::ptrdiff_t>(j));
      }
    }
  }

  int top_n_;
  int left_;  // of what was asked for
  bool in_pieces_ = false;
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
    return std::make_unique<OpenaiReader>(request, pieces);
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
