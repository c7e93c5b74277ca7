#include "engine/llama/vocabulary.h"

#include <fmt/format.h>
#include <llama.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <limits>
#include <utility>

#include "dts/error.h"

namespace dts {
namespace {

// Tokens that end a turn or a text in the chat formats of the models we know. llama.cpp's own list also has a plain
// "</s>", which is an ordinary word piece in some vocabularies (Qwen2's 128,247); a real </s> is named by the metadata.
constexpr std::array<std::string_view, 15> kEndNames = {
    "<|im_end|>",      "<|endoftext|>", "<|end|>", "<|eot_id|>", "<|eom_id|>",
    "<|end_of_text|>", "<|return|>",    "<|eot|>", "[EOS]",      "<｜end▁of▁sentence｜>",
    "<end_of_turn>",   "<eos>",         "<EOT>",   "[EOT]",      "<turn|>",
};

std::vector<bool> find_end_tokens(const llama_vocab* vocab, int size, const GgufFacts& facts) {
  std::vector<bool> ends(static_cast<std::size_t>(size));
  Token turn_part = -1;  // <|end|>
  bool harmony = false;
  for (Token token = 0; token < size; ++token) {
    const std::string_view text = llama_vocab_get_text(vocab, token);
    if (std::find(kEndNames.begin(), kEndNames.end(), text) == kEndNames.end()) continue;
    // llama.cpp overrides the type of tokens that look like control tokens; the file's own word counts.
    const auto index = static_cast<std::size_t>(token);
    const bool typed = index < facts.token_types.size();
    const int type = typed ? facts.token_types[index] : LLAMA_TOKEN_TYPE_CONTROL;
    if (type != LLAMA_TOKEN_TYPE_CONTROL && type != LLAMA_TOKEN_TYPE_USER_DEFINED) continue;
    ends[index] = true;
    if (text == "<|end|>") turn_part = token;
    if (text == "<|return|>") harmony = true;
  }
  // Where <|return|> ends a turn, <|end|> only closes one of its parts.
  if (harmony && turn_part >= 0) ends[static_cast<std::size_t>(turn_part)] = false;
  for (const Token token : facts.end_tokens) {
    if (token >= 0 && token < size) ends[static_cast<std::size_t>(token)] = true;
  }
  return ends;
}

}  // namespace

LlamaVocabulary::LlamaVocabulary(const llama_model* model, const GgufFacts& facts, std::string path)
    : vocab_(llama_model_get_vocab(model)),
      template_source_(llama_model_chat_template(model, nullptr)),
      path_(std::move(path)),
      size_(llama_vocab_n_tokens(vocab_)),
      ends_(find_end_tokens(vocab_, size_, facts)) {}

LlamaVocabulary::~LlamaVocabulary() = default;

bool LlamaVocabulary::is_end(Token token) const {
  return token >= 0 && token < size_ && ends_[static_cast<std::size_t>(token)];
}

bool LlamaVocabulary::is_control(Token token) const { return llama_vocab_is_control(vocab_, token); }

std::string LlamaVocabulary::piece(Token token, bool special) const {
  if (token < 0 || token >= size_) {
    throw usage_error(fmt::format("token {} is outside the vocabulary of {}", token, size_));
  }
  std::string text(64, '\0');
  int length = llama_token_to_piece(vocab_, token, text.data(), static_cast<int>(text.size()), 0, special);
  if (length < 0) {  // the size it needs
    text.resize(static_cast<std::size_t>(-length));
    length = llama_token_to_piece(vocab_, token, text.data(), static_cast<int>(text.size()), 0, special);
  }
  text.resize(static_cast<std::size_t>(std::max(length, 0)));
  return text;
}

std::vector<Token> LlamaVocabulary::tokenize(std::string_view text, bool special) const {
  if (text.empty()) return {};
  // One token a byte is the most there can be, plus a space that some tokenizers put before the text.
  constexpr std::size_t kMost = static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()) - 8;
  if (text.size() > kMost) throw usage_error(fmt::format("a text of {} bytes is too long to tokenize", text.size()));
  std::vector<Token> tokens(text.size() + 8);
  int count = 0;
  try {
    count = llama_tokenize(vocab_, text.data(), static_cast<std::int32_t>(text.size()), tokens.data(),
                           static_cast<std::int32_t>(tokens.size()), /*add_special=*/false, special);
    if (count < 0 && count != std::numeric_limits<std::int32_t>::min()) {
      tokens.resize(static_cast<std::size_t>(-count));
      count = llama_tokenize(vocab_, text.data(), static_cast<std::int32_t>(text.size()), tokens.data(),
                             static_cast<std::int32_t>(tokens.size()), /*add_special=*/false, special);
    }
  } catch (const std::exception& error) {
    throw Error(fmt::format("the text cannot be tokenized: {}", error.what()));
  }
  if (count < 0) throw Error("the text cannot be tokenized");
  tokens.resize(static_cast<std::size_t>(count));
  if (special || std::none_of(tokens.begin(), tokens.end(), [&](Token token) { return is_control(token); })) {
    return tokens;
  }
  // Greedy tokenizers match the names of control tokens in plain text too: spell those byte by byte.
  std::vector<Token> plain;
  for (const Token token : tokens) {
    const std::string name = is_control(token) ? piece(token, /*special=*/true) : std::string();
    if (name.size() < 2) {
      plain.push_back(token);
      continue;
    }
    for (const char byte : name) {
      const std::vector<Token> spelt = tokenize(std::string_view(&byte, 1), /*special=*/false);
      plain.insert(plain.end(), spelt.begin(), spelt.end());
    }
  }
  return plain;
}

