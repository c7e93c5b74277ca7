// Whole searches on the llama.cpp engine: the same seeds alone and among others must grow the same trees.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "dts/llama.h"
#include "dts/scheduler.h"
#include "dts/search.h"
#include "support/llama_models.h"

namespace dts {
namespace {

std::shared_ptr<Search> make_search(const LlamaModel& model, const std::string& method, std::uint64_t seed) {
  SearchOptions options;
  options.method = make_method(method, {.branch = {.max_branches = 10}, .votes = 4});
  options.sampling.temperature = 1.0F;
  options.seed = seed;
  options.max_tokens = 40;
  const std::vector<ChatMessage> messages = {{"user", "Question " + std::to_string(seed) + ", please."}};
  const Vocabulary& vocabulary = model.vocabulary();
  return std::make_shared<Search>(
      vocabulary.chat(messages).tokens, options,
      SearchText{.is_end = [&vocabulary](Token token) { return vocabulary.is_end(token); },
                 .answer_of = [&vocabulary](std::span<const Token> tokens) { return vocabulary.detokenize(tokens); }},
      vocabulary.size());
}

void submit(Scheduler& scheduler, const std::shared_ptr<Search>& search) {
  Job job;
  job.search = search;
  scheduler.submit(job);
}

void expect_same_tree(const Search& alone, const Search& among, const std::string& what) {
  ASSERT_EQ(alone.tree().segments().size(), among.tree().segments().size()) << what;
  for (std::size_t i = 0; i < alone.tree().segments().size(); ++i) {
    const Segment& a = alone.tree().segments()[i];
    const Segment& b = among.tree().segments()[i];
    EXPECT_EQ(a.parent, b.parent) << what;
    EXPECT_EQ(a.state, b.state) << what;
    EXPECT_EQ(a.tokens, b.tokens) << what << ": tokens and statistics, to the last bit";
  }
  EXPECT_EQ(alone.outcome().winner, among.outcome().winner) << what;
}

class LlamaSearch : public ::testing::TestWithParam<const char*> {};

TEST_P(LlamaSearch, TreesDoNotDependOnWhatElseRuns) {
  RandomModelOptions geometry = tiny_options();
  geometry.weight_type = GetParam();
  if (geometry.weight_type.ends_with("_K")) {
    geometry.embedding = 256;
    geometry.feed_forward = 256;
    geometry.heads = 8;
  }
  const LlamaModel model({.path = write_model("search", geometry), .gpu_layers = 0});
  const LlamaEngineOptions options{.max_branches = 32, .context_length = 1000, .threads = 1};
  const std::vector<std::string> methods = {"dts-stable", "standard", "dts-greedy", "dts-stable", "standard"};

  const auto shared = make_llama_engine(model, options);
  Scheduler together(*shared);
  std::vector<std::shared_ptr<Search>> among;
  for (std::size_t i = 0; i < methods.size(); ++i) {
    among.push_back(make_search(model, methods[i], i));
    submit(together, among.back());
    together.step();  // the later ones join while the earlier ones run
    together.step();
  }
  together.run();

  std::int64_t branches = 0;
  for (std::size_t i = 0; i < methods.size(); ++i) {
    const auto engine = make_llama_engine(model, options);
    Scheduler scheduler(*engine);
    const auto alone = make_search(model, methods[i], i);
    submit(scheduler, alone);
    scheduler.run();
    ASSERT_NE(alone->outcome().reason, StopReason::kFailed) << alone->outcome().error;
    expect_same_tree(*alone, *among[i], methods[i] + " " + std::to_string(i));
    branches += alone->outcome().account.branch_events;
  }
  EXPECT_GT(branches, 5) << "a test of trees wants trees";
}

INSTANTIATE_TEST_SUITE_P(Weights, LlamaSearch, ::testing::Values("f16", "q8_0", "q4_K"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace dts
