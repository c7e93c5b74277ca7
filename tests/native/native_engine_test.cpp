// Branches among others against the same branches alone: to the last bit, on every device.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "dts/engine.h"
#include "dts/error.h"
#include "native/native_models.h"

namespace dts {
namespace {

struct Call {
  std::vector<Token> tokens = {};
  std::uint64_t draw = 0;
  const PredictionSpec* spec = nullptr;  // null: a stretch of a prompt
  Prediction prediction = {};
};
using History = std::vector<Call>;

const PredictionSpec kPlain = {.top_k = 5, .sampling = {.temperature = 1.0F}};
const PredictionSpec kNucleus = {.top_k = 3, .sampling = {.temperature = 0.7F, .top_k = 20, .top_p = 0.9F}};

void expect_same(const Prediction& a, const Prediction& b, std::size_t call) {
  ASSERT_EQ(a.status, b.status) << "call " << call;
  ASSERT_EQ(a.entropy, b.entropy) << "call " << call;
  ASSERT_EQ(a.varentropy, b.varentropy) << "call " << call;
  ASSERT_EQ(a.confidence, b.confidence) << "call " << call;
  ASSERT_EQ(a.top, b.top) << "call " << call;
  ASSERT_EQ(a.sampled, b.sampled) << "call " << call;
  ASSERT_EQ(a.sampled_logprob, b.sampled_logprob) << "call " << call;
}

void expect_same_alone(Engine& engine, const History& history) {
  const BranchId branch = engine.open();
  for (std::size_t i = 0; i < history.size(); ++i) {
    const Call& call = history[i];
    const Feed feed{.branch = branch, .tokens = call.tokens, .draw = call.draw, .spec = call.spec};
    Prediction prediction;
    engine.step({&feed, 1}, {&prediction, 1});
    if (call.spec != nullptr) expect_same(call.prediction, prediction, i);
  }
  engine.release(branch);
}

// Opens, forks, feeds prompts and tokens and releases at random, then plays every branch again alone.
class RandomDriver {
 public:
  RandomDriver(Engine& engine, unsigned seed) : engine_(engine), random_(seed) {}

  void run(int rounds) {
    for (int round = 0; round < rounds; ++round) {
      for (unsigned operation = roll(3); operation > 0; --operation) change();
      if (branches_.empty()) branches_.emplace_back(engine_.open(), History());
      if (roll(5) == 0) leave_and_return();
      step();
    }
    for (const auto& [branch, history] : branches_) engine_.release(branch);
    for (const auto& [branch, history] : branches_) expect_same_alone(engine_, history);
    for (const History& history : dead_) expect_same_alone(engine_, history);
  }

 private:
  unsigned roll(unsigned sides) { return static_cast<unsigned>(random_() % sides); }
  Token any_token() { return static_cast<Token>(roll(static_cast<unsigned>(engine_.info().n_vocab))); }
  bool room() const { return static_cast<int>(branches_.size()) < engine_.info().max_branches; }
  std::size_t some() { return roll(static_cast<unsigned>(branches_.size())); }

  void change() {
    const unsigned kind = roll(10);
    if (branches_.empty() || (kind == 0 && room())) {
      branches_.emplace_back(engine_.open(), History());
    } else if (kind < 6 && room()) {
      const auto parent = branches_[some()];
      branches_.emplace_back(engine_.fork(parent.first), parent.second);
    } else if (kind < 8) {
      const auto at = branches_.begin() + static_cast<std::ptrdiff_t>(some());
      engine_.release(at->first);
      if (dead_.size() < 3) dead_.push_back(at->second);
      branches_.erase(at);
    }
  }

