// The llama.cpp engine against a slow oracle: every branch computed again, alone, from its first token, in a context of
// its own. On the CPU, with one stream a branch, the two must agree to the last bit.
#include "engine/llama/llama_engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <ostream>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "dts/engine.h"
#include "dts/error.h"
#include "dts/llama.h"
#include "support/llama_models.h"

namespace dts {
namespace {

const PredictionSpec kSpec = {.top_k = 5, .sampling = {.temperature = 1.0F}};

// One call that a branch saw: a prefill of some tokens, or a step with its prediction.
struct Call {
  std::vector<Token> tokens;
  bool step = false;
  std::uint64_t draw = 0;
  Prediction prediction = {};
};
using History = std::vector<Call>;

Prediction step_one(Engine& engine, BranchId branch, Token token, std::uint64_t draw) {
  const Feed feed{.branch = branch, .tokens = {&token, 1}, .draw = draw, .spec = &kSpec};
  Prediction prediction;
  engine.step({&feed, 1}, {&prediction, 1});
  return prediction;
}

// Exactly equal, or equal within `tolerance` nats.
::testing::AssertionResult same(const Prediction& a, const Prediction& b, float tolerance) {
  const auto near = [&](float x, float y) { return tolerance == 0 ? x == y : std::fabs(x - y) <= tolerance; };
  bool equal = a.status == b.status && near(a.entropy, b.entropy) && near(a.varentropy, b.varentropy) &&
               near(a.confidence, b.confidence) && a.top.size() == b.top.size();
  for (std::size_t i = 0; equal && i < a.top.size(); ++i) equal = near(a.top[i].logprob, b.top[i].logprob);
  if (tolerance == 0) equal = equal && a.sampled == b.sampled && a.top == b.top;
  if (equal) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "H " << a.entropy << " and " << b.entropy << ", VE " << a.varentropy
                                       << " and " << b.varentropy << ", top " << a.top.at(0).token << " ("
                                       << a.top.at(0).logprob << ") and " << b.top.at(0).token << " ("
                                       << b.top.at(0).logprob << ")";
}

void expect_same_alone(const LlamaModel& model, LlamaEngineOptions options, const History& history, float tolerance) {
  options.max_branches = 1;
  const auto engine = make_llama_engine(model, options);
  const BranchId branch = engine->open();
  int position = 0;
  for (const Call& call : history) {
    if (!call.step) {
      engine->prefill(branch, call.tokens);
    } else {
      ASSERT_TRUE(same(call.prediction, step_one(*engine, branch, call.tokens.at(0), call.draw), tolerance))
          << "at position " << position;
    }
    position += static_cast<int>(call.tokens.size());
  }
}

// Opens, prefills, forks, steps and releases at random, then checks every branch that is left, and some that died.
class RandomDriver {
 public:
  RandomDriver(const LlamaModel& model, const LlamaEngineOptions& options, unsigned seed)
      : model_(model), options_(options), engine_(make_llama_engine(model, options)), random_(seed) {}

  void run(int rounds, float tolerance) {
    for (int round = 0; round < rounds; ++round) {
      for (unsigned operation = roll(3); operation > 0; --operation) change();
      if (branches_.empty()) open();
      step();
    }
    for (const auto& [branch, history] : branches_) expect_same_alone(model_, options_, history, tolerance);
    for (const History& history : dead_) expect_same_alone(model_, options_, history, tolerance);
  }

 private:
  unsigned roll(unsigned sides) { return static_cast<unsigned>(random_() % sides); }
  Token any_token() { return static_cast<Token>(roll(static_cast<unsigned>(engine_->info().n_vocab))); }
  int room() const { return engine_->info().max_branches - static_cast<int>(branches_.size()); }

  void open() {
    branches_.emplace_back(engine_->open(), History());
    prefill(branches_.size() - 1);
  }

  void prefill(std::size_t index) {
    Call call;
    for (unsigned count = 1 + roll(roll(3) == 0 ? 128 : 20); count > 0; --count) call.tokens.push_back(any_token());
    engine_->prefill(branches_[index].first, call.tokens);
    branches_[index].second.push_back(call);
  }

