#include "dts/vocabulary.h"

#include "dts/error.h"

namespace dts {

std::vector<Token> Vocabulary::tokenize_prompt(std::string_view text) const { return tokenize(text, /*special=*/true); }

ChatPrompt Vocabulary::chat_with(std::span<const ChatMessage> messages, const ChatOptions& options) const {
  if (!options.plain()) throw usage_error("this model's chats have neither tools nor template variables");
  return chat(messages);
}

std::unique_ptr<LogitsFilter> Vocabulary::grammar_filter(const std::string&, bool) const {
  throw usage_error("this model cannot follow a grammar");
}

std::string Vocabulary::grammar_of_schema(const std::string&) const {
  throw usage_error("this model cannot follow a JSON schema");
}

std::string Vocabulary::detokenize(std::span<const Token> tokens, bool special) const {
  std::string text;
  for (const Token token : tokens) text += piece(token, special);
  return text;
}

}  // namespace dts