void LlamaVocabulary::add_bos(std::vector<Token>& tokens) const {
  const Token bos = llama_vocab_bos(vocab_);
  if (bos == LLAMA_TOKEN_NULL || !llama_vocab_get_add_bos(vocab_)) return;
  // Many templates write the token themselves.
  if (tokens.empty() || tokens.front() != bos) tokens.insert(tokens.begin(), bos);
}

std::vector<Token> LlamaVocabulary::tokenize_prompt(std::string_view text) const {
  std::vector<Token> tokens = tokenize(text, /*special=*/true);
  add_bos(tokens);
  return tokens;
}

const ChatTemplate& LlamaVocabulary::chat_template() const {
  const std::scoped_lock lock(template_mutex_);
  if (!template_) {
    if (template_source_ == nullptr || *template_source_ == '\0') {
      throw Error(fmt::format("{}: the model has no chat template; --raw gives it the prompt as it is", path_));
    }
    const auto text = [&](Token token) { return token == LLAMA_TOKEN_NULL ? std::string() : piece(token, true); };
    template_.emplace(template_source_, text(llama_vocab_bos(vocab_)), text(llama_vocab_eos(vocab_)));
  }
  return *template_;
}

ChatPrompt LlamaVocabulary::chat(std::span<const ChatMessage> messages) const {
  const std::vector<PromptPart> parts = chat_template().render(messages);
  ChatPrompt prompt;
  bool spells_control = false;
  for (const PromptPart& part : parts) {
    prompt.text += part.text;
    if (!part.from_message || spells_control) continue;
    const std::vector<Token> tokens = tokenize(part.text, /*special=*/true);
    spells_control = std::any_of(tokens.begin(), tokens.end(), [&](Token token) { return is_control(token); });
  }
  prompt.opens_thinking = opens_thinking(parts);
  if (!spells_control) {
    prompt.tokens = tokenize_prompt(prompt.text);
    return prompt;
  }
  // A message that spells control tokens is tokenized by itself, so that it cannot end its own turn. Not done always:
  // pieces that straddle the border would be cut differently than the model was trained with.
  for (const PromptPart& part : parts) {
    const std::vector<Token> tokens = tokenize(part.text, /*special=*/!part.from_message);
    prompt.tokens.insert(prompt.tokens.end(), tokens.begin(), tokens.end());
  }
  add_bos(prompt.tokens);
  return prompt;
}

}  // namespace dts