  void change() {
    const unsigned kind = roll(10);
    if (branches_.empty() || (kind == 0 && room() > 0)) {
      open();
    } else if (kind < 6 && room() > 0) {
      const auto parent = branches_[roll(static_cast<unsigned>(branches_.size()))];
      branches_.emplace_back(engine_->fork(parent.first), parent.second);
    } else if (kind < 9) {
      const auto at = branches_.begin() + roll(static_cast<unsigned>(branches_.size()));
      engine_->release(at->first);
      if (dead_.size() < 3 && roll(4) == 0) dead_.push_back(at->second);
      branches_.erase(at);
    } else {
      prefill(roll(static_cast<unsigned>(branches_.size())));
    }
  }

  // Feeds most branches, in any order; some sit out, so that the streams have gaps.
  void step() {
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < branches_.size(); ++i) {
      if (roll(6) != 0) chosen.push_back(i);
    }
    std::shuffle(chosen.begin(), chosen.end(), random_);
    std::vector<Feed> feeds;
    feeds.reserve(chosen.size());
    std::vector<Token> fed;
    fed.reserve(chosen.size());
    for (const std::size_t i : chosen) {
      fed.push_back(any_token());
      feeds.push_back({.branch = branches_[i].first, .tokens = {&fed.back(), 1}, .draw = random_(), .spec = &kSpec});
    }
    std::vector<Prediction> predictions(feeds.size());
    engine_->step(feeds, predictions);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      branches_[chosen[i]].second.push_back(
          {.tokens = {feeds[i].tokens.front()}, .step = true, .draw = feeds[i].draw, .prediction = predictions[i]});
    }
  }

  const LlamaModel& model_;
  LlamaEngineOptions options_;
  std::unique_ptr<Engine> engine_;
  std::mt19937 random_;
  std::vector<std::pair<BranchId, History>> branches_;
  std::vector<History> dead_;
};

struct Setting {
  const char* name;
  const char* architecture;
  const char* weights;
  KvType kv;
  KvLayout layout;
  Toggle flash;
  int threads;
  int rounds;
  float tolerance;  // 0: to the last bit
};

std::ostream& operator<<(std::ostream& out, const Setting& setting) { return out << setting.name; }

class LlamaEngineProperty : public ::testing::TestWithParam<Setting> {};

