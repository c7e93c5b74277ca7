// llama.cpp's own server: POST /completion with token ids in and out.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "dts/error.h"
#include "engine/remote/answer_json.h"
#include "engine/remote/json_cursor.h"
#include "engine/remote/server_protocol.h"

namespace dts::remote {
namespace {

using nlohmann::json;

class LlamaServerReader final : public AnswerReader {
 public:
  LlamaServerReader(const GenerationRequest& request, PieceSink& pieces)
      : top_n_(request.top_n), whole_(request.whole), pieces_(pieces) {}

  void read(std::string_view data, std::vector<DrawnToken>& out) override {
    if (data == "[DONE]" || missing_ > 0) return;
    if (!whole_ && read_quickly(data, out)) return;
    const json event = parse_event(data);
    if (whole_) return read_whole(event, out);
    const json& tokens = member(event, "tokens");
    const bool last = member(event, "stop").is_boolean() && member(event, "stop").get<bool>();
    if (tokens.is_array() && !last) {
      const std::int64_t predicted = count_in(member(event, "tokens_predicted"), -1);
      if (tokens.size() != 1) throw Error("an event of the stream has not one token");
      if (predicted >= 0 && predicted <= count_) return;  // heard before
      // Tokens that end inside a UTF-8 character are not sent: they are missing when the character is complete.
      if (predicted > count_ + 1) {
        missing_ = static_cast<int>(std::min<std::int64_t>(predicted - count_ - 1, 64));
        return;
      }
      read_token(event, tokens[0], out);
      ++count_;
    }
    if (!last) return;
    // The last tokens may have been inside a character, too.
    if (const std::int64_t predicted = count_in(member(event, "tokens_predicted"), count_); predicted > count_) {
      missing_ = static_cast<int>(std::min<std::int64_t>(predicted - count_, 64));
      return;
    }
    const std::string why = text_in(member(event, "stop_type"));
    end_ = why == "eos" ? End::kStopped : End::kLength;
    if (end_ == End::kStopped && !seen_any_) out.push_back({.token = pieces_.end_token()});
    if (end_ == End::kStopped && seen_any_) pieces_.learn_end(last_);
  }

 private:
  // The event of one more token, as nearly all are. False: it is something else, and nothing has changed.
  bool read_quickly(std::string_view data, std::vector<DrawnToken>& out) {
    JsonCursor cursor(data);
    DrawnToken drawn;
    std::int64_t predicted = -1;
    int seen = 0;
    std::string_view key;
    cursor.open('{');
    for (bool first = true; cursor.member(first, key); first = false) {
      if (key == "tokens") {
        cursor.open('[');
        cursor.item(true);
        drawn.token = quick_token(cursor);
        if (cursor.item(false)) return false;
        ++seen;
      } else if (key == "tokens_predicted") {
        predicted = cursor.integer();
      } else if (key == "stop") {
        if (!cursor.word("false")) return false;
        ++seen;
      } else if (key == "completion_probabilities" && top_n_ > 0) {
        cursor.open('[');
        cursor.item(true);
        read_candidates(cursor, drawn);
        if (cursor.item(false)) return false;
        ++seen;
      } else {
        if (key == "error") return false;
        cursor.skip_scalar();  // a list or an object fails
      }
    }
    const bool usual = cursor.finished() && seen == (top_n_ > 0 ? 3 : 2) && predicted == count_ + 1;
    if (!usual) return false;
    if (top_n_ > 0) {
      for (const Piece& piece : pieces_read_) pieces_.learn(piece.token, {piece.bytes.data(), piece.size});
      finish_logprobs(drawn);
    }
    last_ = drawn.token;
    seen_any_ = true;
    ++count_;
    out.push_back(std::move(drawn));
    return true;
  }

  static Token quick_token(JsonCursor& cursor) {
    const std::int64_t token = cursor.integer();
    if (token < 0 || token > std::numeric_limits<Token>::max()) cursor.fail();
    return static_cast<Token>(token);
  }

  void read_candidates(JsonCursor& cursor, DrawnToken& drawn) {
    pieces_read_.clear();
    std::int64_t own = -1;
    std::string_view key;
    cursor.open('{');
    for (bool first = true; cursor.member(first, key); first = false) {
      if (key == "id") {
        own = cursor.integer();
      } else if (key == "bytes") {
        read_bytes(cursor, nullptr);
      } else if (key == "top_logprobs") {
        if (!drawn.top.empty()) cursor.fail();  // twice
        drawn.top.reserve(static_cast<std::size_t>(top_n_ < 64 ? top_n_ : 64));
        cursor.open('[');
        for (bool head = true; cursor.item(head); head = false) read_candidate(cursor, drawn);
      } else {
        cursor.skip_scalar();
      }
    }
    if (own != drawn.token) cursor.fail();  // also when the token comes later in the event
  }

  struct Piece {
    Token token = -1;  // not said
    std::array<char, 64> bytes = {};
    std::size_t size = 0;
  };

