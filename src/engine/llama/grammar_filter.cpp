#include "engine/llama/grammar_filter.h"

#include <llama.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "dts/error.h"

namespace dts {
namespace {

constexpr float kForbidden = -std::numeric_limits<float>::infinity();

// llama.cpp's parser recurses into groups, and a grammar comes from whoever asks.
void check_groups(const std::string& gbnf) {
  constexpr int kMostGroups = 200;
  constexpr std::size_t kMostBytes = std::size_t{256} << 10U;
  if (gbnf.size() > kMostBytes) throw usage_error("the grammar is longer than 256 KiB");
  int groups = 0;
  char inside = 0;  // the character that ends a literal or a set
  for (std::size_t i = 0; i < gbnf.size(); ++i) {
    const char c = gbnf[i];
    if (c == '\\') {
      ++i;
    } else if (inside != 0) {
      if (c == inside) inside = 0;
    } else if (c == '"' || c == '[') {
      inside = c == '"' ? '"' : ']';
    } else if (c == '#') {
      i = std::min(gbnf.find('\n', i), gbnf.size());
    } else if (c == '(') {
      if (++groups > kMostGroups) throw usage_error("the grammar nests groups deeper than 200");
    } else if (c == ')') {
      --groups;
    }
  }
}

}  // namespace

void GrammarFilter::Free::operator()(llama_sampler* sampler) const { llama_sampler_free(sampler); }

GrammarFilter::GrammarFilter(const llama_vocab* vocab, const std::vector<Token>& ends, const std::string& gbnf,
                             bool spaced)
    : vocab_(vocab), ends_(ends) {
  if (llama_vocab_eos(vocab) == LLAMA_TOKEN_NULL)
    throw usage_error("this model has no end token: it cannot follow a grammar");
  check_groups(gbnf);
  const char* root = spaced ? "dts-spaced-root" : "root";
  const std::string rules = spaced ? gbnf + "\ndts-spaced-root ::= [ \\n]? [ \\n]? root\n" : gbnf;
  state_.reset(llama_sampler_init_grammar(vocab, rules.c_str(), root));
  if (!state_ || gbnf.empty())
    throw usage_error("the grammar does not parse: it must be GBNF, with a rule root and no left recursion");
}

GrammarFilter::GrammarFilter(const GrammarFilter& other)
    : LogitsFilter(other), vocab_(other.vocab_), ends_(other.ends_), state_(llama_sampler_clone(other.state_.get())) {}

GrammarFilter::~GrammarFilter() = default;

std::unique_ptr<LogitsFilter> GrammarFilter::clone() const {
  return std::unique_ptr<LogitsFilter>(new GrammarFilter(*this));
}

void GrammarFilter::accept(Token token) { llama_sampler_accept(state_.get(), token); }

// May the text end here? llama.cpp tells it by what it does to the end token.
bool GrammarFilter::complete() const {
  llama_token_data end{llama_vocab_eos(vocab_), 0.0F, 0.0F};
  llama_token_data_array list{&end, 1, -1, false};
  llama_sampler_apply(state_.get(), &list);
  return std::isfinite(end.logit);
}

void GrammarFilter::apply(std::span<float> logits) const {
  std::vector<llama_token_data> candidates;
  candidates.reserve(logits.size());
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const auto token = static_cast<Token>(i);
    if (logits[i] > kForbidden && !llama_vocab_is_eog(vocab_, token)) candidates.push_back({token, logits[i], 0.0F});
  }
  // What ends a trajectory is our business: llama.cpp has a list of its own.
  std::vector<float> end_logits;
  for (const Token end : ends_) end_logits.push_back(logits[static_cast<std::size_t>(end)]);
  llama_token_data_array list{candidates.data(), candidates.size(), -1, false};
  llama_sampler_apply(state_.get(), &list);
  for (float& logit : logits) logit = kForbidden;
  for (const llama_token_data& candidate : candidates) logits[static_cast<std::size_t>(candidate.id)] = candidate.logit;
  const bool may_end = complete();
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    logits[static_cast<std::size_t>(ends_[i])] = may_end ? end_logits[i] : kForbidden;
  }
}

}  // namespace dts