TEST_P(LlamaEngineProperty, BranchesAreWhatTheyAreAlone) {
  const Setting& setting = GetParam();
  RandomModelOptions geometry = tiny_options();
  geometry.architecture = setting.architecture;
  if (geometry.architecture == "qwen2" || geometry.architecture == "phi3") {
    geometry.heads = 2;  // embedding = heads x head size
    geometry.kv_heads = 1;
  }
  geometry.embedding = 64;
  geometry.weight_type = setting.weights;
  if (geometry.weight_type.ends_with("_K")) {  // blocks of 256
    geometry.embedding = 256;
    geometry.feed_forward = 256;
    geometry.heads = 8;
  }
  const LlamaModel model({.path = write_model(setting.name, geometry), .gpu_layers = 0});
  LlamaEngineOptions options;
  options.max_branches = 11;
  options.context_length = 3000;
  options.kv_type = setting.kv;
  options.kv_layout = setting.layout;
  options.flash_attention = setting.flash;
  options.threads = setting.threads;
  for (unsigned seed = 0; seed < 2; ++seed) {
    RandomDriver(model, options, seed).run(setting.rounds, setting.tolerance);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Settings, LlamaEngineProperty,
    ::testing::Values(
        Setting{"qwen3_f16", "qwen3", "f16", KvType::kF16, KvLayout::kStreams, Toggle::kAuto, 1, 30, 0},
        Setting{"qwen2_q8_0", "qwen2", "q8_0", KvType::kF16, KvLayout::kStreams, Toggle::kAuto, 1, 30, 0},
        Setting{"phi3_f32", "phi3", "f32", KvType::kF16, KvLayout::kStreams, Toggle::kAuto, 1, 30, 0},
        Setting{"llama_bf16", "llama", "bf16", KvType::kF16, KvLayout::kStreams, Toggle::kAuto, 1, 30, 0},
        Setting{"qwen3_q4_0", "qwen3", "q4_0", KvType::kF16, KvLayout::kStreams, Toggle::kAuto, 1, 30, 0},
        Setting{"qwen3_q4_k", "qwen3", "q4_K", KvType::kF16, KvLayout::kStreams, Toggle::kAuto, 1, 12, 0},
        Setting{"qwen3_q6_k", "qwen3", "q6_K", KvType::kF16, KvLayout::kStreams, Toggle::kAuto, 1, 12, 0},
        Setting{"qwen3_iq4_nl", "qwen3", "iq4_nl", KvType::kF16, KvLayout::kStreams, Toggle::kAuto, 1, 30, 0},
        Setting{"qwen3_two_threads", "qwen3", "f16", KvType::kF16, KvLayout::kStreams, Toggle::kAuto, 2, 2, 0},
        Setting{"qwen3_q8_0_two_threads", "qwen3", "q8_0", KvType::kF16, KvLayout::kStreams, Toggle::kAuto, 2, 2, 0},
        Setting{"qwen3_flash", "qwen3", "f16", KvType::kF16, KvLayout::kStreams, Toggle::kOn, 1, 30, 0},
        Setting{"qwen3_kv_q8_0", "qwen3", "q8_0", KvType::kQ8_0, KvLayout::kStreams, Toggle::kAuto, 1, 30, 0},
        Setting{"qwen3_kv_bf16", "qwen3", "f16", KvType::kBf16, KvLayout::kStreams, Toggle::kAuto, 1, 30, 0},
        Setting{"qwen3_unified", "qwen3", "f16", KvType::kF16, KvLayout::kUnified, Toggle::kAuto, 1, 30, 2e-2F}),
    [](const auto& test) { return std::string(test.param.name); });

class LlamaEngineTest : public ::testing::Test {
 protected:
  static const LlamaModel& model() {
    static const LlamaModel model({.path = write_model("engine", tiny_options()), .gpu_layers = 0});
    return model;
  }

  static void prefill(Engine& engine, BranchId branch, std::span<const Token> tokens) {
    const auto chunk = static_cast<std::size_t>(engine.info().prefill_chunk);
    for (; !tokens.empty(); tokens = tokens.subspan(std::min(chunk, tokens.size()))) {
      engine.prefill(branch, tokens.first(std::min(chunk, tokens.size())));
    }
  }

  static std::vector<Token> some_tokens(int count, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<Token> tokens(static_cast<std::size_t>(count));
    for (Token& token : tokens) token = static_cast<Token>(random() % 500);
    return tokens;
  }

  // One step of all branches, written into their histories.
  static void step_all(Engine& engine, std::vector<std::pair<BranchId, History>>& branches, unsigned step) {
    std::vector<Feed> feeds;
    feeds.reserve(branches.size());
    std::vector<Token> tokens(branches.size());
    for (std::size_t i = 0; i < branches.size(); ++i) {
      tokens[i] = static_cast<Token>((i * 37 + std::size_t{step} * 11) % 500);
      feeds.push_back(
          {.branch = branches[i].first, .tokens = {&tokens[i], 1}, .draw = i * 1000 + step, .spec = &kSpec});
    }
    std::vector<Prediction> predictions(feeds.size());
    engine.step(feeds, predictions);
    for (std::size_t i = 0; i < branches.size(); ++i) {
      branches[i].second.push_back(
          {.tokens = {feeds[i].tokens.front()}, .step = true, .draw = feeds[i].draw, .prediction = predictions[i]});
    }
  }
};

TEST_F(LlamaEngineTest, GrowingInBothDirectionsChangesNoBit) {
  const LlamaEngineOptions options{.max_branches = 40, .context_length = 1500, .threads = 1};
  const auto engine = make_llama_engine(model(), options);
  std::vector<std::pair<BranchId, History>> branches(1);
  branches[0].first = engine->open();
  for (unsigned chunk = 0; chunk < 5; ++chunk) {
    branches[0].second.push_back({.tokens = some_tokens(101, chunk)});
    engine->prefill(branches[0].first, branches[0].second.back().tokens);
  }
  // Past 8, 16 and 32 streams and past 512 cells on the way.
  for (unsigned step = 0; step < 12; ++step) {
    for (int fork = 0; fork < 4 && branches.size() < 40; ++fork) {
      const auto parent = branches[step % branches.size()];
      branches.emplace_back(engine->fork(parent.first), parent.second);
    }
    step_all(*engine, branches, step);
  }
  for (std::size_t i = 0; i < branches.size(); i += 7) expect_same_alone(model(), options, branches[i].second, 0);
}

// So many and so different that a step is several evaluations.
TEST_F(LlamaEngineTest, ShortBranchesBesideLongOnesAreWhatTheyAreAlone) {
  const LlamaEngineOptions options{.max_branches = 60, .context_length = 2000, .threads = 1};
  const auto engine = make_llama_engine(model(), options);
  const auto chunk = engine->info().prefill_chunk;
  std::vector<std::pair<BranchId, History>> branches;
  for (const int length : {1900, 30, 700}) {
    branches.emplace_back(engine->open(), History());
    for (int done = 0; done < length; done += chunk) {
      branches.back().second.push_back(
          {.tokens = some_tokens(std::min(chunk, length - done), static_cast<unsigned>(length + done))});
      engine->prefill(branches.back().first, branches.back().second.back().tokens);
    }
    const auto parent = branches.back();
    for (int fork = 0; fork < 19; ++fork) branches.emplace_back(engine->fork(parent.first), parent.second);
  }
  for (unsigned step = 0; step < 3; ++step) {
    step_all(*engine, branches, step);
    engine->release(branches.back().first);  // the cuts move
    branches.pop_back();
  }
  for (const std::size_t i : {0U, 7U, 19U, 20U, 31U, 39U, 40U, 50U, 56U}) {
    expect_same_alone(model(), options, branches[i].second, 0);
  }
}

TEST_F(LlamaEngineTest, ALaterSearchIsNotChangedByAnEarlierOne) {
  const LlamaEngineOptions options{.max_branches = 4, .context_length = 2000, .threads = 1};
  const auto engine = make_llama_engine(model(), options);
  const BranchId old = engine->open();  // long enough to have grown the cache, which the next one gives back
  prefill(*engine, old, some_tokens(1500, 1));
  step_one(*engine, old, 5, 5);
  engine->release(old);
  History history = {{.tokens = some_tokens(30, 9)}};
  const BranchId branch = engine->open();
  engine->prefill(branch, history[0].tokens);
  for (Token token = 1; token < 5; ++token) {
    const Prediction prediction = step_one(*engine, branch, token, 77);
    history.push_back({.tokens = {token}, .step = true, .draw = 77, .prediction = prediction});
  }
  expect_same_alone(model(), options, history, 0);
}

TEST_F(LlamaEngineTest, ABranchHoldsExactlyTheContext) {
  for (const KvLayout layout : {KvLayout::kStreams, KvLayout::kUnified}) {
    const auto engine =
        make_llama_engine(model(), {.max_branches = 3, .context_length = 767, .threads = 1, .kv_layout = layout});
    const BranchId branch = engine->open();
    const BranchId beside = engine->open();
    prefill(*engine, branch, some_tokens(766, 1));
    prefill(*engine, beside, some_tokens(767, 2));
    step_one(*engine, branch, 1, 1);  // the 767th token, padded beside a branch that is full
    EXPECT_THROW(step_one(*engine, branch, 1, 1), Error);
    EXPECT_THROW(engine->prefill(beside, some_tokens(1, 1)), Error);
    const BranchId child = engine->open();
    engine->prefill(child, some_tokens(3, 1));
    EXPECT_GT(step_one(*engine, child, 1, 1).entropy, 0) << "the others are unharmed";
  }
}

TEST_F(LlamaEngineTest, AFullPoolIsAnErrorAndABranchThatEndsMakesRoom) {
  const LlamaEngineOptions options{
      .max_branches = 3, .context_length = 1000, .threads = 1, .kv_layout = KvLayout::kUnified};
  MemoryPlan plan = plan_memory(model(), options);
  plan.first_cells = 512;
  plan.cells = 1280;  // too few for all
  const auto engine = make_llama_engine_as_planned(model(), options, plan);
  const auto fill = [&](BranchId branch) { prefill(*engine, branch, some_tokens(999, 1)); };
  const BranchId first = engine->open();
  fill(first);
  const BranchId second = engine->open();
  try {
    fill(second);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("full"), std::string::npos) << error.what();
  }
  engine->release(second);
  const BranchId fork = engine->fork(first);  // shares its parent's cells
  EXPECT_GT(step_one(*engine, fork, 1, 1).entropy, 0);
  engine->release(first);
  engine->release(fork);
  const BranchId third = engine->open();
  fill(third);
  EXPECT_GT(step_one(*engine, third, 1, 1).entropy, 0);
}

