// Text in and out of a model: tokens, pieces, end tokens, chat templates.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dts/logits_filter.h"
#include "dts/prediction.h"

namespace dts {

// A tool that the model asks for.
struct ToolCall {
  std::string id;  // what the tool's message names
  std::string name;
  std::string arguments;  // a JSON object
};

struct ChatMessage {
  std::string role;                       // "system", "user", "assistant", "tool"
  std::string content;                    // UTF-8
  std::vector<ToolCall> tool_calls = {};  // of an assistant's message
  std::string tool_call_id = {};          // of a tool's message
  std::string name = {};                  // of a tool's message: the tool's
  std::string reasoning = {};             // of an assistant's message, where the template shows it
};

// What a chat template is given beside the messages.
struct ChatOptions {
  std::string tools;      // a JSON list, each as OpenAI has it; empty: none
  std::string variables;  // a JSON object: more of what the template may ask for (enable_thinking, say); empty: none

  bool plain() const { return tools.empty() && variables.empty(); }
};

// How a model writes that it calls a tool.
enum class ToolFormat : std::uint8_t {
  kHermes,  // <tool_call>{"name": ..., "arguments": {...}}</tool_call>, any number of them
  kLlama3,  // {"name": ..., "parameters": {...}}, all of the content
  kPhi4,    // <|tool_call|>[{"name": ..., "arguments": {...}}, ...]<|/tool_call|>
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
  // The same with tools and more. A template that knows no tools gets them as text of the system's message, in
  // tool_format(). Default: refuses what is not plain.
  virtual ChatPrompt chat_with(std::span<const ChatMessage> messages, const ChatOptions& options) const;
  virtual ToolFormat tool_format() const { return ToolFormat::kHermes; }

  // What follows a grammar (llama.cpp's GBNF) from its rule `root` on, and then ends. Throws a usage error when the
  // grammar is wrong, and when there is no way to follow one. `spaced`: up to two blanks or line ends may come before.
  virtual std::unique_ptr<LogitsFilter> grammar_filter(const std::string& gbnf, bool spaced) const;
  // The grammar of the JSON values that a schema allows. Throws as grammar_filter() does.
  virtual std::string grammar_of_schema(const std::string& json_schema) const;

  std::string detokenize(std::span<const Token> tokens, bool special = false) const;
};

}  // namespace dts