  // Some branches are taken out of the device's memory and put back into other pages.
  void leave_and_return() {
    std::vector<BranchId> some;
    for (const auto& [branch, history] : branches_) {
      if (roll(2) == 0) some.push_back(branch);
    }
    engine_.suspend(some);
    std::vector<BranchId> other;
    for (const auto& [branch, history] : branches_) {
      if (std::find(some.begin(), some.end(), branch) == some.end()) other.push_back(branch);
    }
    engine_.suspend(other);
    ASSERT_TRUE(engine_.resume(some));
    ASSERT_TRUE(engine_.resume(other));
  }

  // Most branches, in any order, some with a stretch of a prompt in place of one token.
  void step() {
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < branches_.size(); ++i) {
      if (roll(6) != 0) chosen.push_back(i);
    }
    std::shuffle(chosen.begin(), chosen.end(), random_);
    std::vector<Call> calls;
    int prompt_rows = 0;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      Call call{.draw = random_(), .spec = roll(2) == 0 ? &kPlain : &kNucleus};
      unsigned count = 1;
      if (roll(8) == 0) {
        call.spec = nullptr;
        count = 1 + roll(roll(3) == 0 ? 250 : 20);
        if (prompt_rows + static_cast<int>(count) > engine_.info().prefill_chunk) count = 1;
        prompt_rows += static_cast<int>(count);
      }
      for (; count > 0; --count) call.tokens.push_back(any_token());
      calls.push_back(std::move(call));
    }
    std::vector<Feed> feeds;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      feeds.push_back({.branch = branches_[chosen[i]].first,
                       .tokens = calls[i].tokens,
                       .draw = calls[i].draw,
                       .spec = calls[i].spec});
    }
    std::vector<Prediction> predictions(feeds.size());
    engine_.step(feeds, predictions);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      calls[i].prediction = predictions[i];
      branches_[chosen[i]].second.push_back(calls[i]);
    }
  }

  Engine& engine_;
  std::mt19937_64 random_;
  std::vector<std::pair<BranchId, History>> branches_;
  std::vector<History> dead_;
};

class NativeEngineProperty : public ::testing::TestWithParam<const char*> {};