// A step that is interrupted did not happen: whatever comes after it is as if it had never been tried.
TEST_F(LlamaEngineTest, AnInterruptedStepLeavesEveryBranchAsItWas) {
  for (const KvLayout layout : {KvLayout::kStreams, KvLayout::kUnified}) {
    const LlamaEngineOptions options = {.max_branches = 3, .context_length = 600, .threads = 1, .kv_layout = layout};
    const auto engine = make_llama_engine(model(), options);
    std::vector<std::pair<BranchId, History>> branches(1);
    branches[0].first = engine->open();
    branches[0].second.push_back({.tokens = some_tokens(40, 1)});
    engine->interruption().now();
    EXPECT_THROW(engine->prefill(branches[0].first, branches[0].second[0].tokens), Interrupted);
    engine->interruption().clear();
    engine->prefill(branches[0].first, branches[0].second[0].tokens);
    for (int i = 0; i < 2; ++i) branches.emplace_back(engine->fork(branches[0].first), branches[0].second);
    for (unsigned step = 0; step < 5; ++step) {
      engine->interruption().at(Interruption::Clock::now());
      auto copy = branches;
      EXPECT_THROW(step_all(*engine, copy, step + 100), Interrupted);
      engine->interruption().clear();
      step_all(*engine, branches, step);
    }
    for (const auto& [branch, history] : branches) {
      // One pool is not batch-invariant: three rows round otherwise than one.
      expect_same_alone(model(), options, history, layout == KvLayout::kStreams ? 0 : 2e-2F);
    }
  }
}

