#include "dts/vocabulary.h"

#include <algorithm>

namespace dts {

std::vector<Token> Vocabulary::tokenize_prompt(std::string_view text) const { return tokenize(text, /*special=*/true); }

std::size_t Vocabulary::longest_piece() const {
  std::size_t longest = 1;
  for (Token token = 0; token < size(); ++token) longest = std::max(longest, piece(token, /*special=*/true).size());
  return longest;
}

std::string Vocabulary::detokenize(std::span<const Token> tokens, bool special) const {
  std::string text;
  for (const Token token : tokens) text += piece(token, special);
  return text;
}

}  // namespace dts
