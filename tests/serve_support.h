// What the server's tests share: a vocabulary without a model, and a service on an engine without one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dts/vocabulary.h"

namespace dts::serve {

// Token i is pieces[i]; the last one ends a trajectory.
class PieceVocabulary final : public Vocabulary {
 public:
  explicit PieceVocabulary(std::vector<std::string> pieces, bool opens_thinking = false)
      : pieces_(std::move(pieces)), opens_thinking_(opens_thinking) {}

  int size() const override { return static_cast<int>(pieces_.size()); }
  Token end() const { return size() - 1; }
  std::string piece(Token token, bool /*special*/) const override { return pieces_[static_cast<std::size_t>(token)]; }
  bool is_end(Token token) const override { return token == end(); }
  // One token a byte: enough for prompts.
  std::vector<Token> tokenize(std::string_view text, bool /*special*/) const override {
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

 private:
  std::vector<std::string> pieces_;
  bool opens_thinking_;
};

// Pieces that are hard on whoever puts them together: parts of characters, of tags and of stop strings.
inline std::vector<std::string> awkward_pieces() {
  return {"a",  "b",  " ",      "\n",       "\xC3", "\xA9", "\xE2\x82", "\xAC", "\xFF", "<",        "<th", "ink>",
          "</", "th", "think>", "</think>", "STO",  "OP",   "TOP",      "7",    "8",    "\\boxed{", "}",   "<end>"};
}

}  // namespace dts::serve
