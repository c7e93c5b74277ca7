// Too few pages: searches are suspended and resumed, and every tree is what it is with pages enough.
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "dts/scheduler.h"
#include "dts/search.h"
#include "engine/native/cpu/cpu_backend.h"
#include "engine/native/cuda/cuda_device.h"
#include "engine/native/gguf_weights.h"
#include "engine/native/native_engine.h"
#include "engine/native/oracle_backend.h"
#include "native/native_models.h"

namespace dts {
namespace {

constexpr int kBranches = 40;

// A small model, and engines on it with as many pages as one likes.
class Pages {
 public:
  explicit Pages(NativeDevice device)
      : path_(write_model("native_suspend", family_options("qwen3"))),
        model_({.path = path_, .device = NativeDevice::kOracle}) {
    std::string why;
    const auto weights = native::open_gguf_weights(path_, why);
    geometry_ = weights->geometry();
    device_ = device == NativeDevice::kOracle ? native::make_oracle_device(*weights)
              : device == NativeDevice::kCpu  ? native::make_cpu_device(*weights, 2, nullptr)
                                              : native::make_cuda_device(*weights, nullptr);
  }

  std::unique_ptr<Engine> engine(int pages, NativeKvType kv) const {
    return native::make_native_engine(
        *device_, geometry_,
        {.name = "small", .kind = "native", .max_branches = kBranches, .context = 512, .pages = pages, .kv = kv});
  }
  const Vocabulary& vocabulary() const { return model_.vocabulary(); }

 private:
  std::string path_;
  NativeModel model_;
  native::Geometry geometry_;
  std::unique_ptr<native::Device> device_;
};

struct Question {
  std::string method;
  int branches = 1;
  int prompt = 1;  // tokens
  int max_tokens = 1;
  std::uint64_t seed = 0;
};

std::shared_ptr<Search> make_search(const Pages& pages, const Question& question) {
  SearchOptions options;
  options.method = make_method(
      question.method,
      {.branch = {.tau_v = 0, .tau_h = 1e9, .max_branches = question.branches}, .votes = question.branches});
  options.sampling.temperature = 1.0F;
  options.seed = question.seed;
  options.max_tokens = question.max_tokens;
  std::vector<Token> prompt;
  for (int i = 0; i < question.prompt; ++i) {
    // Questions of the same parity begin alike.
    const auto token = static_cast<Token>(i < 80 ? 7 + i * 3 + static_cast<int>(question.seed % 2) : 11 + i * 5);
    prompt.push_back(token % pages.vocabulary().size());
  }
  const Vocabulary& vocabulary = pages.vocabulary();
  return std::make_shared<Search>(
      std::move(prompt), options,
      SearchText{.is_end = [](Token token) { return token == 5; },
                 .answer_of = [&vocabulary](std::span<const Token> tokens) { return vocabulary.detokenize(tokens); }},
      vocabulary.size());
}

std::shared_ptr<Search> run_alone(const Pages& pages, Engine& engine, const Question& question) {
  Scheduler scheduler(engine);
  auto search = make_search(pages, question);
  scheduler.submit({.search = search, .max_seconds = 0, .on_prefill = nullptr, .on_done = nullptr});
  scheduler.run();
  return search;
}

void expect_same(const Search& a, const Search& b, const std::string& what) {
  ASSERT_EQ(a.outcome().reason, b.outcome().reason) << what << ": " << a.outcome().error << b.outcome().error;
  ASSERT_EQ(a.tree().segments().size(), b.tree().segments().size()) << what;
  for (std::size_t i = 0; i < a.tree().segments().size(); ++i) {
    ASSERT_EQ(a.tree().segments()[i].parent, b.tree().segments()[i].parent) << what;
    ASSERT_EQ(a.tree().segments()[i].tokens, b.tree().segments()[i].tokens) << what << ": to the last bit";
  }
  ASSERT_EQ(a.outcome().winner, b.outcome().winner) << what;
}

// Pages that nobody holds: as many branches can take one.
int free_pages(Engine& engine) {
  const Token token = 1;
  std::vector<Feed> feeds;
  for (int i = 0; i < kBranches; ++i) feeds.push_back({.branch = engine.open(), .tokens = {&token, 1}});
  std::size_t free = 0;
  while (free < feeds.size() && engine.has_room(std::span(feeds).first(free + 1))) ++free;
  for (const Feed& feed : feeds) engine.release(feed.branch);
  return static_cast<int>(free);
}

// Lets everybody in, whatever they may need: so that pages do run out.
class Reckless final : public Engine {
 public:
  explicit Reckless(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}
  const EngineInfo& info() const override { return engine_->info(); }
  EngineTimes times() const override { return engine_->times(); }
  std::int64_t kv_tokens_of(const Footprint& /*footprint*/) const override { return 1; }
  BranchId open() override { return engine_->open(); }
  BranchId fork(BranchId parent) override { return engine_->fork(parent); }
  void release(BranchId branch) override { engine_->release(branch); }
  std::unique_ptr<KeptBranch> keep(BranchId branch) override { return engine_->keep(branch); }
  BranchId reopen(KeptBranch& kept, int tokens) override { return engine_->reopen(kept, tokens); }
  bool has_room(std::span<const Feed> feeds) const override { return engine_->has_room(feeds); }
  void suspend(std::span<const BranchId> branches) override { engine_->suspend(branches); }
  bool resume(std::span<const BranchId> branches) override { return engine_->resume(branches); }
  void step(std::span<const Feed> feeds, std::span<Prediction> out) override { engine_->step(feeds, out); }

