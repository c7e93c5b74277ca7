// What a grammar allows: against llama.cpp's own engine on its vocabularies, and against all stacks written out on
// random ones. And what it may cost.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <llama.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "dts/error.h"
#include "engine/llama/grammar_filter.h"
#include "support/all_stacks.h"
#include "support/llama_models.h"

namespace dts {
namespace {

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t n) { return random() % n; }

template <typename T>
const T& one_of(Random& random, const std::vector<T>& list) {
  return list[below(random, list.size())];
}

// A few rules over few characters, so that they meet often. Some of them have left recursion: those are refused.
class GrammarWriter {
 public:
  explicit GrammarWriter(std::uint64_t seed) : random_(seed) {}

  std::string write() {
    std::string text;
    for (const char* name : kNames) text += fmt::format("{} ::= {}\n", name, alternatives(2));
    return text;
  }

 private:
  static constexpr std::array<const char*, 4> kNames = {"root", "x", "y", "z"};

  std::string alternatives(int depth) {
    std::string text = sequence(depth);
    for (std::size_t n = below(random_, 3); n > 0; --n) text += " | " + sequence(depth);
    return text;
  }

  std::string sequence(int depth) {
    std::string text = "\"\" ";  // a bar at the end of a line goes on with the next
    // Something that is read comes first more often than not, or all is left recursion.
    if (below(random_, 3) > 0) text += terminal() + repetition() + " ";
    for (std::size_t n = below(random_, 3); n > 0; --n) text += item(depth) + repetition() + " ";
    return text;
  }

  std::string item(int depth) {
    const std::size_t kind = below(random_, 5);
    if (kind == 0 && depth > 0) return "(" + alternatives(depth - 1) + ")";
    if (kind <= 1) return kNames[1 + below(random_, 3)];
    return terminal();
  }

  std::string terminal() {
    static const std::vector<std::string> kTerminals = {R"("a")",
                                                        R"("b")",
                                                        R"("ab")",
                                                        R"("ä")",
                                                        R"("€")",
                                                        R"("{\"")",
                                                        "[a-c]",
                                                        "[^a-c]",
                                                        "[^\"]",
                                                        "[ab€-\U0001F600]",
                                                        ".",
                                                        R"("\U0001F600")",
                                                        R"([\u00e0-\u00ff])",
                                                        "[z-a]",
                                                        "[ \\n]",
                                                        "[0-9]",
                                                        R"("\n")",
                                                        "[^\\x00-\\x7f]"};
    return one_of(random_, kTerminals);
  }

  std::string repetition() {
    static const std::vector<std::string> kRepetitions = {"",  "",    "",      "",      "*",   "+",
                                                          "?", "{2}", "{0,3}", "{1,2}", "{2,}"};
    return one_of(random_, kRepetitions);
  }

  Random random_;
};

bool is_allowed(const TokenMask& mask, Token token) {
  const auto i = static_cast<std::size_t>(token);
  return (mask[i / 64] >> (i % 64) & 1U) != 0;
}

// A vocabulary of llama.cpp's source tree, and what we make of it.
struct RealVocabulary {
  explicit RealVocabulary(const std::string& name) {
    llama_model_params params = llama_model_default_params();
    params.vocab_only = true;
    params.n_gpu_layers = 0;
    model.reset(llama_model_load_from_file(vocabulary_file(name).c_str(), params));
    vocab = llama_model_get_vocab(model.get());
    std::vector<std::string> pieces(static_cast<std::size_t>(llama_vocab_n_tokens(vocab)));
    for (Token token = 0; token < llama_vocab_n_tokens(vocab); ++token) {
      std::array<char, 512> piece{};
      const int size = llama_token_to_piece(vocab, token, piece.data(), static_cast<int>(piece.size()), 0, true);
      if (llama_vocab_is_eog(vocab, token)) {
        ends.push_back(token);
      } else {
        pieces[static_cast<std::size_t>(token)].assign(piece.data(), static_cast<std::size_t>(std::max(size, 0)));
      }
    }
    trie = std::make_unique<TokenTrie>(pieces);
  }

