// A GGUF model's vocabulary through llama.cpp.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dts/vocabulary.h"
#include "engine/llama/chat_template.h"
#include "engine/llama/gguf_file.h"

struct llama_model;
struct llama_vocab;

namespace dts {

class TokenTrie;

// Thread-safe: everything is read only but the chat template, which is parsed when first asked for.
class LlamaVocabulary final : public Vocabulary {
 public:
  // `model` must outlive it. `path` is for error texts.
  LlamaVocabulary(const llama_model* model, const GgufFacts& facts, std::string path);
  ~LlamaVocabulary() override;

  int size() const override { return size_; }
  std::string piece(Token token, bool special) const override;
  std::vector<Token> tokenize(std::string_view text, bool special) const override;
  std::vector<Token> tokenize_prompt(std::string_view text) const override;
  bool is_end(Token token) const override;
  std::size_t longest_piece() const override;
  ChatPrompt chat(std::span<const ChatMessage> messages) const override { return chat_with(messages, {}); }
  ChatPrompt chat_with(std::span<const ChatMessage> messages, const ChatOptions& options) const override;
  ToolFormat tool_format() const override;
  std::unique_ptr<LogitsFilter> grammar_filter(const std::string& gbnf, bool spaced) const override;
  std::string grammar_of_schema(const std::string& json_schema) const override;

 private:
  bool is_control(Token token) const;
  bool spells_control(std::string_view text) const;
  // What a template makes of these cannot be told from what it wrote itself.
  void check_unmarked(std::span<const ChatMessage> messages, const ChatOptions& options) const;
  void add_bos(std::vector<Token>& tokens) const;
  const ChatTemplate& chat_template() const;
  std::vector<std::string> grammar_pieces() const;

  const llama_vocab* vocab_;
  const char* template_source_;  // null: the model has none; owned by the model
  std::string path_;
  int size_ = 0;
  std::vector<bool> ends_;         // [size_]
  std::vector<Token> end_tokens_;  // the same as a list
  mutable std::once_flag measured_;
  mutable std::size_t longest_piece_ = 0;  // bytes, once measured_
  mutable std::once_flag trie_made_;
  mutable std::unique_ptr<const TokenTrie> trie_;  // once trie_made_
  mutable std::mutex template_mutex_;
  mutable std::optional<ChatTemplate> template_;
};

}  // namespace dts
