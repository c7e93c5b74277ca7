// What the server's tests share: a vocabulary without a model, and a service on an engine without one.
#pragma once

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dts/vocabulary.h"
#include "serve/service.h"
#include "support/scripted_engine.h"

namespace dts::serve {

// Token i is pieces[i]; the last one ends a trajectory.
class PieceVocabulary final : public Vocabulary {
 public:
  explicit PieceVocabulary(std::vector<std::string> pieces, bool opens_thinking = false)
      : pieces_(std::move(pieces)), opens_thinking_(opens_thinking) {}

  int size() const override { return static_cast<int>(pieces_.size()); }
  Token end() const { return size() - 1; }
  std::string piece(Token token, bool /*special*/) const override {
    if (before_piece) before_piece(token);
    return pieces_[static_cast<std::size_t>(token)];
  }
  bool is_end(Token token) const override { return token == end(); }
  std::size_t longest_piece() const override {
    std::size_t longest = 1;
    for (const std::string& piece : pieces_) longest = std::max(longest, piece.size());
    return longest;
  }
  // One token a byte: enough for prompts.
  std::vector<Token> tokenize(std::string_view text, bool /*special*/) const override {
    if (before_tokenize) before_tokenize();
    std::vector<Token> tokens;
    for (const char c : text) tokens.push_back(static_cast<unsigned char>(c) % end());
    return tokens;
  }
  ChatPrompt chat(std::span<const ChatMessage> messages) const override {
    ChatPrompt prompt;
    for (const ChatMessage& message : messages) prompt.text += message.role + ":" + message.content + "\n";
    prompt.tokens = tokenize(prompt.text, true);
    prompt.opens_thinking = opens_thinking_;
    return prompt;
  }

  std::function<void()> before_tokenize;    // on whatever thread tokenizes
  std::function<void(Token)> before_piece;  // the same

 private:
  std::vector<std::string> pieces_;
  bool opens_thinking_;
};

// Pieces that are hard on whoever puts them together: parts of characters, of tags and of stop strings.
inline std::vector<std::string> awkward_pieces() {
  return {"a",  "b",  " ",      "\n",       "\xC3", "\xA9", "\xE2\x82", "\xAC", "\xFF", "<",        "<th", "ink>",
          "</", "th", "think>", "</think>", "STO",  "OP",   "TOP",      "7",    "8",    "\\boxed{", "}",   "<end>"};
}

// Never ends by itself: only budgets and cancellation stop it.
inline void endless(std::span<const Token> /*tokens*/, std::span<float> logits) {
  std::fill(logits.begin(), logits.end(), -30.0F);
  logits[0] = 10.0F;
}

// A service on an engine without a model.
struct ScriptedService {
  explicit ScriptedService(LogitsScript script, ServiceOptions options = {}, int max_branches = 48)
      : engine(sized(vocabulary, max_branches), std::move(script)),
        service(with_model(std::move(options)), engine, vocabulary) {
    spdlog::set_level(spdlog::level::off);
  }

  static ScriptedEngineOptions sized(const PieceVocabulary& vocabulary, int max_branches) {
    ScriptedEngineOptions options;
    options.n_vocab = vocabulary.size();
    options.max_branches = max_branches;
    options.context_length = 512;
    return options;
  }
  static ServiceOptions with_model(ServiceOptions options) {
    options.model.id = "scripted";
    options.model.name = "a scripted model";
    options.defaults.numbers.branch.tau_v = 0.4;
    options.defaults.numbers.branch.max_branches = 8;
    return options;
  }
  static LogitsScript random(std::uint64_t seed) {
    const int size = static_cast<int>(awkward_pieces().size());
    return RandomScript{seed, size, size - 1, 2.0};
  }

  PieceVocabulary vocabulary{awkward_pieces()};
  ScriptedEngine engine;
  Service service;
};

inline HttpRequest get(std::string path, std::vector<std::pair<std::string, std::string>> headers = {}) {
  return {"GET", std::move(path), std::move(headers), {}};
}

inline HttpRequest post(std::string path, std::string body) {
  return {"POST", std::move(path), {{"content-type", "application/json"}}, std::move(body)};
}

// Reads a reply as a connection does, but blocks.
class Reading {
 public:
  explicit Reading(Service::Handled handled) : handled_(std::move(handled)) {
    handled_.reply->on_change([this] {
      const std::scoped_lock lock(mutex_);
      changed_ = true;
      condition_.notify_all();
    });
  }

  const std::string& id() const { return handled_.id; }

  HttpResponse whole() {
    std::optional<HttpResponse> head;
    while (!(head = handled_.reply->head())) wait();
    if (handled_.reply->streams()) {
      while (!next(head->body)) wait();
    }
    return *head;
  }
  // Appends what there is; true at the end.
  bool next(std::string& out) {
    while (true) {
      const Reply::Piece piece = handled_.reply->next();
      out += piece.data;
      if (piece.end) return true;
      if (piece.data.empty()) return false;
    }
  }
  void wait() {
    std::unique_lock lock(mutex_);
    condition_.wait_for(lock, std::chrono::milliseconds(50), [this] { return changed_; });
    changed_ = false;
  }
  void leave() { handled_.reply.reset(); }

 private:
  std::mutex mutex_;
  std::condition_variable condition_;
  bool changed_ = false;
  Service::Handled handled_;  // last: it calls into the others until it is gone
};

}  // namespace dts::serve
