// Models with random weights: valid, repeatable, and interesting enough to grow trees on.
#include "engine/random/random_model.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "dts/error.h"
#include "dts/llama.h"
#include "support/llama_models.h"

namespace dts {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(RandomModel, TheSameOptionsGiveTheSameBytes) {
  RandomModelOptions options = tiny_options();
  const std::string first = read_file(write_model("a", options));
  EXPECT_EQ(first, read_file(write_model("b", options)));
  options.seed = 2;
  EXPECT_NE(first, read_file(write_model("c", options)));
}

TEST(RandomModel, PresetsHaveTheGeometryOfTheirNamesakes) {
  for (const std::string_view name : random_model_presets()) EXPECT_GT(random_model_preset(name).layers, 0) << name;
  const RandomModelOptions options = random_model_preset("1.5b", 4);
  EXPECT_EQ(options.layers, 4);
  EXPECT_EQ(options.embedding, 1536);
  EXPECT_EQ(options.heads, 12);
  EXPECT_EQ(options.kv_heads, 2);
  EXPECT_EQ(options.feed_forward, 8960);
  EXPECT_EQ(options.vocabulary_size, 151936);
  EXPECT_EQ(random_model_preset("1.5b").layers, 28);
  try {
    (void)random_model_preset("3b");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::kUsage);
    EXPECT_NE(std::string(error.what()).find("phi-4-mini"), std::string::npos) << error.what();
  }
}

TEST(RandomModel, ImpossibleGeometriesAreUsageErrors) {
  const auto expect_usage = [](auto change) {
    RandomModelOptions options = tiny_options();
    change(options);
    EXPECT_THROW(write_random_model(scratch_file("never.gguf"), options), Error);
    EXPECT_FALSE(std::filesystem::exists(scratch_file("never.gguf")));
  };
  expect_usage([](auto& o) { o.architecture = "mamba"; });
  expect_usage([](auto& o) { o.layers = 0; });
  expect_usage([](auto& o) { o.kv_heads = 3; });
  expect_usage([](auto& o) { o.head_size = 33; });
  expect_usage([](auto& o) { o.weight_type = "q9"; });
  expect_usage([](auto& o) { o.weight_type = "q4_K"; });  // blocks of 256 in rows of 64
  expect_usage([](auto& o) { o.vocabulary_size = 10; });
  expect_usage([](auto& o) { o.architecture = "qwen2"; });  // embedding is not heads x head size
  expect_usage([](auto& o) { o.vocabulary_file = scratch_file("nothing.gguf"); });
}

TEST(RandomModel, AnUnwritablePathIsAnErrorThatLeavesNothingBehind) {
  for (const std::string& path :
       {scratch_file("no/such/directory/m.gguf"), scratch_directory().string(), std::string("/dev/full/m")}) {
    EXPECT_THROW(write_random_model(path, tiny_options()), Error) << path;
    EXPECT_FALSE(std::filesystem::exists(path + ".partial")) << path;
  }
}

TEST(RandomModel, TheSyntheticVocabularyIsRoundTripSafe) {
  const LlamaModel model({.path = write_model("synthetic", tiny_options())});
  const Vocabulary& vocabulary = model.vocabulary();
  EXPECT_EQ(vocabulary.size(), 512);
  std::string bytes;
  for (int byte = 1; byte < 256; ++byte) bytes += static_cast<char>(byte);
  EXPECT_EQ(vocabulary.detokenize(vocabulary.tokenize(bytes, false)), bytes);
  EXPECT_EQ(vocabulary.tokenize(" therefore the answer", false).size(), 3U);
}

}  // namespace
}  // namespace dts
