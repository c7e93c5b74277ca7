// Loading: models of four architectures with real vocabularies, and files that are no models.
#include <ggml.h>
#include <gguf.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "dts/engine.h"
#include "dts/error.h"
#include "dts/llama.h"
#include "engine/llama/log.h"
#include "support/llama_models.h"

namespace dts {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string write_file(const std::string& name, const std::string& bytes) {
  std::string path = scratch_file(name);
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

// The error of loading `path`, which must be one line that names the file.
std::string load_error(const std::string& path) {
  try {
    const LlamaModel model({.path = path});
  } catch (const Error& error) {
    std::string text = error.what();
    EXPECT_NE(text.find(path), std::string::npos) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    return text;
  }
  ADD_FAILURE() << path << " was loaded";
  return {};
}

// A tiny model with its metadata changed.
std::string write_changed(const std::string& name, const std::function<void(gguf_context*)>& change) {
  const std::string whole = write_model("to-change", tiny_options());
  ggml_context* tensors = nullptr;
  gguf_context* original = gguf_init_from_file(whole.c_str(), {.no_alloc = false, .ctx = &tensors});
  gguf_context* file = gguf_init_empty();
  gguf_set_kv(file, original);
  change(file);
  for (std::int64_t i = 0; i < gguf_get_n_tensors(original); ++i) {
    gguf_add_tensor(file, ggml_get_tensor(tensors, gguf_get_tensor_name(original, i)));
  }
  std::string path = scratch_file(name + ".gguf");
  EXPECT_TRUE(gguf_write_to_file(file, path.c_str(), /*only_meta=*/false));
  gguf_free(file);
  gguf_free(original);
  ggml_free(tensors);
  return path;
}

struct Family {
  const char* architecture;
  const char* vocabulary;
};

std::ostream& operator<<(std::ostream& out, const Family& family) { return out << family.architecture; }

class LlamaFamily : public ::testing::TestWithParam<Family> {};

TEST_P(LlamaFamily, LoadsAndDecodesWithARealVocabulary) {
  RandomModelOptions options = tiny_options();
  options.architecture = GetParam().architecture;
  options.heads = 2;
  options.kv_heads = 1;
  options.weight_type = "q8_0";
  options.tied = true;
  options.vocabulary_file = vocabulary_file(GetParam().vocabulary);
  options.name = "a\x1bname";
  const LlamaModel model({.path = write_model(GetParam().architecture, options)});
  EXPECT_EQ(model.info().architecture, GetParam().architecture);
  EXPECT_EQ(model.info().name, "a name") << "without what would steer a terminal";
  EXPECT_EQ(model.info().training_context, options.context);
  EXPECT_GT(model.info().parameters, std::int64_t{model.vocabulary().size()} * options.embedding);
  EXPECT_GT(model.info().size_bytes, model.info().parameters);

  const auto engine = make_llama_engine(model, {.max_branches = 4, .context_length = 256, .threads = 1});
  EXPECT_EQ(engine->info().n_vocab, model.vocabulary().size());
  EXPECT_EQ(engine->info().context_length, 256);
  EXPECT_EQ(engine->info().max_branches, 4);
  EXPECT_EQ(engine->info().flops_per_token, 2.0 * static_cast<double>(model.info().parameters));
  EXPECT_EQ(engine->info().flops_per_attended, 4.0 * options.layers * options.heads * options.head_size);

  const std::vector<Token> prompt = model.vocabulary().tokenize_prompt("What is 6 x 7?");
  const BranchId first = engine->open();
  engine->prefill(first, std::span(prompt).first(prompt.size() - 1));
  const BranchId second = engine->fork(first);
  const PredictionSpec spec;
  const std::vector<Feed> feeds = {{.branch = first, .tokens = std::span(prompt).last(1), .draw = 1, .spec = &spec},
                                   {.branch = second, .tokens = std::span(prompt).last(1), .draw = 2, .spec = &spec}};
  std::vector<Prediction> predictions(2);
  engine->step(feeds, predictions);
  EXPECT_EQ(predictions[0].top, predictions[1].top) << "the same tokens give the same distribution";
  EXPECT_EQ(predictions[0].status, Prediction::Status::kOk);
  EXPECT_GT(predictions[0].entropy, 0.1F);
  EXPECT_LT(predictions[0].entropy, std::log(static_cast<float>(model.vocabulary().size())));
  EXPECT_GT(engine->times().prefill, 0);
  EXPECT_GT(engine->times().model, 0);
  EXPECT_GT(engine->times().statistics, 0);
}

INSTANTIATE_TEST_SUITE_P(Families, LlamaFamily,
                         ::testing::Values(Family{"qwen2", "qwen2"}, Family{"qwen3", "qwen35"}, Family{"phi3", "phi-3"},
                                           Family{"llama", "llama-bpe"}),
                         [](const auto& test) { return std::string(test.param.architecture); });

TEST(LlamaModel, MissingFile) {
  EXPECT_NE(load_error(scratch_file("nothing.gguf")).find("no such file"), std::string::npos);
}

TEST(LlamaModel, Directory) {
  EXPECT_NE(load_error(scratch_directory().string()).find("is a directory"), std::string::npos);
}

TEST(LlamaModel, NoRegularFile) {
  const std::string path = scratch_file("pipe.gguf");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_NE(load_error(path).find("not a regular file"), std::string::npos);
}

TEST(LlamaModel, EmptyFile) { EXPECT_NE(load_error(write_file("empty.gguf", "")).find("is empty"), std::string::npos); }

TEST(LlamaModel, ForeignFiles) {
  EXPECT_NE(load_error(write_file("json.gguf", R"({"model": "none"})")).find("begins with '{\"mo'"), std::string::npos);
  EXPECT_NE(load_error(write_file("zip.gguf", "PK\x03\x04 weights")).find("begins with 'PK\\x03\\x04'"),
            std::string::npos);
  EXPECT_NE(load_error(write_file("short.gguf", "GG")).find("begins with 'GG'"), std::string::npos);
}

TEST(LlamaModel, OtherVersions) {
  std::string bytes = read_file(write_model("version", tiny_options()));
  bytes[4] = 9;
  EXPECT_NE(load_error(write_file("version9.gguf", bytes)).find("GGUF version 9"), std::string::npos);
  bytes[4] = 0;
  bytes[7] = 3;  // big-endian
  EXPECT_NE(load_error(write_file("big.gguf", bytes)).find("little-endian"), std::string::npos);
}

TEST(LlamaModel, VocabularyOnly) {
  EXPECT_NE(load_error(vocabulary_file("qwen2")).find("vocabulary only"), std::string::npos);
}

TEST(LlamaModel, TruncatedAnywhere) {
  const std::string bytes = read_file(write_model("whole", tiny_options()));
  std::vector<std::size_t> lengths = {4, 5, 8, 12, 16, 20, 23, 24, 25, 32, 64, bytes.size() - 1, bytes.size() / 2};
  for (std::size_t length = 100; length < 20'000; length += 997) lengths.push_back(length);
  for (const std::size_t length : lengths) {
    const std::string error = load_error(write_file("cut.gguf", bytes.substr(0, length)));
    EXPECT_NE(error.find("truncated"), std::string::npos) << length << ": " << error;
  }
}

TEST(LlamaModel, RandomBytesAfterTheMagic) {
  std::mt19937 random(7);
  for (int i = 0; i < 200; ++i) {
    std::string bytes = "GGUF";
    bytes += std::string("\x03\0\0\0", 4);
    for (unsigned length = 16 + static_cast<unsigned>(random() % 2000); length > 0; --length) {
      // Small numbers are likelier to get past the first checks.
      bytes += static_cast<char>(random() % 3 == 0 ? random() % 256 : random() % 4);
    }
    (void)load_error(write_file("random.gguf", bytes));
  }
}

TEST(LlamaModel, WrongGeometryIsExplained) {
  RandomModelOptions options = tiny_options();
  std::string bytes = read_file(write_model("geometry", options));
  // The weights are there, but under a name that the architecture does not know.
  const auto at = bytes.find("blk.1.ffn_up.weight");
  ASSERT_NE(at, std::string::npos);
  bytes[at] = 'x';
  EXPECT_NE(load_error(write_file("renamed.gguf", bytes)).find("blk.1.ffn_up.weight"), std::string::npos);
}

TEST(LlamaModel, ADamagedVocabularyIsExplained) {
  const std::string bytes = read_file(write_model("damaged", tiny_options()));
  std::string twice = bytes;
  twice.replace(twice.find(" wait"), 5, " well");
  EXPECT_NE(load_error(write_file("twice.gguf", twice)).find("are both ' well'"), std::string::npos);
  std::string gap = bytes;  // llama.cpp would look for the lone newline for ever
  gap.replace(gap.find("\\x0a"), 4, "abcd");
  EXPECT_NE(load_error(write_file("gap.gguf", gap)).find("lacks byte 10"), std::string::npos);
}

TEST(LlamaModel, LoadingCanBeCancelled) {
  const std::string path = write_model("cancel", tiny_options());
  try {
    const LlamaModel model({.path = path, .on_load = [](float) { return false; }});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("cancelled"), std::string::npos) << error.what();
  }
  int reports = 0;
  const LlamaModel model({.path = path, .on_load = [&](float done) { return ++reports > 0 && done <= 1.0F; }});
  EXPECT_GT(reports, 0);
}

TEST(LlamaModel, RecommendedSamplingFollowsTheFamily) {
  RandomModelOptions options = tiny_options();
  const auto sampling = [&](const std::string& name) {
    options.name = name;
    return LlamaModel({.path = write_model("sampling", options)}).recommended_sampling().options;
  };
  EXPECT_EQ(sampling("DeepSeek R1 Distill Qwen 1.5B").top_p, 0.95F);
  EXPECT_EQ(sampling("Qwen3 0.6B").top_k, 20);
  EXPECT_EQ(sampling("Phi 4 Mini Reasoning").temperature, 0.8F);
  EXPECT_EQ(sampling("something else").top_p, 1.0F);
  EXPECT_EQ(sampling("something else").temperature, 0.6F);
}

// llama.cpp would end the process for each of these.
TEST(LlamaModelFile, MetadataThatLlamaCppAssertsIsRefused) {
  const std::string architecture = tiny_options().architecture;
  const auto key = [&](const char* suffix) { return architecture + "." + suffix; };
  const auto number = [&](const char* suffix, std::uint32_t value) {
    return load_error(
        write_changed("changed", [&](gguf_context* file) { gguf_set_val_u32(file, key(suffix).c_str(), value); }));
  };
  EXPECT_NE(number("block_count", 513).find("513 layers"), std::string::npos);
  EXPECT_NE(number("expert_used_count", 4).find("uses 4 of 0 experts"), std::string::npos);
  EXPECT_NE(number("expert_count", 4).find("uses 0 of 4 experts"), std::string::npos);
  EXPECT_NE(number("attention.head_count", 4'000'000'000U).find("size of 4000000000"), std::string::npos);
  const auto text = [&](const std::string& name, const char* value) {
    return load_error(
        write_changed("changed", [&](gguf_context* file) { gguf_set_val_str(file, name.c_str(), value); }));
  };
  EXPECT_NE(text(key("rope.scaling.type"), "fo\no").find("'fo\\x0ao'"), std::string::npos);
  EXPECT_NE(text("tokenizer.ggml.model", "none").find("no vocabulary"), std::string::npos);
}

// What our checks let pass ends a program with one line.
TEST(LlamaModelFileDeathTest, AnAssertionOfLlamaCppIsOneLine) {
  const std::string path = write_changed("asserts", [](gguf_context* file) {
    gguf_set_val_u32(file, (tiny_options().architecture + ".nextn_predict_layers").c_str(), 99);
  });
  const auto load = [&] {
    exit_when_llama_aborts();
    const LlamaModel model({.path = path});
  };
  EXPECT_EXIT(load(), ::testing::ExitedWithCode(1), "^dts: llama.cpp gave up: [^\n]*n_layer[^\n]*\n$");
}

}  // namespace
}  // namespace dts