  void read_candidate(JsonCursor& cursor, DrawnToken& drawn) {
    Piece& piece = pieces_read_.emplace_back();
    double logprob = 1;
    std::string_view key;
    cursor.open('{');
    for (bool first = true; cursor.member(first, key); first = false) {
      if (key == "id") {
        piece.token = quick_token(cursor);
      } else if (key == "logprob") {
        logprob = cursor.number();
      } else if (key == "bytes") {
        read_bytes(cursor, &piece);
      } else {
        cursor.skip_scalar();
      }
    }
    if (piece.token < 0 || !(logprob <= 0 && logprob >= -1e4)) cursor.fail();
    drawn.top.push_back({piece.token, static_cast<float>(logprob)});
  }

  static void read_bytes(JsonCursor& cursor, Piece* piece) {
    if (piece != nullptr && piece->size > 0) cursor.fail();  // twice
    cursor.open('[');
    for (bool first = true; cursor.item(first); first = false) {
      const std::int64_t byte = cursor.integer();
      if (piece == nullptr) continue;
      if (piece->size == piece->bytes.size() || byte < 0 || byte > 255) return cursor.fail();
      piece->bytes[piece->size++] = static_cast<char>(byte);
    }
  }

  // All tokens, those inside a character too. Those have no log-probabilities, and then it is not said whose the others
  // are: none are read.
  void read_whole(const json& event, std::vector<DrawnToken>& out) {
    const json& tokens = member(event, "tokens");
    const json& all = member(event, "completion_probabilities");
    if (!tokens.is_array()) throw Error("the answer has no tokens");
    const bool told = top_n_ > 0 && all.is_array() && all.size() == tokens.size();
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      DrawnToken drawn;
      drawn.token = token_in(tokens[i]);
      if (told) read_logprobs(all[i], drawn);
      out.push_back(std::move(drawn));
    }
    end_ = text_in(member(event, "stop_type")) == "eos" ? End::kStopped : End::kLength;
    if (end_ == End::kStopped && !out.empty()) pieces_.learn_end(out.back().token);
  }

  void read_logprobs(const json& own, DrawnToken& drawn) {
    if (token_in(member(own, "id")) != drawn.token) throw Error("the log-probabilities are another token's");
    const json& top = member(own, "top_logprobs");
    if (!top.is_array()) throw Error("an event of the stream has no log-probabilities");
    drawn.top.reserve(top.size());
    for (const json& candidate : top) {
      drawn.top.push_back({token_in(member(candidate, "id")), logprob_in(member(candidate, "logprob"))});
      pieces_.learn(drawn.top.back().token, bytes_in(member(candidate, "bytes")));
    }
    finish_logprobs(drawn);
  }

  static void finish_logprobs(DrawnToken& drawn) {
    finish_token(drawn, /*ranked=*/true);
    // The server says 0 of a token that is not among the candidates: it is no more probable than the last of them.
    if (std::isnan(drawn.logprob) && !drawn.top.empty()) drawn.logprob = drawn.top.back().logprob;
  }

  void read_token(const json& event, const json& token, std::vector<DrawnToken>& out) {
    DrawnToken drawn;
    drawn.token = token_in(token);
    const json& all = member(event, "completion_probabilities");
    if (top_n_ > 0) {
      if (!all.is_array() || all.size() != 1) throw Error("an event of the stream has no log-probabilities");
      read_logprobs(all[0], drawn);
    }
    last_ = drawn.token;
    seen_any_ = true;
    out.push_back(std::move(drawn));
  }

  int top_n_;
  bool whole_;
  PieceSink& pieces_;
  std::int64_t count_ = 0;  // tokens read
  Token last_ = 0;
  bool seen_any_ = false;
  std::vector<Piece> pieces_read_;  // scratch
};

class LlamaServer final : public Protocol {
 public:
  using Protocol::Protocol;

  const char* kind() const override { return "llama-server"; }
  int most_candidates() const override { return std::numeric_limits<int>::max(); }
  bool scale_of_logprobs_varies() const override { return false; }  // before, unless asked for post_sampling_probs

  ServerCall generate(const GenerationRequest& request, PieceSink&) const override {
    const SamplingOptions& sampling = request.sampling;
    // The order of our own sampler; nothing that llama-server would add of its own.
    json body = {{"prompt", request.prefix}, {"n_predict", request.max_tokens},
                 {"stream", !request.whole}, {"return_tokens", true},
                 {"cache_prompt", true},     {"temperature", sampling.temperature},
                 {"top_k", sampling.top_k},  {"top_p", sampling.top_p},
                 {"min_p", sampling.min_p},  {"samplers", {"temperature", "top_k", "top_p", "min_p"}},
                 {"seed", request.seed}};
    if (request.top_n > 0) body["n_probs"] = request.top_n;
    if (!served_model().empty()) body["model"] = served_model();
    return {"/completion", true, std::move(body)};
  }

