// The tokens of a text, written out as they are taken: as JSON they are up to a hundred times as long.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dts/vocabulary.h"
#include "serve/http/http.h"

namespace dts::serve {

class TokenListReply final : public Reply {
 public:
  using Clock = std::chrono::steady_clock;

  // `pieces`, which outlives it: each token with its text, by that vocabulary; null: without. `held` lives as long as
  // the reply. Who has not taken all of it at `last` gets no more.
  TokenListReply(std::vector<Token> tokens, const Vocabulary* pieces, std::shared_ptr<const void> held,
                 Clock::time_point last)
      : tokens_(std::move(tokens)), pieces_(pieces), held_(std::move(held)), last_(last) {}

  void on_change(std::function<void()> /*wake*/) override {}
  std::optional<HttpResponse> head() override;
  bool streams() const override { return tokens_.size() > kAtOnce; }
  Piece next() override;

 private:
  static constexpr std::size_t kAtOnce = 2048;  // tokens

  std::string some();

  std::vector<Token> tokens_;
  const Vocabulary* pieces_;
  std::shared_ptr<const void> held_;
  Clock::time_point last_;
  std::size_t written_ = 0;
};

}  // namespace dts::serve