TEST_P(NativeEngineProperty, BranchesAreWhatTheyAreAlone) {
  const std::string path = write_model(std::string("alone_") + GetParam(), family_options(GetParam()));
  for (const NativeDevice device : native_devices()) {
    SCOPED_TRACE(name_of(device));
    for (const NativeKvType kv : kv_types(device)) {
      SCOPED_TRACE(name_of(kv));
      const NativeModel model({.path = path, .device = device, .kv_type = kv});
      const auto engine =
          model.make_engine({.max_branches = device == NativeDevice::kOracle ? 9 : 70, .context_length = 3000});
      const int rounds = device == NativeDevice::kOracle ? 25 : 80;
      for (unsigned seed = 0; seed < (kv == NativeKvType::kF16 ? 3 : 1); ++seed) {
        RandomDriver(*engine, seed).run(rounds);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// However a prompt is cut, wherever it is taken over: the same bits.
TEST_P(NativeEngineProperty, AKeptPromptGoesOnAsIfItHadBeenFed) {
  const std::string path = write_model(std::string("kept_") + GetParam(), family_options(GetParam()));
  std::mt19937 random(7);
  const auto roll = [&](std::size_t sides) { return static_cast<std::size_t>(random()) % sides; };
  for (const NativeDevice device : native_devices()) {
    SCOPED_TRACE(name_of(device));
    const std::vector<NativeKvType> types = kv_types(device);
    const NativeModel model({.path = path, .device = device, .kv_type = types[roll(types.size())]});
    const auto engine = model.make_engine({.max_branches = 3, .context_length = 600});
    ASSERT_TRUE(engine->info().capabilities.keeps_branches);
    const auto feed_cut = [&](BranchId branch, std::span<const Token> tokens) {
      while (!tokens.empty()) {
        const std::size_t n = 1 + roll(std::min<std::size_t>(tokens.size(), 120));
        engine->prefill(branch, tokens.first(n));
        tokens = tokens.subspan(n);
      }
    };
    for (int round = 0; round < 8; ++round) {
      std::vector<Token> prompt(1 + roll(300));
      for (Token& token : prompt) token = static_cast<Token>(roll(static_cast<std::size_t>(engine->info().n_vocab)));
      const BranchId first = engine->open();
      feed_cut(first, prompt);
      const auto kept = engine->keep(first);
      EXPECT_EQ(kept->tokens(), static_cast<int>(prompt.size()));
      EXPECT_GT(kept->bytes(), 0);
      const Token token = 9;
      Prediction ignored;
      const Feed on{.branch = first, .tokens = {&token, 1}, .draw = 1, .spec = &kPlain};
      engine->step({&on, 1}, {&ignored, 1});  // what was kept does not go on with it
      const bool gone = roll(2) == 0;
      if (gone) engine->release(first);
      const std::size_t taken = roll(prompt.size() + 1);
      const BranchId again = engine->reopen(*kept, static_cast<int>(taken));
      std::vector<Token> other = prompt;
      for (std::size_t i = taken; i < other.size(); ++i) other[i] = static_cast<Token>(1 + roll(100));
      feed_cut(again, std::span<const Token>(other).subspan(taken));
      const BranchId fresh = engine->open();
      feed_cut(fresh, other);
      for (std::size_t i = 0; i < 3; ++i) {
        std::vector<Prediction> out(2);
        const std::vector<Feed> feeds = {{.branch = again, .tokens = {&token, 1}, .draw = 5, .spec = &kPlain},
                                         {.branch = fresh, .tokens = {&token, 1}, .draw = 5, .spec = &kPlain}};
        engine->step(feeds, out);
        expect_same(out[0], out[1], i);
      }
      EXPECT_THROW(engine->reopen(*kept, static_cast<int>(prompt.size()) + 1), Error);
      if (!gone) engine->release(first);
      engine->release(again);
      engine->release(fresh);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, NativeEngineProperty, ::testing::Values("qwen2", "qwen3", "llama", "phi3"),
                         [](const auto& test) { return std::string(test.param); });

class NativeEngineTest : public ::testing::Test {
 protected:
  static const NativeModel& model() {
    static const NativeModel model(
        {.path = write_model("native", family_options("qwen3")), .device = NativeDevice::kOracle});
    return model;
  }
};

TEST_F(NativeEngineTest, AnInterruptedStepDidNotHappen) {
  const auto engine = model().make_engine({.max_branches = 4, .context_length = 500});
  const BranchId a = engine->open();
  const std::vector<Token> prompt = {1, 2, 3, 4, 5, 6, 7};
  engine->prefill(a, prompt);
  const BranchId b = engine->fork(a);
  const Token token = 9;
  const std::vector<Feed> feeds = {{.branch = a, .tokens = {&token, 1}, .draw = 5, .spec = &kPlain},
                                   {.branch = b, .tokens = {&token, 1}, .draw = 5, .spec = &kPlain}};
  std::vector<Prediction> out(2);
  engine->interruption().now();
  EXPECT_THROW(engine->step(feeds, out), Interrupted);
  engine->interruption().clear();
  engine->release(b);  // the page that would have been copied to is free again
  const BranchId c = engine->open();
  engine->prefill(c, prompt);
  const std::vector<Feed> again = {feeds[0], {.branch = c, .tokens = {&token, 1}, .draw = 5, .spec = &kPlain}};
  engine->step(again, out);
  expect_same(out[0], out[1], 0);
}

// Leaves two tokens.
class TwoTokens final : public LogitsFilter {
 public:
  std::unique_ptr<LogitsFilter> clone() const override { return std::make_unique<TwoTokens>(*this); }
  void accept(Token /*token*/) override {}
  void apply(std::span<float> logits) const override {
    for (std::size_t i = 0; i < logits.size(); ++i) {
      if (i != 3 && i != 300) logits[i] = -std::numeric_limits<float>::infinity();
    }
  }
};

TEST(NativeEngineFilters, ForbidTokensOfTheirOwnRowAlone) {
  const std::string path = write_model("native_filters", family_options("llama"));
  for (const NativeDevice device : native_devices()) {
    SCOPED_TRACE(name_of(device));
    const NativeModel model({.path = path, .device = device});
    const auto engine = model.make_engine({.max_branches = 3, .context_length = 500});
    ASSERT_TRUE(engine->info().capabilities.filters_logits);
    std::vector<BranchId> branches = {engine->open()};
    engine->prefill(branches[0], std::vector<Token>{1, 2, 3, 4, 5});
    branches.push_back(engine->fork(branches[0]));
    branches.push_back(engine->fork(branches[0]));
    const TwoTokens filter;
    const Token token = 9;
    std::vector<Feed> feeds;
    for (const BranchId branch : branches) {
      feeds.push_back({.branch = branch, .tokens = {&token, 1}, .draw = 5, .spec = &kPlain});
    }
    feeds[1].filter = &filter;
    std::vector<Prediction> out(3);
    engine->step(feeds, out);
    expect_same(out[0], out[2], 0);
    EXPECT_EQ(out[0].top.size(), 5U);
    EXPECT_TRUE(out[1].sampled == 3 || out[1].sampled == 300) << out[1].sampled;
    double sum = 0;
    for (const Candidate& candidate : out[1].top) {
      if (candidate.token == 3 || candidate.token == 300) sum += std::exp(static_cast<double>(candidate.logprob));
    }
    EXPECT_NEAR(sum, 1.0, 1e-6);
    EXPECT_LE(static_cast<double>(out[1].entropy), std::log(2.0) + 1e-6);
  }
}

TEST_F(NativeEngineTest, RefusesWhatItCannotDo) {
  const auto engine = model().make_engine({.max_branches = 2, .context_length = 100});
  const BranchId a = engine->open();
  Prediction out;
  const auto feed = [&](BranchId branch, std::vector<Token> tokens, const PredictionSpec* spec) {
    const Feed one{.branch = branch, .tokens = tokens, .draw = 0, .spec = spec};
    engine->step({&one, 1}, {&out, 1});
  };
  EXPECT_THROW(feed(7, {1}, &kPlain), Error);
  EXPECT_THROW(feed(a, {}, &kPlain), Error);
  EXPECT_THROW(feed(a, {1, 2}, &kPlain), Error);
  EXPECT_THROW(feed(a, {-1}, &kPlain), Error);
  EXPECT_THROW(feed(a, {engine->info().n_vocab}, &kPlain), Error);
  EXPECT_THROW(feed(a, std::vector<Token>(101, 1), nullptr), Error);
  feed(a, std::vector<Token>(100, 1), nullptr);
  EXPECT_THROW(feed(a, {1}, &kPlain), Error);
  engine->open();
  EXPECT_THROW(engine->open(), Error);
  EXPECT_THROW(engine->fork(a), Error);
  engine->suspend(std::vector<BranchId>{a});
  EXPECT_THROW(engine->fork(a), Error);
  EXPECT_THROW(engine->keep(a), Error);
  EXPECT_THROW(engine->suspend(std::vector<BranchId>{a}), Error);
  EXPECT_TRUE(engine->resume(std::vector<BranchId>{a}));
  EXPECT_THROW(engine->resume(std::vector<BranchId>{a}), Error);
}

TEST_F(NativeEngineTest, TellsWhatItWillTake) {
  const EnginePlan plan = model().plan_engine({.max_branches = 10, .context_length = 640});
  EXPECT_EQ(plan.context_length, 640);
  EXPECT_GT(plan.needed_bytes, 0);
  EXPECT_LE(plan.needed_bytes, plan.available_bytes);
  EXPECT_THROW(model().plan_engine({.max_branches = 0}), Error);
  EXPECT_THROW(model().plan_engine({.max_branches = 1, .context_length = (1 << 20) + 1}), Error);
}

}  // namespace
}  // namespace dts
