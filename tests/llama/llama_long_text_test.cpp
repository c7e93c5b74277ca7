// Texts that are long, or hard on whoever splits them into words.
#include <gguf.h>
#include <gtest/gtest.h>

#include <string>

#include "dts/error.h"
#include "dts/llama.h"
#include "support/llama_models.h"

namespace dts {
namespace {

// GPT-2's vocabulary, cut into words as another one's is.
std::string vocabulary_split_as(const std::string& words) {
  std::string path = scratch_file("split-" + words + ".gguf");
  gguf_context* file = gguf_init_from_file(vocabulary_file("gpt-2").c_str(), {.no_alloc = true, .ctx = nullptr});
  if (file == nullptr) throw Error(vocabulary_file("gpt-2") + ": cannot be read");
  gguf_set_val_str(file, "tokenizer.ggml.pre", words.c_str());
  EXPECT_TRUE(gguf_write_to_file(file, path.c_str(), /*only_meta=*/true));
  gguf_free(file);
  return path;
}

// Where llama.cpp splits by std::regex, a long word takes a deep stack.
TEST(LlamaLongText, LongWordsAreNoTroubleForRegularExpressions) {
  for (const char* words : {"gpt-4o", "deepseek-llm"}) {
    RandomModelOptions options = tiny_options();
    options.layers = 1;
    options.embedding = 32;
    options.feed_forward = 32;
    options.weight_type = "q8_0";
    options.tied = true;
    options.vocabulary_file = vocabulary_split_as(words);
    const LlamaModel loaded({.path = write_model(words, options)});
    const Vocabulary& vocabulary = loaded.vocabulary();
    std::string slashes = "!";
    while (slashes.size() < 200'000) slashes += "/\n";
    std::string prose;
    while (prose.size() < 400'000) prose += "Some words, and some more. ";
    for (const std::string& text : {std::string(30'000, 'a'), std::string(250'000, 'A'), std::string(250'000, ' '),
                                    std::string(250'000, '!'), slashes, prose}) {
      EXPECT_EQ(vocabulary.detokenize(vocabulary.tokenize(text, true)), text) << words << text.substr(0, 3);
    }
    for (const char c : {'a', ' '}) {
      try {
        (void)vocabulary.tokenize(std::string(300'000, c), true);
        FAIL() << words;
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), Error::Kind::kUsage);
        EXPECT_NE(std::string(error.what()).find("300000 bytes"), std::string::npos) << error.what();
      }
    }
    EXPECT_THROW((void)vocabulary.tokenize(prose + std::string(std::size_t{9} << 20U, '\n'), true), Error);
  }
}

}  // namespace
}  // namespace dts
