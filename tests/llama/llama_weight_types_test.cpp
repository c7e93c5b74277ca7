// Every type of weights that llama.cpp can quantise to: a search's predictions are, to the last bit, the same alone and
// beside others, or the engine says that they are not.
#include <ggml.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "dts/engine.h"
#include "dts/llama.h"
#include "engine/llama/llama_engine.h"
#include "support/llama_models.h"

namespace dts {
namespace {

constexpr int kSteps = 2;

std::vector<std::string> weight_types() {
  std::vector<std::string> names;
  for (int i = 0; i < GGML_TYPE_COUNT; ++i) {
    const auto type = static_cast<ggml_type>(i);
    const bool is_float = type == GGML_TYPE_F32 || type == GGML_TYPE_F16 || type == GGML_TYPE_BF16;
    // q8_1 and q8_K are what rows are quantised to within a step.
    const bool quantised = ggml_is_quantized(type) && type != GGML_TYPE_Q8_1 && type != GGML_TYPE_Q8_K;
    if (ggml_type_name(type) != nullptr && ggml_blck_size(type) > 0 && (is_float || quantised)) {
      names.emplace_back(ggml_type_name(type));
    }
  }
  return names;
}

// Widths that every type's blocks divide.
RandomModelOptions wide_options(const std::string& weights) {
  RandomModelOptions options = tiny_options();
  options.architecture = "llama";
  options.layers = 1;
  options.embedding = options.feed_forward = 256;
  options.heads = 8;
  options.kv_heads = 2;
  options.head_size = 32;
  options.weight_type = weights;
  return options;
}

// A search as an engine sees it: branches that began with one prompt, of one spec, a row each in every step.
class Rows {
 public:
  Rows(Engine& engine, int rows, Token first) : engine_(engine), first_(first) {
    for (int i = 0; i < rows; ++i) {
      branches_.push_back(engine.open());
      const std::vector<Token> prompt = {first, static_cast<Token>(first + i), 7};
      engine.prefill(branches_.back(), prompt);
    }
    tokens_.resize(branches_.size());
  }
  ~Rows() {
    for (const BranchId branch : branches_) engine_.release(branch);
  }
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;

  void feed(int step, std::vector<Feed>& feeds) {
    for (std::size_t i = 0; i < branches_.size(); ++i) {
      tokens_[i] = static_cast<Token>((first_ + 31 * static_cast<Token>(i) + 7 * step) % 500);
      feeds.push_back({.branch = branches_[i], .tokens = {&tokens_[i], 1}, .draw = i + 1, .spec = &spec_});
    }
  }

 private:
  Engine& engine_;
  Token first_;
  std::vector<BranchId> branches_;
  std::vector<Token> tokens_;
  PredictionSpec spec_ = {.top_k = 20, .sampling = {.temperature = 1.0F}};
};

// What the first of the searches is told, whatever the others are.
std::vector<Prediction> told(Engine& engine, int rows, const std::vector<int>& others) {
  std::vector<std::unique_ptr<Rows>> searches;
  searches.push_back(std::make_unique<Rows>(engine, rows, 40));
  for (const int other : others) {
    searches.push_back(std::make_unique<Rows>(engine, other, 100 + 3 * static_cast<Token>(searches.size())));
  }
  std::vector<Prediction> all;
  for (int step = 0; step < kSteps; ++step) {
    std::vector<Feed> feeds;
    for (const auto& search : searches) search->feed(step, feeds);
    std::vector<Prediction> predictions(feeds.size());
    engine.step(feeds, predictions);
    all.insert(all.end(), predictions.begin(), predictions.begin() + rows);
  }
  return all;
}

bool same(const std::vector<Prediction>& a, const std::vector<Prediction>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].entropy != b[i].entropy || a[i].varentropy != b[i].varentropy || a[i].sampled != b[i].sampled ||
        a[i].top != b[i].top) {
      return false;
    }
  }
  return a.size() == b.size();
}

struct Way {
  const char* name;
  Toggle batch_invariant;
  bool lone_rows_alone;
};

