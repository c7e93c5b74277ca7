// A model's text as its servers know it. Pieces are learned from the streams, else asked for, and kept.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "dts/vocabulary.h"
#include "engine/remote/server_protocol.h"

namespace dts::remote {

class RemoteVocabulary final : public Vocabulary, public PieceSink {
 public:
  // `own`: does all that can be done here; null: the servers do.
  RemoteVocabulary(const Protocol& protocol, const Asker& server, const ServerModel& model, const Vocabulary* own);

  int size() const override { return size_; }
  std::string piece(Token token, bool special) const override;
  std::vector<Token> tokenize(std::string_view text, bool special) const override;
  std::vector<Token> tokenize_prompt(std::string_view text) const override;
  bool is_end(Token token) const override;
  ChatPrompt chat(std::span<const ChatMessage> messages) const override;

  void learn(Token token, std::string_view bytes) override;
  void learn_end(Token token) override;
  Token token_of(std::string_view bytes) override;
  std::vector<Token> words_of(std::string_view text) override { return intern_words(text); }
  std::string text_of(Token token) override { return piece(token, true); }
  Token end_token() override { return kEnd; }

 private:
  // No server has so many tokens.
  static constexpr Token kEnd = 0x7FFFFFFF;
  static constexpr Token kFirstText = 0x40000000;  // ids of texts that have none
  // Texts are kept for ever, so their number and their bytes are bounded; what does not fit is spelled in single bytes.
  static constexpr std::size_t kMostTexts = std::size_t{1} << 19U;
  static constexpr std::size_t kMostTextBytes = std::size_t{64} << 20U;

  Token intern(std::string_view bytes) const;
  Token intern_locked(std::string_view bytes) const;
  bool has_room(std::string_view bytes) const;  // locked
  std::vector<Token> intern_words(std::string_view text) const;
  void find_end_tokens(const ServerModel& model);

  const Protocol& protocol_;
  const Asker& server_;
  const Vocabulary* own_;
  int size_;
  mutable std::mutex mutex_;
  mutable std::unordered_map<Token, std::string> pieces_;
  mutable std::unordered_map<std::string, Token> tokens_;  // of texts that have no id of the server's
  mutable std::unordered_set<Token> ends_;
  mutable std::size_t text_bytes_ = 0;  // of tokens_
};

}  // namespace dts::remote
