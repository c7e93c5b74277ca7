// Whole searches on the native engine: the same seeds alone and among others must grow the same trees.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "dts/scheduler.h"
#include "dts/search.h"
#include "engine/native/cpu/cpu_backend.h"
#include "engine/native/gguf_weights.h"
#include "engine/native/native_engine.h"
#include "native/native_models.h"

namespace dts {
namespace {

using namespace std::chrono_literals;

std::shared_ptr<Search> make_search(const Model& model, const std::string& method, std::uint64_t seed) {
  SearchOptions options;
  options.method = make_method(method, {.branch = {.max_branches = 10}, .votes = 4});
  options.sampling.temperature = 1.0F;
  options.seed = seed;
  options.max_tokens = 60;
  const Vocabulary& vocabulary = model.vocabulary();
  const std::vector<ChatMessage> messages = {{"user", "Question " + std::to_string(seed) + ", please."}};
  return std::make_shared<Search>(
      vocabulary.chat(messages).tokens, options,
      SearchText{.is_end = [&vocabulary](Token token) { return vocabulary.is_end(token); },
                 .answer_of = [&vocabulary](std::span<const Token> tokens) { return vocabulary.detokenize(tokens); }},
      vocabulary.size());
}

void expect_same_tree(const Search& alone, const Search& among, const std::string& what) {
  ASSERT_EQ(alone.tree().segments().size(), among.tree().segments().size()) << what;
  for (std::size_t i = 0; i < alone.tree().segments().size(); ++i) {
    const Segment& a = alone.tree().segments()[i];
    const Segment& b = among.tree().segments()[i];
    ASSERT_EQ(a.parent, b.parent) << what;
    ASSERT_EQ(a.tokens, b.tokens) << what << ": tokens and statistics, to the last bit";
  }
  EXPECT_EQ(alone.outcome().winner, among.outcome().winner) << what;
}

TEST(NativeSearch, TreesDoNotDependOnWhatElseRuns) {
  const std::string path = write_model("native_search", family_options("qwen3"));
  const std::vector<std::string> methods = {"dts-stable", "standard",   "dts-greedy", "dts-stable",
                                            "standard",   "dts-stable", "dts-greedy", "dts-stable"};
  for (const NativeDevice device : native_devices()) {
    const NativeModel model({.path = path, .device = device});
    const EngineRequest request{.max_branches = 80, .context_length = 500};
    const auto shared = model.make_engine(request);
    Scheduler together(*shared);
    std::vector<std::shared_ptr<Search>> among;
    for (std::size_t i = 0; i < methods.size(); ++i) {
      among.push_back(make_search(model, methods[i], i));
      together.submit({.search = among.back(), .max_seconds = 0, .on_prefill = nullptr, .on_done = nullptr});
      together.step();  // the later ones join while the earlier ones run
      together.step();
    }
    together.run();
    std::int64_t branches = 0;
    const auto engine = model.make_engine(request);
    for (std::size_t i = 0; i < methods.size(); ++i) {
      Scheduler scheduler(*engine);
      const auto alone = make_search(model, methods[i], i);
      scheduler.submit({.search = alone, .max_seconds = 0, .on_prefill = nullptr, .on_done = nullptr});
      scheduler.run();
      ASSERT_NE(alone->outcome().reason, StopReason::kFailed) << alone->outcome().error;
      expect_same_tree(*alone, *among[i], std::string(name_of(device)) + " " + methods[i] + " " + std::to_string(i));
      branches += alone->outcome().account.branch_events;
    }
    EXPECT_GT(branches, 5) << "a test of trees wants trees";
  }
}

// The first steps pack the weights: some for good, the rest for the moment. Two engines do so at once. Neither their
// trees nor a later one's know of it.
TEST(NativeSearch, TreesDoNotDependOnWhatIsPacked) {
  if (!why_no_native_cpu().empty()) GTEST_SKIP() << why_no_native_cpu();
  for (const char* type : {"bf16", "q8_0", "f32"}) {
    RandomModelOptions options = family_options("qwen3");
    options.weight_type = type;
    const std::string path = write_model("native_lazy", options);
    const NativeModel model({.path = path, .device = NativeDevice::kCpu});  // for its vocabulary
    const auto tree_on = [&](Engine& engine) {
      Scheduler scheduler(engine);
      auto search = make_search(model, "dts-stable", 3);
      scheduler.submit({.search = search, .max_seconds = 0, .on_prefill = nullptr, .on_done = nullptr});
      scheduler.run();
      return search;
    };
    std::string why;
    const auto weights = native::open_gguf_weights(path, why);
    ASSERT_NE(weights, nullptr) << why;
    std::shared_ptr<Search> expected;
    // Nothing for good; one task a step and thread; all in the first.
    for (const std::chrono::nanoseconds packing : {0ns, 1ns, std::chrono::nanoseconds(native::kPackingTime)}) {
      const auto device = native::make_cpu_device(*weights, 2, nullptr, packing);
      const auto make = [&] {
        return native::make_native_engine(*device, weights->geometry(),
                                          {.name = "", .kind = "", .max_branches = 12, .context = 300, .pages = 64});
      };
      const auto one = make();
      const auto other = make();
      auto beside = std::async(std::launch::async, [&] { return tree_on(*other); });
      const auto first = tree_on(*one);
      const auto second = beside.get();
      const auto later = tree_on(*one);
      if (!expected) expected = later;
      ASSERT_GT(later->outcome().account.branch_events, 0) << type;
      for (const auto& tree : {first, second, later}) {
        expect_same_tree(*expected, *tree, fmt::format("{}, packing {} ns a step", type, packing.count()));
      }
    }
  }
}

// Pages are few: searches wait for each other, none fails, and the trees are what they are alone.
TEST(NativeSearch, QuestionsWaitForPages) {
  const NativeModel model(
      {.path = write_model("native_pages", family_options("qwen3")), .device = NativeDevice::kOracle});
  const auto engine = model.make_engine({.max_branches = 12, .context_length = 300});
  Scheduler together(*engine);
  std::vector<std::shared_ptr<Search>> among;
  for (std::size_t i = 0; i < 4; ++i) {
    among.push_back(make_search(model, "dts-stable", i));
    together.submit({.search = among.back(), .max_seconds = 0, .on_prefill = nullptr, .on_done = nullptr});
  }
  together.run();
  for (std::size_t i = 0; i < among.size(); ++i) {
    ASSERT_NE(among[i]->outcome().reason, StopReason::kFailed) << among[i]->outcome().error;
    Scheduler scheduler(*engine);
    const auto alone = make_search(model, "dts-stable", i);
    scheduler.submit({.search = alone, .max_seconds = 0, .on_prefill = nullptr, .on_done = nullptr});
    scheduler.run();
    expect_same_tree(*alone, *among[i], std::to_string(i));
  }
}

}  // namespace
}  // namespace dts