TEST_F(LlamaEngineTest, MisuseIsAnErrorAndLeavesTheEngineUsable) {
  for (const KvLayout layout : {KvLayout::kStreams, KvLayout::kUnified}) {
    const auto engine =
        make_llama_engine(model(), {.max_branches = 2, .context_length = 600, .threads = 1, .kv_layout = layout});
    EXPECT_THROW(engine->fork(0), Error);
    EXPECT_THROW(engine->release(-1), Error);
    EXPECT_THROW(engine->prefill(5, some_tokens(1, 1)), Error);
    const BranchId a = engine->open();
    EXPECT_THROW(engine->prefill(a, some_tokens(engine->info().prefill_chunk + 1, 1)), Error) << "more than a chunk";
    const std::vector<Token> outside = {engine->info().n_vocab};
    EXPECT_THROW(engine->prefill(a, outside), Error);
    engine->prefill(a, {});
    engine->prefill(a, some_tokens(5, 1));
    const BranchId b = engine->fork(a);
    EXPECT_THROW(engine->open(), Error) << "two branches are all there are";
    EXPECT_THROW(engine->fork(a), Error);
    EXPECT_THROW(step_one(*engine, a, -1, 0), Error);
    const Token one = 1;
    const std::vector<Feed> twice(2, Feed{.branch = a, .tokens = {&one, 1}, .draw = 0, .spec = &kSpec});
    std::vector<Prediction> predictions(2);
    EXPECT_THROW(engine->step(twice, predictions), Error);
    const std::vector<Feed> both = {{.branch = a, .tokens = {&one, 1}, .draw = 0, .spec = &kSpec},
                                    {.branch = b, .tokens = {&one, 1}, .draw = 0, .spec = &kSpec}};
    EXPECT_THROW(engine->step(both, std::span(predictions).first(1)), Error);
    engine->step({}, {});
    const std::vector<Feed> mixed = {both[0], {.branch = b, .tokens = {&one, 1}}};
    EXPECT_THROW(engine->step(mixed, predictions), Error) << "a stretch of a prompt comes alone";
    engine->step(both, predictions);
    EXPECT_TRUE(same(predictions[0], predictions[1], layout == KvLayout::kStreams ? 0 : 1e-3F));
    engine->release(a);
    EXPECT_THROW(engine->release(a), Error);
    EXPECT_GT(step_one(*engine, b, 3, 0).entropy, 0);
  }
}

TEST_F(LlamaEngineTest, AContextThatCannotFitIsRefusedBeforeItIsMade) {
  try {
    (void)make_llama_engine(model(), {.max_branches = 250, .context_length = 1 << 24});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("max_branches"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace dts