  struct Free {
    void operator()(llama_model* loaded) const { llama_model_free(loaded); }
    void operator()(llama_sampler* sampler) const { llama_sampler_free(sampler); }
  };
  std::unique_ptr<llama_model, Free> model;
  const llama_vocab* vocab = nullptr;
  std::vector<Token> ends;
  std::unique_ptr<TokenTrie> trie;
};

// Says random sentences of `gbnf`, and asks llama.cpp's engine about `asked` tokens and the ends at every place.
// Returns how many masks were compared.
int compare_with_llama(const RealVocabulary& real, const std::string& gbnf, const std::vector<Token>& asked,
                       int most_tokens, Random& random) {
  auto matcher = std::make_shared<GrammarMatcher>(*real.trie, real.ends, read_grammar(gbnf, "root"));
  std::unique_ptr<llama_sampler, RealVocabulary::Free> oracle(
      llama_sampler_init_grammar(real.vocab, gbnf.c_str(), "root"));
  if (!oracle) return 0;  // ours follows some that repeat nothing any number of times
  int compared = 0;
  GrammarMatcher::Position position = matcher->start();
  std::string said;
  for (int n = 0; n < most_tokens; ++n) {
    std::vector<llama_token_data> candidates;
    for (const Token token : asked) candidates.push_back({token, 1.0F, 0.0F});
    for (const Token token : real.ends) candidates.push_back({token, 1.0F, 0.0F});
    llama_token_data_array list{candidates.data(), candidates.size(), -1, false};
    llama_sampler_apply(oracle.get(), &list);
    std::vector<Token> allowed;
    for (const llama_token_data& candidate : candidates) {
      const bool may = std::isfinite(candidate.logit);
      if (is_allowed(*position.mask, candidate.id) != may) {
        ADD_FAILURE() << "after '" << said << "' llama.cpp " << (may ? "allows" : "forbids") << " token "
                      << candidate.id << " '" << real.trie->piece(candidate.id) << "' of\n"
                      << gbnf;
        return compared;
      }
      if (may && !llama_vocab_is_eog(real.vocab, candidate.id)) allowed.push_back(candidate.id);
    }
    ++compared;
    if (allowed.empty()) break;
    const Token token = one_of(random, allowed);
    said += real.trie->piece(token);
    llama_sampler_accept(oracle.get(), token);
    const GrammarMatcher::Position next = matcher->after(position, token);
    matcher->drop(position);
    position = next;
  }
  matcher->drop(position);
  return compared;
}

class GrammarVocabularies : public ::testing::TestWithParam<const char*> {};

TEST_P(GrammarVocabularies, AllowWhatLlamaAllowsByRandomGrammars) {
  const RealVocabulary real(GetParam());
  Random random(7);
  // All short tokens, where the grammars differ most, and some of the others.
  std::vector<Token> asked;
  for (Token token = 0; token < llama_vocab_n_tokens(real.vocab); ++token) {
    const std::size_t length = real.trie->piece(token).size();
    if (length > 0 && (length <= 2 || below(random, 100) == 0)) asked.push_back(token);
  }
  int compared = 0, ambiguous = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const std::string gbnf = GrammarWriter(seed).write();
    try {
      compared += compare_with_llama(real, gbnf, asked, 6, random);
    } catch (const Error& error) {
      const std::string why = error.what();
      if (why.ends_with("in too many ways")) ++ambiguous;
      EXPECT_TRUE(why.ends_with("left recursion") || why.ends_with("can spell") || why.ends_with("in too many ways"))
          << why << "\n"
          << gbnf;
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(compared, 200);
  EXPECT_LE(ambiguous, 5) << "random grammars are bad ones, but not so bad";
}

TEST_P(GrammarVocabularies, AllowWhatLlamaAllowsInJson) {
  const RealVocabulary real(GetParam());
  const std::string gbnf = R"(root ::= object
value ::= object | array | string | number | "true" | "false" | "null"
object ::= "{" space (pair ("," space pair)*)? "}"
pair ::= string ":" space value
array ::= "[" (value ("," space value)*)? "]"
string ::= "\"" ([^"\\\x7F\x00-\x1F] | "\\" (["\\bfnrt] | "u" [0-9a-fA-F]{4}))* "\""
number ::= "-"? ("0" | [1-9] [0-9]{0,15}) ("." [0-9]+)?
space ::= " "?)";
  std::vector<Token> all;
  for (Token token = 0; token < llama_vocab_n_tokens(real.vocab); ++token) {
    if (!real.trie->piece(token).empty()) all.push_back(token);
  }
  Random random(3);
  int compared = 0;
  for (int n = 0; n < 4; ++n) compared += compare_with_llama(real, gbnf, all, 8, random);
  EXPECT_GE(compared, 10);
}