  std::unique_ptr<AnswerReader> reader(const GenerationRequest& request, PieceSink& pieces) const override {
    return std::make_unique<LlamaServerReader>(request, pieces);
  }

  ServerModel model(const Asker& server) const override {
    const json models = server.ask({"/v1/models", false});
    ServerModel model;
    const json& data = member(models, "data");
    const json& first = data.is_array() && !data.empty() ? data[0] : member(models, "data");
    const json& meta = member(first, "meta");
    model.name = text_in(member(first, "id"));
    model.owner = text_in(member(first, "owned_by")).substr(0, 100);
    check_owner(kind(), model.owner);
    const json props = server.ask({"/props", false});
    model.n_vocab = static_cast<int>(std::clamp<std::int64_t>(count_in(member(meta, "n_vocab"), 0), 0, 1 << 24));
    model.parameters = count_in(member(meta, "n_params"), 0);
    model.size_bytes = count_in(member(meta, "size"), 0);
    const std::int64_t context = count_in(member(member(props, "default_generation_settings"), "n_ctx"), 0);
    model.context_length = static_cast<int>(std::clamp<std::int64_t>(context, 0, 1 << 28));
    model.parallel = static_cast<int>(std::clamp<std::int64_t>(count_in(member(props, "total_slots"), 0), 0, 1 << 20));
    model.bos_text = text_in(member(props, "bos_token"));
    model.eos_text = text_in(member(props, "eos_token"));
    return model;
  }

  std::vector<Token> tokenize(const Asker& server, std::string_view text, bool special, bool bos) const override {
    const json answer =
        server.ask({"/tokenize", true, {{"content", text}, {"add_special", bos}, {"parse_special", special}}});
    std::vector<Token> tokens;
    for (const json& token : member(answer, "tokens")) tokens.push_back(token_in(token));
    return tokens;
  }

  std::string detokenize(const Asker& server, std::span<const Token> tokens) const override {
    return text_in(member(server.ask({"/detokenize", true, {{"tokens", tokens}}}), "content"));
  }

  ChatPrompt chat(const Asker& server, std::span<const ChatMessage> messages) const override {
    ChatPrompt prompt;
    prompt.text = apply_template(server, messages);
    prompt.opens_thinking = opens_thinking(prompt.text);
    bool spells_control = false;
    for (const ChatMessage& message : messages) {
      spells_control = spells_control || tokenize(server, message.content, true, false) !=
                                             tokenize(server, message.content, false, false);
    }
    if (!spells_control) {
      prompt.tokens = with_bos(server, tokenize(server, prompt.text, true, false));
      return prompt;
    }
    // A message that spells control tokens is tokenized by itself, so that it cannot end its own turn: the template is
    // applied to marks, which then give way to the messages' tokens.
    std::vector<ChatMessage> marked(messages.begin(), messages.end());
    for (std::size_t i = 0; i < marked.size(); ++i) marked[i].content = mark(i);
    std::string rest = apply_template(server, marked);
    prompt.text.clear();
    const auto append = [&](const std::string& text, bool special) {
      const std::vector<Token> tokens = tokenize(server, text, special, false);
      prompt.tokens.insert(prompt.tokens.end(), tokens.begin(), tokens.end());
      prompt.text += text;
    };
    for (std::size_t i = 0; i < marked.size(); ++i) {
      const std::size_t at = rest.find(mark(i));
      if (at == std::string::npos) throw Error("the server's chat template changes messages that spell control tokens");
      append(rest.substr(0, at), true);
      append(messages[i].content, false);
      rest.erase(0, at + mark(i).size());
    }
    append(rest, true);
    prompt.tokens = with_bos(server, std::move(prompt.tokens));
    return prompt;
  }

 private:
  static std::string mark(std::size_t i) { return fmt::format("dts-message-{}-of-this-prompt", i); }

  std::string apply_template(const Asker& server, std::span<const ChatMessage> messages) const {
    json list = json::array();
    for (const ChatMessage& message : messages) list.push_back({{"role", message.role}, {"content", message.content}});
    const json answer = server.ask({"/apply-template", true, {{"messages", list}}});
    std::string text = text_in(member(answer, "prompt"));
    if (text.empty()) throw Error("llama-server applied its chat template and gave nothing");
    return text;
  }

  // The beginning-of-text token, where the model wants one and the template has not written it.
  std::vector<Token> with_bos(const Asker& server, std::vector<Token> tokens) const {
    const std::vector<Token> bos = tokenize(server, "", true, true);
    if (!bos.empty() && (tokens.empty() || tokens.front() != bos.front())) tokens.insert(tokens.begin(), bos.front());
    return tokens;
  }
};

}  // namespace

std::unique_ptr<Protocol> make_llama_server_protocol(std::string served_model) {
  return std::make_unique<LlamaServer>(std::move(served_model));
}

}  // namespace dts::remote
