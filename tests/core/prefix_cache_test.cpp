// Prompts that were prefilled are used again, and no tree tells.
#include "core/prefix_cache.h"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "dts/scheduler.h"
#include "support/scripted_engine.h"

namespace dts {
namespace {

constexpr int kVocab = 16;
constexpr int kChunk = 4;

std::vector<Token> counted(int n) {
  std::vector<Token> tokens(static_cast<std::size_t>(n));
  std::iota(tokens.begin(), tokens.end(), 0);
  return tokens;
}

TEST(PrefixCache, SharesWholeChunksOrAllOfTheSamePrompt) {
  const PrefixCache cache(kChunk, 1000);
  std::vector<Token> other = counted(10);
  other[9] = 99;
  EXPECT_EQ(cache.shared(counted(10), counted(10)), 10U);
  EXPECT_EQ(cache.shared(counted(10), counted(13)), 8U) << "the last two were a stretch of their own";
  EXPECT_EQ(cache.shared(counted(13), counted(10)), 8U);
  EXPECT_EQ(cache.shared(counted(10), other), 8U);
  EXPECT_EQ(cache.shared(counted(8), counted(9)), 8U);
  EXPECT_EQ(cache.shared(counted(3), counted(5)), 0U);
  EXPECT_EQ(cache.shared({}, counted(5)), 0U);
}

TEST(PrefixCache, WhatWasUsedLongestAgoGoesFirst) {
  ScriptedEngine engine({}, RandomScript{1});
  PrefixCache cache(kChunk, 2 * 8 * 8);  // two entries: tokens here, tokens in the engine
  const auto keep = [&](Token first) {
    std::vector<Token> tokens(8, first);
    const BranchId branch = engine.open();
    engine.prefill(branch, std::span(tokens).first(4));
    engine.prefill(branch, std::span(tokens).last(4));
    cache.keep(engine, branch, tokens);
    engine.release(branch);
    return tokens;
  };
  const auto first = keep(1);
  const auto second = keep(2);
  EXPECT_EQ(cache.size(), 2U);
  EXPECT_TRUE(cache.find(first));
  const auto third = keep(3);
  EXPECT_EQ(cache.longest(second), 0U);
  EXPECT_EQ(cache.longest(first), 8U);
  EXPECT_EQ(cache.longest(third), 8U);
  EXPECT_LE(cache.bytes(), 2 * 8 * 8);
}

struct Case {
  std::vector<Token> prompt;
  std::string method;
  std::uint64_t seed = 0;
};

std::shared_ptr<Search> search_of(const Case& one) {
  SearchOptions options;
  options.method = make_method(one.method, {.branch = {.tau_v = 0.4, .max_branches = 6}, .votes = 3});
  options.sampling.temperature = 1.0F;
  options.seed = one.seed;
  options.max_tokens = 20;
  return std::make_shared<Search>(
      one.prompt, options,
      SearchText{[](Token token) { return token == kVocab - 1; },
                 [](std::span<const Token> tokens) { return std::to_string(tokens.size()); }},
      kVocab);
}

// Conversations: prompts that go on from one another, asked in any order, some of them several times.
std::vector<Case> conversations(std::mt19937& random) {
  const auto up_to = [&](unsigned n) { return static_cast<int>(random() % n); };
  std::vector<std::vector<Token>> prompts;
  for (int i = 0; i < 12; ++i) {
    std::vector<Token> prompt;
    if (!prompts.empty() && up_to(4) > 0) {
      prompt = prompts[random() % prompts.size()];
      prompt.resize(1 + random() % prompt.size());
    }
    for (int n = 1 + up_to(9); n > 0; --n) prompt.push_back(up_to(kVocab - 1));
    prompts.push_back(prompt);
  }
  std::vector<Case> cases;
  for (int i = 0; i < 24; ++i) {
    cases.push_back({prompts[random() % prompts.size()], up_to(2) > 0 ? "dts-stable" : "standard", random() % 4});
  }
  return cases;
}

TEST(PrefixCache, NoTreeTells) {
  std::int64_t reused = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    const std::vector<Case> cases = conversations(random);
    ScriptedEngineOptions options;
    options.n_vocab = kVocab;
    options.max_branches = 20;
    options.prefill_chunk = kChunk;
    options.cuts_matter = true;
    options.capabilities.mixes_prompts = seed % 3 == 0;
    const LogitsScript script = RandomScript{seed, kVocab, kVocab - 1, 1.0};

    ScriptedEngine engine(options, script);
    std::vector<std::shared_ptr<Search>> searches;
    {
      Scheduler scheduler(engine, {.kept_prompt_bytes = seed % 2 == 0 ? 100'000 : 200});
      for (const Case& one : cases) {
        searches.push_back(search_of(one));
        scheduler.submit({.search = searches.back(), .max_seconds = 0, .on_prefill = {}, .on_done = {}});
        if (random() % 2 == 0) scheduler.step();
      }
      scheduler.run();
    }
    EXPECT_EQ(engine.open_branches(), 0);
    std::int64_t cached = 0;
    std::int64_t prompts = 0;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      ScriptedEngine alone(options, script);
      Scheduler scheduler(alone, {.kept_prompt_bytes = 0});
      const auto search = search_of(cases[i]);
      scheduler.submit({.search = search, .max_seconds = 0, .on_prefill = {}, .on_done = {}});
      scheduler.run();
      ASSERT_EQ(search->tree().segments().size(), searches[i]->tree().segments().size());
      for (std::size_t s = 0; s < search->tree().segments().size(); ++s) {
        ASSERT_EQ(search->tree().segments()[s].tokens, searches[i]->tree().segments()[s].tokens);
      }
      const Account with = searches[i]->account();
      EXPECT_EQ(search->account().attended_tokens, with.attended_tokens);
      EXPECT_EQ(search->account().cached_tokens, 0);
      EXPECT_LT(with.cached_tokens, with.prompt_tokens);
      cached += with.cached_tokens;
      prompts += with.prompt_tokens - 1;
    }
    EXPECT_EQ(engine.prompt_tokens_fed(), prompts - cached) << "what is said to be reused was not fed";
    reused += cached;
  }
  EXPECT_GT(reused, 2000);
}

TEST(PrefixCache, ThoseThatAskTheSameAtOncePrefillOnce) {
  ScriptedEngineOptions options;
  options.n_vocab = kVocab;
  options.prefill_chunk = kChunk;
  ScriptedEngine engine(options, RandomScript{3, kVocab, kVocab - 1, 1.0});
  Scheduler scheduler(engine);
  std::vector<std::shared_ptr<Search>> searches;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    searches.push_back(search_of({counted(15), "standard", seed}));
    scheduler.submit({.search = searches.back(), .max_seconds = 0, .on_prefill = {}, .on_done = {}});
  }
  scheduler.run();
  EXPECT_EQ(engine.prompt_tokens_fed(), 14);
  for (std::size_t i = 1; i < 4; ++i) EXPECT_EQ(searches[i]->account().cached_tokens, 14);
}

// The one whose prompt the others wait for goes away in the middle of it.
TEST(PrefixCache, ThoseThatWaitDoNotWaitForever) {
  ScriptedEngineOptions options;
  options.n_vocab = kVocab;
  options.prefill_chunk = kChunk;
  ScriptedEngine engine(options, RandomScript{3, kVocab, kVocab - 1, 1.0});
  Scheduler scheduler(engine);
  std::vector<std::shared_ptr<Search>> searches;
  std::vector<JobId> ids;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    searches.push_back(search_of({counted(15), "standard", seed}));
    ids.push_back(scheduler.submit({.search = searches.back(), .max_seconds = 0, .on_prefill = {}, .on_done = {}}));
  }
  scheduler.step();
  scheduler.cancel(ids[0]);
  scheduler.run();
  EXPECT_EQ(searches[0]->outcome().reason, StopReason::kCancelled);
  EXPECT_TRUE(searches[1]->outcome().complete());
  EXPECT_TRUE(searches[2]->outcome().complete());
}

}  // namespace
}  // namespace dts