const std::vector<Way> kWays = {{"as run and serve do", Toggle::kAuto, true},
                                {"as eval does", Toggle::kAuto, false},
                                {"padded always", Toggle::kOn, true}};

class LlamaWeightTypes : public ::testing::TestWithParam<std::string> {};

TEST_P(LlamaWeightTypes, ASearchIsTheSameBesideOthers) {
  const LlamaModel model({.path = write_model("type_" + GetParam(), wide_options(GetParam())), .gpu_layers = 0});
  for (const Way& way : kWays) {
    LlamaEngineOptions options{.max_branches = 20, .context_length = 64, .threads = 1};
    options.batch_invariant = way.batch_invariant;
    options.lone_rows_alone = way.lone_rows_alone;
    const std::unique_ptr<Engine> engine = make_llama_engine(model, options);
    ASSERT_TRUE(engine->info().capabilities.batch_invariant) << way.name;
    for (const int rows : {1, 3, 8}) {
      const std::vector<Prediction> alone = told(*engine, rows, {});
      for (const std::vector<int>& others : std::vector<std::vector<int>>{{1}, {4}, {1, 2, 1}, {1, 10}}) {
        ASSERT_TRUE(same(alone, told(*engine, rows, others)))
            << way.name << ": " << rows << " rows beside " << ::testing::PrintToString(others);
      }
    }
  }
}

// All rows together are what each is alone: what trees of different questions at once rely on.
TEST_P(LlamaWeightTypes, PaddedRowsAreTheSameInAnyNumber) {
  const LlamaModel model({.path = write_model("number_" + GetParam(), wide_options(GetParam())), .gpu_layers = 0});
  LlamaEngineOptions options{.max_branches = 20, .context_length = 64, .threads = 1};
  const std::unique_ptr<Engine> engine = make_llama_engine(model, options);
  const std::vector<Prediction> alone = told(*engine, 1, {});
  for (int rows = 2; rows <= 18; ++rows) {
    const std::vector<Prediction> together = told(*engine, rows, {});
    for (int step = 0; step < kSteps; ++step) {
      const auto at = static_cast<std::size_t>(step);
      ASSERT_TRUE(same({alone[at]}, {together[at * static_cast<std::size_t>(rows)]})) << rows << " rows, step " << step;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, LlamaWeightTypes, ::testing::ValuesIn(weight_types()),
                         [](const auto& test) { return test.param; });

TEST(LlamaWeightTypes, ThereAreAllOfThem) {
  // f32, f16, bf16; 9 of legacy blocks, 5 k-quants, 9 i-quants, 2 ternary: as llama.cpp's ggml_quantize_chunk.
  EXPECT_GE(weight_types().size(), 28U);
}

// How many rows an expert gets depends on all rows of the step, so nothing is promised, and nothing is paid for it.
TEST(LlamaExperts, SayThatTheyAreNotReproducibleBesideOthers) {
  RandomModelOptions geometry = wide_options("q4_K");
  geometry.experts = 4;
  const LlamaModel model({.path = write_model("experts", geometry), .gpu_layers = 0});
  for (const Way& way : kWays) {
    LlamaEngineOptions options{.max_branches = 20, .context_length = 64, .threads = 1};
    options.batch_invariant = way.batch_invariant;
    options.lone_rows_alone = way.lone_rows_alone;
    const std::unique_ptr<Engine> engine = make_llama_engine(model, options);
    EXPECT_FALSE(engine->info().capabilities.batch_invariant) << way.name;
    EXPECT_NE(engine->info().capabilities.to_string().find("only for the same questions at once"), std::string::npos);
  }
  // For the same questions at once it is.
  const LlamaEngineOptions options{.max_branches = 20, .context_length = 64, .threads = 1};
  const std::unique_ptr<Engine> engine = make_llama_engine(model, options);
  EXPECT_TRUE(same(told(*engine, 3, {2}), told(*engine, 3, {2})));
}

}  // namespace
}  // namespace dts
