// Which engine in this process takes a model, and what people are told of it.
#include "dts/local_model.h"

#include <gtest/gtest.h>

#include "dts/error.h"
#include "dts/native.h"
#include "engine/random/random_model.h"
#include "support/temporary_directory.h"

namespace dts {
namespace {

class LocalModelTest : public testing::Test {
 protected:
  void SetUp() override {
    if (why_no_native_gpu().empty() || llama_has_gpu()) GTEST_SKIP() << "there is a GPU here";
    if (!why_no_native_cpu().empty()) GTEST_SKIP() << why_no_native_cpu();
  }

  // A model of random weights of that type.
  LocalModelOptions model(const std::string& weights) const {
    RandomModelOptions random;
    random.embedding = 256;  // blocks of 256 weights
    random.heads = 4;
    random.head_size = 64;
    random.feed_forward = 256;
    random.weight_type = weights;
    LocalModelOptions options;
    options.model.path = directory_.file(weights + ".gguf");
    write_random_model(options.model.path, random);
    return options;
  }

  test::TemporaryDirectory directory_;
};

TEST_F(LocalModelTest, TheCpusOwnKernelsWhereTheyKnowTheWeights) {
  for (const char* weights : {"f16", "bf16", "q8_0", "q4_0", "q4_K", "q5_K", "q6_K", "iq4_nl"}) {
    const LocalModelOptions options = model(weights);
    const LocalChoice choice = choose_local_engine(options);
    EXPECT_EQ(choice.engine, LocalEngine::kNativeCpu) << weights;
    EXPECT_EQ(choice.note, "") << weights;
    EXPECT_EQ(open_local_model(options.model, choice.engine)->info().parameters > 0, true);
  }
}

TEST_F(LocalModelTest, OtherWeightsAreLlamasAndOneLineSaysSo) {
  const LocalModelOptions options = model("q2_K");
  const LocalChoice choice = choose_local_engine(options);
  EXPECT_EQ(choice.engine, LocalEngine::kLlama);
  EXPECT_NE(choice.note.find("q2_K"), std::string::npos) << choice.note;
  EXPECT_EQ(choice.note.find('\n'), std::string::npos) << choice.note;
  EXPECT_EQ(open_local_model(options.model, choice.engine)->info().parameters > 0, true);
}

TEST_F(LocalModelTest, WhatDoesNotFitTheMemoryIsLlamasWhichMapsIt) {
  const LocalModelOptions options = model("q8_0");
  const LocalChoice choice = choose_local_engine(options, 1000);
  EXPECT_EQ(choice.engine, LocalEngine::kLlama);
  EXPECT_NE(choice.note.find("memory"), std::string::npos) << choice.note;
}

TEST_F(LocalModelTest, OptionsOfLlamaTakeItAndOptionsOfHabitDoNot) {
  LocalModelOptions options = model("q8_0");
  options.model.gpu_layers = 99;  // and there is no GPU
  options.model.engine.batch_invariant = Toggle::kOff;
  EXPECT_EQ(choose_local_engine(options).engine, LocalEngine::kNativeCpu);
  options.model.gpu_layers = 0;
  EXPECT_EQ(choose_local_engine(options).engine, LocalEngine::kNativeCpu);
  options.model.engine.flash_attention = Toggle::kOn;
  const LocalChoice choice = choose_local_engine(options);
  EXPECT_EQ(choice.engine, LocalEngine::kLlama);
  EXPECT_NE(Error(choice.note)
                .spelled([](std::string_view option) { return "<" + std::string(option) + ">"; })
                .find("<flash_attention>"),
            std::string::npos)
      << choice.note;
  options.engine = LocalEngine::kNativeCpu;
  EXPECT_THROW(choose_local_engine(options), Error) << "asked for by name, it is not passed over in silence";
}

}  // namespace
}  // namespace dts
