// Text in and out of a model: tokens, pieces, end tokens, chat templates.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dts/prediction.h"

namespace dts {

struct ChatMessage {
  std::string role;     // "system", "user", "assistant"
  std::string content;  // UTF-8
};

struct ChatPrompt {
  std::string text;
  // What to decode: the tokens of `text` with the beginning-of-text token where the model wants one. Control tokens
  // that a message spells are plain text here, so that a message cannot end its own turn.
  std::vector<Token> tokens;
  bool opens_thinking = false;  // the template itself ends with an opened <think>: a trajectory starts inside it
};

class Vocabulary {
 public:
  Vocabulary() = default;
  Vocabulary(const Vocabulary&) = delete;
  Vocabulary& operator=(const Vocabulary&) = delete;
  virtual ~Vocabulary() = default;

  virtual int size() const = 0;  // tokens; 0: not known
  // Bytes of one token; a UTF-8 character may span several. Control tokens have their name only when `special`.
  virtual std::string piece(Token token, bool special = false) const = 0;
  // The text's tokens and nothing more. `special`: control tokens written in the text become those tokens.
  virtual std::vector<Token> tokenize(std::string_view text, bool special) const = 0;
  // A whole prompt, as written: control tokens are recognised, and the beginning-of-text token comes first where the
  // model wants one and the text does not bring it.
  virtual std::vector<Token> tokenize_prompt(std::string_view text) const;
  virtual bool is_end(Token token) const = 0;
  // Bytes that a token stands for at most; 0: not known. May walk the vocabulary when it is first asked.
  virtual std::size_t longest_piece() const { return 0; }

  // Applies the model's chat template with a generation prompt. Throws dts::Error when it has none or it fails.
  virtual ChatPrompt chat(std::span<const ChatMessage> messages) const = 0;

  std::string detokenize(std::span<const Token> tokens, bool special = false) const;
};

}  // namespace dts
