// A small vocabulary of our own, for models with random weights: every byte, chat tokens, <think> tags and words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dts {

struct SyntheticVocabulary {
  std::vector<std::string> tokens;  // as the `rwkv` tokenizer of GGUF writes them: escaped
  std::vector<int> types;           // llama_token_type, same length
  int end_token = 0;                // <|im_end|>
};

// `size` >= 512 tokens; ids beyond the words are fillers that no text contains by accident.
SyntheticVocabulary make_synthetic_vocabulary(int size);

// ChatML whose generation prompt opens <think>.
std::string_view synthetic_chat_template();

}  // namespace dts
