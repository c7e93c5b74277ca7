// A grammar as a filter of logits: llama.cpp's own grammar engine, one state a trajectory.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "dts/logits_filter.h"

struct llama_sampler;
struct llama_vocab;

namespace dts {

// What tokens begin with. A grammar that forbids a character forbids all that begin with it, so few need be asked for.
struct FirstCharacters {
  static constexpr int kAscii = 128;

  explicit FirstCharacters(const llama_vocab* vocab);

  std::vector<unsigned char> of;     // [n_vocab] a token's first byte; 0: it has none
  std::array<Token, kAscii> single;  // the token that is this character and nothing else; -1: there is none
};

class GrammarFilter final : public LogitsFilter {
 public:
  // `ends`: the tokens that end a trajectory. All three must outlive it and its clones. Throws a usage error when the
  // grammar does not parse or has no rule `root`. `spaced`: up to two blanks or line ends may come before.
  GrammarFilter(const llama_vocab* vocab, const FirstCharacters& firsts, const std::vector<Token>& ends,
                const std::string& gbnf, bool spaced);
  ~GrammarFilter() override;

  std::unique_ptr<LogitsFilter> clone() const override;
  // Throws an Error when the grammar has become so ambiguous that it holds all others up.
  void accept(Token token) override;
  void apply(std::span<float> logits) const override;

 private:
  struct Free {
    void operator()(llama_sampler* sampler) const;
  };

  GrammarFilter(const GrammarFilter& other);
  bool complete() const;
  // Which ASCII characters may come next; those that no token is alone may.
  std::array<bool, FirstCharacters::kAscii> allowed_characters() const;

  const llama_vocab* vocab_;
  const FirstCharacters& firsts_;
  const std::vector<Token>& ends_;
  std::unique_ptr<llama_sampler, Free> state_;
  mutable double slowest_ = 0;  // seconds of this thread's that an apply() took
};

}  // namespace dts
