// A filter inside a tree: what it forbids is nowhere, and everything else is as if the model had said so itself.
#include "dts/logits_filter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "dts/error.h"
#include "dts/scheduler.h"
#include "support/scripted_engine.h"

namespace dts {
namespace {

constexpr int kVocab = 16;
constexpr Token kEnd = kVocab - 1;
constexpr std::size_t kPrompt = 6;

// After an even number of tokens those of one rest modulo `by`, after an odd number at most three, and no end before
// the fourth token. A pure function of the tokens.
bool allowed(std::span<const Token> said, int by, Token token) {
  if (token == kEnd) return said.size() >= 4;
  int sum = 0;
  for (const Token one : said) sum += one;
  if (said.size() % 2 == 0) return token % by == sum % by;
  return (token + sum) % 5 == 0;
}

class Rule final : public LogitsFilter {
 public:
  explicit Rule(int by) : by_(by) {}
  std::unique_ptr<LogitsFilter> clone() const override { return std::make_unique<Rule>(*this); }
  void accept(Token token) override { said_.push_back(token); }
  void apply(std::span<float> logits) const override {
    for (std::size_t i = 0; i < logits.size(); ++i) {
      if (!allowed(said_, by_, static_cast<Token>(i))) logits[i] = -std::numeric_limits<float>::infinity();
    }
  }

 private:
  int by_;
  std::vector<Token> said_;
};

std::shared_ptr<Search> search_of(const std::string& method, std::uint64_t seed, std::shared_ptr<const Rule> rule) {
  SearchOptions options;
  options.method = make_method(method, {.branch = {.tau_v = 0.2, .max_branches = 7}, .votes = 4, .warmup = 3});
  options.sampling.temperature = 1.0F;
  options.seed = seed;
  options.max_tokens = 16;
  SearchText text{[](Token token) { return token == kEnd; },
                  [](std::span<const Token> tokens) { return std::to_string(tokens.size()); }};
  text.filter = std::move(rule);
  return std::make_shared<Search>(std::vector<Token>(kPrompt, 2), options, std::move(text), kVocab);
}

void run(Engine& engine, const std::shared_ptr<Search>& search) {
  Scheduler scheduler(engine);
  scheduler.submit({.search = search, .max_seconds = 0, .on_prefill = {}, .on_done = {}});
  scheduler.run();
}

TEST(LogitsFilter, IsAModelThatNeverSaysWhatItForbids) {
  std::int64_t splits = 0;
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    const int by = 2 + static_cast<int>(seed % 3);
    for (const std::string method : {"dts-stable", "standard", "self-consistency", "deepconf-low"}) {
      const RandomScript script{seed, kVocab, kEnd, 0.5};
      ScriptedEngine engine({.n_vocab = kVocab}, script);
      const auto filtered = search_of(method, seed, std::make_shared<Rule>(by));
      run(engine, filtered);
      ScriptedEngine other({.n_vocab = kVocab}, [&](std::span<const Token> tokens, std::span<float> logits) {
        script(tokens, logits);
        for (Token token = 0; token < kVocab; ++token) {
          if (allowed(tokens.subspan(kPrompt), by, token)) continue;
          logits[static_cast<std::size_t>(token)] = -std::numeric_limits<float>::infinity();
        }
      });
      const auto oracle = search_of(method, seed, nullptr);
      run(other, oracle);
      ASSERT_NE(filtered->outcome().reason, StopReason::kFailed) << filtered->outcome().error;
      ASSERT_EQ(filtered->tree().segments().size(), oracle->tree().segments().size());
      for (SegmentId id = 0; id < static_cast<SegmentId>(oracle->tree().segments().size()); ++id) {
        ASSERT_EQ(filtered->tree().segment(id).tokens, oracle->tree().segment(id).tokens);
        const std::vector<Token> said = filtered->tree().tokens_of(id);
        for (std::size_t i = 0; i < said.size(); ++i) {
          ASSERT_TRUE(allowed(std::span(said).first(i), by, said[i]));
        }
      }
      splits += filtered->account().branch_events;
    }
  }
  EXPECT_GT(splits, 200) << "a test of trees wants trees";
}

TEST(LogitsFilter, IsRefusedByAnEngineWithout) {
  ScriptedEngineOptions options;
  options.capabilities.filters_logits = false;
  ScriptedEngine engine(options, RandomScript{1});
  Scheduler scheduler(engine);
  EXPECT_THROW(scheduler.submit({.search = search_of("standard", 1, std::make_shared<Rule>(2)),
                                 .max_seconds = 0,
                                 .on_prefill = {},
                                 .on_done = {}}),
               Error);
}

class Broken final : public LogitsFilter {
 public:
  std::unique_ptr<LogitsFilter> clone() const override { return std::make_unique<Broken>(); }
  void accept(Token) override { throw Error("no more"); }
  void apply(std::span<float>) const override {}
};

TEST(LogitsFilter, OneThatFailsFailsItsSearch) {
  ScriptedEngine engine({.n_vocab = kVocab}, RandomScript{1, kVocab, kEnd, -50.0});
  SearchOptions options;
  options.method = make_method("standard", {});
  options.max_tokens = 50;
  SearchText text{[](Token token) { return token == kEnd; }, [](std::span<const Token>) { return std::string(); }};
  text.filter = std::make_shared<Broken>();
  const auto search = std::make_shared<Search>(std::vector<Token>{1, 2}, options, std::move(text), kVocab);
  run(engine, search);
  EXPECT_EQ(search->outcome().reason, StopReason::kFailed);
  EXPECT_EQ(search->outcome().error, "no more");
}

}  // namespace
}  // namespace dts