INSTANTIATE_TEST_SUITE_P(All, GrammarVocabularies, ::testing::Values("llama-spm", "gpt-2", "qwen2"),
                         [](const auto& named) {
                           std::string name = named.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(GrammarMatcher, AllowsWhatAllStacksAllowOnRandomVocabularies) {
  int compared = 0;
  std::size_t most_stacks = 0;
  for (std::uint64_t seed = 1000; seed < 1300; ++seed) {
    Random random(seed);
    const std::vector<std::string> parts = {"a", "b", "c", "ä", "€", "\U0001F600", "{", "\"", " ", "\n", "7", "z"};
    std::vector<std::string> pieces;
    for (int i = 0; i < 150; ++i) {
      std::string text;
      for (std::size_t n = 1 + below(random, 4); n > 0; --n) text += one_of(random, parts);
      // Cut anywhere, so that some begin or end inside a character.
      const std::size_t from = below(random, 2) == 0 ? below(random, text.size()) : 0;
      pieces.push_back(text.substr(from, 1 + below(random, text.size())));
    }
    pieces.emplace_back();  // ends
    const std::vector<Token> ends = {static_cast<Token>(pieces.size()) - 1};
    const TokenTrie trie(pieces);
    const std::string gbnf = GrammarWriter(seed).write();
    try {
      const GrammarRules rules = read_grammar(gbnf, "root");
      GrammarMatcher matcher(trie, ends, rules);
      AllStacks oracle(rules);
      GrammarMatcher::Position position = matcher.start();
      for (int n = 0; n < 12 && oracle.size() < 300; ++n) {
        std::vector<Token> allowed;
        for (std::size_t i = 0; i < pieces.size(); ++i) {
          const auto token = static_cast<Token>(i);
          const bool may = pieces[i].empty() ? oracle.ends() : oracle.accepts(pieces[i]);
          ASSERT_EQ(is_allowed(*position.mask, token), may) << "seed " << seed << ", '" << pieces[i] << "' of\n"
                                                            << gbnf;
          if (may && !pieces[i].empty()) allowed.push_back(token);
        }
        ++compared;
        most_stacks = std::max(most_stacks, oracle.size());
        if (allowed.empty()) break;
        const Token token = one_of(random, allowed);
        ASSERT_TRUE(oracle.read(pieces[static_cast<std::size_t>(token)]));
        const GrammarMatcher::Position next = matcher.after(position, token);
        matcher.drop(position);
        position = next;
      }
      matcher.drop(position);
    } catch (const Error&) {
      // Left recursion, or nothing that these pieces can spell.
    }
  }
  EXPECT_GT(compared, 500);
  EXPECT_GT(most_stacks, 100U) << "a test of ambiguity wants it";
}

// Letters, words of letters, and one that ends.
struct SmallVocabulary {
  SmallVocabulary() {
    for (char c = ' '; c < 127; ++c) pieces.emplace_back(1, c);
    for (int n = 2; n < 40; ++n) pieces.emplace_back(static_cast<std::size_t>(n), 'a');
    pieces.emplace_back();
    ends = {static_cast<Token>(pieces.size()) - 1};
    trie = std::make_unique<TokenTrie>(pieces);
  }
  Token letter(char c) const { return c - ' '; }

  std::vector<std::string> pieces;
  std::vector<Token> ends;
  std::unique_ptr<TokenTrie> trie;
};

// Its stacks double with every letter: a set of them does not.
TEST(GrammarMatcher, StacksThatDoubleCostAConstant) {
  const SmallVocabulary small;
  GrammarFilter filter(std::make_shared<GrammarMatcher>(
      *small.trie, small.ends, read_grammar("root ::= \"a\" root \"b\" | \"a\" root \"c\" | \"x\"", "root")));
  const auto allows = [&](char c) {
    std::vector<float> logits(small.pieces.size(), 0.0F);
    filter.apply(logits);
    return logits[static_cast<std::size_t>(small.letter(c))] == 0.0F;
  };
  for (int i = 0; i < 500; ++i) filter.accept(small.letter('a'));
  EXPECT_TRUE(allows('a') && allows('x') && !allows('b'));
  filter.accept(small.letter('x'));
  for (int i = 0; i < 500; ++i) {
    ASSERT_TRUE(allows('b') && allows('c') && !allows('a')) << i;
    filter.accept(small.letter(i % 2 == 0 ? 'b' : 'c'));
  }
  std::vector<float> logits(small.pieces.size(), 0.0F);
  filter.apply(logits);
  EXPECT_EQ(std::count(logits.begin(), logits.end(), 0.0F), 1) << "nothing but the end";
}

// Where even the sets grow, whoever asked fails with one line, after a bounded number of operations.
TEST(GrammarMatcher, WhatGrowsWithoutEndFails) {
  const SmallVocabulary small;
  for (const std::string gbnf : {"root ::= \"a\" root root root | \"a\" root root | \"a\"",
                                 "root ::= (\"a\" | \"aa\" | \"aaa\" root root)+ \"b\"",
                                 "root ::= x x x\nx ::= \"a\" x x \"a\"? x | \"a\"? \"a\""}) {
    const auto matcher = std::make_shared<GrammarMatcher>(*small.trie, small.ends, read_grammar(gbnf, "root"));
    GrammarFilter filter(matcher);
    const std::int64_t most = matcher->budget_left();
    try {
      for (int i = 0; i < 300; ++i) {
        filter.accept(small.letter('a'));
        ASSERT_LE(matcher->budget_left(), 2 * most);
      }
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
      EXPECT_NE(std::string(error.what()).find("too ambiguous"), std::string::npos);
    }
  }
}

TEST(GrammarMatcher, AStateThatComesAgainCostsNothingAndAllIsGivenBack) {
  const SmallVocabulary small;
  const auto matcher = std::make_shared<GrammarMatcher>(
      *small.trie, small.ends, read_grammar("root ::= \"[\" (root (\",\" root)*)? \"]\" | [a-z]+", "root"));
  const std::size_t empty = matcher->kept();
  {
    GrammarFilter filter(matcher);
    for (const char c : std::string("[[a,b],[")) filter.accept(small.letter(c));
    filter.accept(small.letter('a'));
    filter.accept(small.letter('a'));
    const std::int64_t before = matcher->budget_left();
    for (int i = 0; i < 1000; ++i) filter.accept(small.letter('a'));
    EXPECT_GE(matcher->budget_left(), before);
    const auto other = filter.clone();
    for (int i = 0; i < 100'000; ++i) {
      if (i % 2 == 0) filter.accept(small.letter(','));
      filter.accept(small.letter(i % 2 == 0 ? '[' : ']'));
    }
    other->accept(small.letter(']'));
  }
  EXPECT_LT(matcher->kept(), empty + 2000) << "what the masks that are kept hold, and no more";
}

// Nesting without an end is a text of the grammar: it has to be given up some time, and not by a deep recursion.
TEST(GrammarMatcher, DeepNestingHoldsItsStackAndGivesItBack) {
  const SmallVocabulary small;
  const auto matcher = std::make_shared<GrammarMatcher>(*small.trie, small.ends,
                                                        read_grammar("root ::= \"[\" root \"]\" | \"x\"", "root"));
  {
    GrammarFilter filter(matcher);
    for (int i = 0; i < 100'000; ++i) filter.accept(small.letter('['));
    EXPECT_GT(matcher->kept(), 100'000U);
    const auto nest_on = [&] {
      for (int i = 0; i < 100'000; ++i) filter.accept(small.letter('['));
    };
    EXPECT_THROW(nest_on(), Error);
  }
  EXPECT_LT(matcher->kept(), 300'000U);
}

}  // namespace
}  // namespace dts
