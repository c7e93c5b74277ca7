// For tests to which text does not matter.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/remote/server_protocol.h"

namespace dts {

struct NoPieces final : remote::PieceSink {
  void learn(Token, std::string_view) override {}
  void learn_end(Token) override {}
  Token token_of(std::string_view) override { return 0; }
  std::vector<Token> words_of(std::string_view) override { return {0}; }
  std::string text_of(Token) override { return {}; }
  Token end_token() override { return 0; }
};

}  // namespace dts
