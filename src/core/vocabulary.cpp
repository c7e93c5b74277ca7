#include "dts/vocabulary.h"

namespace dts {

std::vector<Token> Vocabulary::tokenize_prompt(std::string_view text) const { return tokenize(text, /*special=*/true); }

std::string Vocabulary::detokenize(std::span<const Token> tokens, bool special) const {
  std::string text;
  for (const Token token : tokens) text += piece(token, special);
  return text;
}

}  // namespace dts
