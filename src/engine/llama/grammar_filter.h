// A grammar as a filter of logits: llama.cpp's own grammar engine, one state a trajectory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dts/logits_filter.h"

struct llama_sampler;
struct llama_vocab;

namespace dts {

class GrammarFilter final : public LogitsFilter {
 public:
  // `ends`: the tokens that end a trajectory. Both must outlive it and its clones. Throws a usage error when the
  // grammar does not parse or has no rule `root`. `spaced`: up to two blanks or line ends may come before.
  GrammarFilter(const llama_vocab* vocab, const std::vector<Token>& ends, const std::string& gbnf, bool spaced);
  ~GrammarFilter() override;

  std::unique_ptr<LogitsFilter> clone() const override;
  void accept(Token token) override;
  void apply(std::span<float> logits) const override;

 private:
  struct Free {
    void operator()(llama_sampler* sampler) const;
  };

  GrammarFilter(const GrammarFilter& other);
  bool complete() const;

  const llama_vocab* vocab_;
  const std::vector<Token>& ends_;
  std::unique_ptr<llama_sampler, Free> state_;
};

}  // namespace dts
