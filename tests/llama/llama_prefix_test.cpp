// Prompts that llama.cpp has prefilled, kept and opened again: to the last bit what prefilling them would give.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "dts/llama.h"
#include "dts/scheduler.h"
#include "support/llama_models.h"

namespace dts {
namespace {

std::shared_ptr<Search> ask(const LlamaModel& model, const std::vector<Token>& prompt, std::uint64_t seed) {
  SearchOptions options;
  options.method = make_method(seed % 2 == 0 ? "dts-stable" : "standard", {.branch = {.max_branches = 10}, .votes = 4});
  options.sampling.temperature = 1.0F;
  options.seed = seed;
  options.max_tokens = 30;
  const Vocabulary& vocabulary = model.vocabulary();
  return std::make_shared<Search>(
      prompt, options,
      SearchText{.is_end = [&vocabulary](Token token) { return vocabulary.is_end(token); },
                 .answer_of = [&vocabulary](std::span<const Token> tokens) { return vocabulary.detokenize(tokens); }},
      vocabulary.size());
}

class LlamaPrefix : public ::testing::TestWithParam<const char*> {};

TEST_P(LlamaPrefix, NoTreeTells) {
  RandomModelOptions geometry = tiny_options();
  geometry.weight_type = GetParam();
  if (geometry.weight_type.ends_with("_K")) {
    geometry.embedding = 256;
    geometry.feed_forward = 256;
    geometry.heads = 8;
  }
  const LlamaModel model({.path = write_model("prefix", geometry), .gpu_layers = 0});
  const LlamaEngineOptions options{.max_branches = 24, .context_length = 1200, .threads = 1};
  const auto engine = make_llama_engine(model, options);
  ASSERT_TRUE(engine->info().capabilities.keeps_branches);
  const int chunk = engine->info().prefill_chunk;

  // The turns of a conversation, the last one asked three times at once, and one that leaves it half way.
  std::vector<std::vector<Token>> prompts;
  std::vector<Token> said;
  for (int turn = 0; turn < 4; ++turn) {
    for (int i = 0; i < chunk * 2 / 3 + 17; ++i) said.push_back((i * 31 + turn * 7) % 200 + 5);
    prompts.push_back(said);
  }
  prompts.push_back(said);
  prompts.push_back(said);
  said.resize(static_cast<std::size_t>(chunk) + 5);
  said.insert(said.end(), 40, 9);
  prompts.push_back(said);

  Scheduler scheduler(*engine);
  std::vector<std::shared_ptr<Search>> searches;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    searches.push_back(ask(model, prompts[i], i));
    scheduler.submit({.search = searches.back(), .max_seconds = 0, .on_prefill = {}, .on_done = {}});
    if (i < 2 || i == 6) scheduler.run();  // others come while it decodes
  }
  scheduler.run();

  const std::vector<int> cached = {
      0, 0, chunk, 2 * chunk, static_cast<int>(prompts[3].size()) - 1, static_cast<int>(prompts[3].size()) - 1, chunk};
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    EXPECT_EQ(searches[i]->account().cached_tokens, cached[i]) << i;
    const auto fresh = make_llama_engine(model, options);
    Scheduler own(*fresh, {.kept_prompt_bytes = 0});
    const auto alone = ask(model, prompts[i], i);
    own.submit({.search = alone, .max_seconds = 0, .on_prefill = {}, .on_done = {}});
    own.run();
    ASSERT_NE(alone->outcome().reason, StopReason::kFailed) << alone->outcome().error;
    ASSERT_EQ(alone->tree().segments().size(), searches[i]->tree().segments().size()) << i;
    for (std::size_t s = 0; s < alone->tree().segments().size(); ++s) {
      EXPECT_EQ(alone->tree().segments()[s].tokens, searches[i]->tree().segments()[s].tokens)
          << i << ": tokens and statistics, to the last bit";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Weights, LlamaPrefix, ::testing::Values("f16", "q8_0", "q4_K"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace dts