 private:
  std::unique_ptr<Engine> engine_;
};

class NativeSuspend : public ::testing::TestWithParam<NativeDevice> {
 protected:
  void SetUp() override {
    if (GetParam() == NativeDevice::kCuda && !why_no_native_gpu().empty()) GTEST_SKIP() << why_no_native_gpu();
  }
};

// Random questions under random budgets: in a crowd that does not fit, every search has the tree that it has where
// pages are plenty. Only one that does not fit by itself fails, with one line, as it does alone.
TEST_P(NativeSuspend, NothingIsLostAndNoTreeChanges) {
  const Pages pages(GetParam());
  std::mt19937 random(11);
  const auto roll = [&](int least, int most) {
    return least + static_cast<int>(random() % static_cast<unsigned>(most - least + 1));
  };
  const std::vector<std::string> methods = {"dts-stable", "dts-greedy", "self-consistency", "standard"};
  std::int64_t suspensions = 0;
  int failures = 0;
  int kept = 0;
  const std::vector<NativeKvType> types = kv_types(GetParam());
  for (int round = 0; round < 6; ++round) {
    const NativeKvType kv = types[static_cast<std::size_t>(round) % types.size()];
    std::vector<Question> questions;
    for (int i = 0; i < 4; ++i) {
      questions.push_back({.method = methods[static_cast<std::size_t>(i)],
                           .branches = roll(3, 6),
                           .prompt = roll(2, 150),
                           .max_tokens = roll(80, 200),
                           .seed = static_cast<std::uint64_t>(round * 10 + i)});
    }
    const int budget = roll(10, 20);
    Reckless tight(pages.engine(budget, kv));
    Scheduler together(tight);
    std::vector<std::shared_ptr<Search>> among;
    for (const Question& question : questions) {
      among.push_back(make_search(pages, question));
      together.submit({.search = among.back(), .max_seconds = 0, .on_prefill = nullptr, .on_done = nullptr});
      if (roll(0, 1) == 0) together.step();
    }
    together.run();
    suspensions += together.suspensions();
    for (std::size_t i = 0; i < questions.size(); ++i) {
      const bool failed = among[i]->outcome().reason == StopReason::kFailed;
      const auto engine = pages.engine(failed ? budget : 400, kv);
      expect_same(
          *run_alone(pages, *engine, questions[i]), *among[i],
          "round " + std::to_string(round) + " question " + std::to_string(i) + " pages " + std::to_string(budget));
      kept += among[i]->outcome().account.cached_tokens > 0 ? 1 : 0;
      if (!failed) continue;
      ++failures;
      EXPECT_NE(among[i]->outcome().error.find("pages of KV"), std::string::npos) << among[i]->outcome().error;
    }
  }
  std::printf("    %lld suspensions, %d of 20 did not fit by themselves, %d began with what was kept\n",
              static_cast<long long>(suspensions), failures, kept);
  EXPECT_GT(suspensions, 4) << "a test of suspending wants suspensions";
  EXPECT_LT(failures, 10) << "and searches that end";
}

// A search that is cancelled while it is away leaves nothing behind, and the others end.
TEST_P(NativeSuspend, CancellingASuspendedSearchFreesIt) {
  const Pages pages(GetParam());
  constexpr int kPages = 20;
  Reckless engine(pages.engine(kPages, NativeKvType::kF16));
  EXPECT_EQ(free_pages(engine), kPages);
  std::vector<std::shared_ptr<Search>> searches;
  {
    Scheduler scheduler(engine);
    std::vector<JobId> ids;
    for (std::uint64_t seed = 0; seed < 2; ++seed) {
      searches.push_back(make_search(
          pages, {.method = "self-consistency", .branches = 4, .prompt = 60, .max_tokens = 200, .seed = seed}));
      ids.push_back(
          scheduler.submit({.search = searches.back(), .max_seconds = 0, .on_prefill = nullptr, .on_done = nullptr}));
    }
    while (scheduler.suspensions() == 0 && scheduler.step()) {
    }
    ASSERT_GT(scheduler.suspensions(), 0);
    scheduler.cancel(ids.back());
    scheduler.run();
  }
  EXPECT_EQ(searches[1]->outcome().reason, StopReason::kCancelled);
  EXPECT_NE(searches[0]->outcome().reason, StopReason::kFailed) << searches[0]->outcome().error;
  EXPECT_EQ(free_pages(engine), kPages);
}

// The second question of a conversation is not prefilled again, and its tree does not show it.
TEST_P(NativeSuspend, PromptsAreTakenOver) {
  const Pages pages(GetParam());
  const auto engine = pages.engine(200, NativeKvType::kF16);
  Scheduler scheduler(*engine);
  std::vector<std::shared_ptr<Search>> searches;
  for (const int prompt : {100, 150, 100}) {
    searches.push_back(
        make_search(pages, {.method = "dts-stable", .branches = 6, .prompt = prompt, .max_tokens = 40, .seed = 2}));
    scheduler.submit({.search = searches.back(), .max_seconds = 0, .on_prefill = nullptr, .on_done = nullptr});
    scheduler.run();
  }
  EXPECT_EQ(searches[0]->outcome().account.cached_tokens, 0);
  EXPECT_EQ(searches[1]->outcome().account.cached_tokens, 64) << "whole pages of what both begin with";
  EXPECT_EQ(searches[2]->outcome().account.cached_tokens, 99) << "all but the last token, which the first step feeds";
  expect_same(*searches[0], *searches[2], "the same question");
  const auto fresh = pages.engine(200, NativeKvType::kF16);
  expect_same(
      *run_alone(pages, *fresh, {.method = "dts-stable", .branches = 6, .prompt = 150, .max_tokens = 40, .seed = 2}),
      *searches[1], "with nothing kept");
}

INSTANTIATE_TEST_SUITE_P(Devices, NativeSuspend,
                         ::testing::Values(NativeDevice::kOracle, NativeDevice::kCpu, NativeDevice::kCuda),
                         [](const auto& test) { return std::string(name_of(test.param)); });

}  // namespace
}  // namespace dts
