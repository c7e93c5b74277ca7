#include "engine/llama/grammar_filter.h"

#include <llama.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/thread_time.h"
#include "dts/error.h"
#include "engine/llama/grammar_check.h"

namespace dts {
namespace {

// llama.cpp keeps a stack for every way to have read the text, which may double with every character.
constexpr double kPatience = 1;  // seconds

constexpr float kForbidden = -std::numeric_limits<float>::infinity();

}  // namespace

void GrammarFilter::Free::operator()(llama_sampler* sampler) const { llama_sampler_free(sampler); }

FirstCharacters::FirstCharacters(const llama_vocab* vocab) : of(static_cast<std::size_t>(llama_vocab_n_tokens(vocab))) {
  single.fill(-1);
  for (std::size_t i = 0; i < of.size(); ++i) {
    const auto token = static_cast<Token>(i);
    std::array<char, 256> piece{};
    const int size = llama_token_to_piece(vocab, token, piece.data(), static_cast<int>(piece.size()), 0, true);
    if (size == 0) continue;
    if (size < 0) {  // longer than that: it begins with anything
      of[i] = 0;
      continue;
    }
    of[i] = static_cast<unsigned char>(piece[0]);
    if (size == 1 && of[i] < kAscii && !llama_vocab_is_eog(vocab, token)) single[of[i]] = token;
  }
}

GrammarFilter::GrammarFilter(const llama_vocab* vocab, const FirstCharacters& firsts, const std::vector<Token>& ends,
                             const std::string& gbnf, bool spaced)
    : vocab_(vocab), firsts_(firsts), ends_(ends) {
  if (llama_vocab_eos(vocab) == LLAMA_TOKEN_NULL)
    throw usage_error("this model has no end token: it cannot follow a grammar");
  check_grammar(gbnf);
  const char* root = spaced ? "dts-spaced-root" : "root";
  const std::string rules = spaced ? gbnf + "\ndts-spaced-root ::= [ \\n]? [ \\n]? root\n" : gbnf;
  state_.reset(llama_sampler_init_grammar(vocab, rules.c_str(), root));
  if (!state_) throw usage_error("the grammar is refused by llama.cpp: it must be GBNF, without left recursion");
}

GrammarFilter::GrammarFilter(const GrammarFilter& other)
    : LogitsFilter(other),
      vocab_(other.vocab_),
      firsts_(other.firsts_),
      ends_(other.ends_),
      state_(llama_sampler_clone(other.state_.get())) {}

GrammarFilter::~GrammarFilter() = default;

std::unique_ptr<LogitsFilter> GrammarFilter::clone() const {
  return std::unique_ptr<LogitsFilter>(new GrammarFilter(*this));
}

void GrammarFilter::accept(Token token) {
  const double begin = thread_seconds();
  if (slowest_ < kPatience) llama_sampler_accept(state_.get(), token);
  if (std::max(slowest_, thread_seconds() - begin) >= kPatience) {
    throw Error("the grammar is too ambiguous: what has been said can be read in too many ways");
  }
}

// May the text end here? llama.cpp tells it by what it does to the end token.
bool GrammarFilter::complete() const {
  llama_token_data end{llama_vocab_eos(vocab_), 0.0F, 0.0F};
  llama_token_data_array list{&end, 1, -1, false};
  llama_sampler_apply(state_.get(), &list);
  return std::isfinite(end.logit);
}

std::array<bool, FirstCharacters::kAscii> GrammarFilter::allowed_characters() const {
  std::array<bool, FirstCharacters::kAscii> allowed{};
  std::vector<llama_token_data> probes;
  for (std::size_t c = 0; c < allowed.size(); ++c) {
    allowed[c] = c == 0 || firsts_.single[c] < 0;
    if (!allowed[c]) probes.push_back({firsts_.single[c], 0.0F, 0.0F});
  }
  llama_token_data_array list{probes.data(), probes.size(), -1, false};
  llama_sampler_apply(state_.get(), &list);
  for (const llama_token_data& probe : probes) {
    allowed[firsts_.of[static_cast<std::size_t>(probe.id)]] = std::isfinite(probe.logit);
  }
  return allowed;
}

void GrammarFilter::apply(std::span<float> logits) const {
  const double begin = thread_seconds();
  const auto allowed = allowed_characters();
  std::vector<llama_token_data> candidates;
  candidates.reserve(logits.size());
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const auto token = static_cast<Token>(i);
    const unsigned char first = firsts_.of[i];
    if (first < FirstCharacters::kAscii && !allowed[first]) continue;
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
  slowest_ = std::max(slowest_, thread_seconds() - begin);
}

}  // namespace dts
