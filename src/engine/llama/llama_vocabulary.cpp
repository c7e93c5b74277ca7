#include "engine/llama/llama_vocabulary.h"

#include <fmt/format.h>
#include <llama.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <limits>
#include <utility>

#include "core/end_names.h"
#include "dts/error.h"
#include "engine/llama/grammar_filter.h"
#include "engine/llama/grammar_rules.h"
#include "engine/llama/schema_grammar.h"
#include "engine/llama/token_trie.h"
#include "engine/llama/tools_as_text.h"

namespace dts {
namespace {

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

// llama.cpp splits a text into words by std::regex for the vocabularies it has no code of its own for (Phi-4's, for
// one), and std::regex recurses once a character of what it matches: a word of 30 KB overflows a thread's usual stack.
// So long texts are split on a stack that grows with them. Its pages cost memory only once they are used.
constexpr std::size_t kShortText = 2048;        // bytes; any stack will do
constexpr std::size_t kStackOfByte = 2048;      // measured: 450, optimised
constexpr std::size_t kStackBelow = 1U << 20U;  // for all that is called above the regex
// Of what is JSON in a conversation, all of it together: an object of 10,000 members, and some tenths of a second.
constexpr std::int64_t kMostReadingWork = 64'000'000;
constexpr std::size_t kLongestSchema = std::size_t{64} << 10U;
constexpr std::size_t kLongestText = std::size_t{8} << 20U;
// What bounds the memory: a longer run has more tokens than a context holds.
constexpr std::size_t kLongestRun = std::size_t{256} << 10U;

// Bytes of the longest run of text without whitespace, or of whitespace: no expression matches more than a few of them
// at once. A slash is part of either, because some have [\r\n/]*.
std::size_t longest_run(std::string_view text) {
  std::size_t longest = 0;
  std::size_t start = 0;
  bool in_space = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const bool space = c == ' ' || (c >= '\t' && c <= '\r');
    if (c == '/' || space == in_space) continue;
    longest = std::max(longest, at - start);
    start = at;
    in_space = space;
  }
  return std::max(longest, text.size() - start);
}

// Runs `task` on a thread with a stack of that many bytes, and waits. Throws what it throws.
void run_with_stack(std::size_t bytes, std::function<void()> task) {
  struct Call {
    std::function<void()> task;
    std::exception_ptr error;
  } call{std::move(task), nullptr};
  pthread_attr_t attributes;
  pthread_t thread;
  int status = pthread_attr_init(&attributes);
  if (status == 0) {
    status = pthread_attr_setstacksize(&attributes, bytes);
    const auto body = [](void* data) -> void* {
      auto& called = *static_cast<Call*>(data);
      try {
        called.task();
      } catch (...) {
        called.error = std::current_exception();
      }
      return nullptr;
    };
    if (status == 0) status = pthread_create(&thread, &attributes, body, &call);
    pthread_attr_destroy(&attributes);
  }
  if (status != 0) {
    throw Error(fmt::format("no stack of {} MiB to tokenize with: {}", bytes >> 20U, std::strerror(status)));
  }
  pthread_join(thread, nullptr);
  if (call.error) std::rethrow_exception(call.error);
}

// llama.cpp's tokenize, grown to what it needs.
std::vector<Token> split(const llama_vocab* vocab, std::string_view text, bool special) {
  // One token a byte is the most there can be, plus a space that some tokenizers put before the text.
  std::vector<Token> tokens(text.size() + 8);
  const auto attempt = [&] {
    return llama_tokenize(vocab, text.data(), static_cast<std::int32_t>(text.size()), tokens.data(),
                          static_cast<std::int32_t>(tokens.size()), /*add_special=*/false, special);
  };
  int count = attempt();
  if (count < 0 && count != std::numeric_limits<std::int32_t>::min()) {
    tokens.resize(static_cast<std::size_t>(-count));
    count = attempt();
  }
  if (count < 0) throw Error("its tokens cannot be counted");
  tokens.resize(static_cast<std::size_t>(count));
  return tokens;
}

}  // namespace

LlamaVocabulary::LlamaVocabulary(const llama_model* model, const GgufFacts& facts, std::string path)
    : vocab_(llama_model_get_vocab(model)),
      template_source_(llama_model_chat_template(model, nullptr)),
      path_(std::move(path)),
      size_(llama_vocab_n_tokens(vocab_)),
      ends_(find_end_tokens(vocab_, size_, facts)) {
  for (Token token = 0; token < size_; ++token) {
    if (ends_[static_cast<std::size_t>(token)]) end_tokens_.push_back(token);
  }
}

LlamaVocabulary::~LlamaVocabulary() = default;

std::size_t LlamaVocabulary::longest_piece() const {
  std::call_once(measured_, [this] {
    for (Token token = 0; token < size_; ++token) longest_piece_ = std::max(longest_piece_, piece(token, true).size());
  });
  return longest_piece_;
}

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
  if (text.size() > kLongestText) {
    throw usage_error(
        fmt::format("a text of {} bytes is too long to tokenize: {} are the most", text.size(), kLongestText));
  }
  if (const std::size_t run = text.size() > kLongestRun ? longest_run(text) : 0; run > kLongestRun) {
    throw usage_error(fmt::format("a text with a run of {} bytes between spaces cannot be tokenized: {} are the most",
                                  run, kLongestRun));
  }
  std::vector<Token> tokens;
  try {
    if (text.size() <= kShortText) {
      tokens = split(vocab_, text, special);
    } else {
      run_with_stack(kStackBelow + text.size() * kStackOfByte, [&] { tokens = split(vocab_, text, special); });
    }
  } catch (const std::exception& error) {
    throw Error(fmt::format("the text cannot be tokenized: {}", error.what()));
  }
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
      throw Error(fmt::format("{}: the model has no chat template; {} gives it the prompt as it is", path_,
                              option_name("no_template")));
    }
    const auto text = [&](Token token) { return token == LLAMA_TOKEN_NULL ? std::string() : piece(token, true); };
    template_.emplace(template_source_, text(llama_vocab_bos(vocab_)), text(llama_vocab_eos(vocab_)));
  }
  return *template_;
}

bool LlamaVocabulary::spells_control(std::string_view text) const {
  const std::vector<Token> tokens = tokenize(text, /*special=*/true);
  return std::any_of(tokens.begin(), tokens.end(), [&](Token token) { return is_control(token); });
}

void LlamaVocabulary::check_unmarked(std::span<const ChatMessage> messages, const ChatOptions& options) const {
  std::int64_t work = 0;
  const auto check = [&](const char* what, const std::string& json) {
    if (json.empty()) return;
    work += reading_work(json);
    if (work > kMostReadingWork) {
      throw usage_error(fmt::format("{} have objects of too many members: they must have fewer", what));
    }
    if (!spells_control(plain_json(json))) return;
    throw usage_error(fmt::format("{} spell a control token of the model", what));
  };
  check("the tools", options.tools);
  check("the template's variables", options.variables);
  for (const ChatMessage& message : messages) {
    for (const ToolCall& call : message.tool_calls) check("the arguments of a tool call", call.arguments);
  }
}

ToolFormat LlamaVocabulary::tool_format() const {
  const std::string_view source = template_source_ == nullptr ? "" : template_source_;
  const auto has = [&](std::string_view text) { return source.find(text) != std::string_view::npos; };
  if (has("<|tool_call|>")) return ToolFormat::kPhi4;
  if (has("<tool_call>")) return ToolFormat::kHermes;
  if (has("<|start_header_id|>") && has("\"parameters\"")) return ToolFormat::kLlama3;
  return ToolFormat::kHermes;
}

std::unique_ptr<LogitsFilter> LlamaVocabulary::grammar_filter(const std::string& gbnf, bool spaced) const {
  if (end_tokens_.empty()) throw usage_error("this model has no end token: it cannot follow a grammar");
  const std::string root = spaced ? "dts-spaced-root" : "root";
  GrammarRules rules = read_grammar(spaced ? gbnf + "\n" + root + " ::= [ \\n]? [ \\n]? root\n" : gbnf, root);
  // Nothing walks the vocabulary before it has to.
  std::call_once(trie_made_, [this] { trie_ = std::make_unique<const TokenTrie>(grammar_pieces()); });
  return std::make_unique<GrammarFilter>(std::make_shared<GrammarMatcher>(*trie_, end_tokens_, std::move(rules)));
}

// [size_] the bytes by which a grammar knows a token; empty where it may never say it.
std::vector<std::string> LlamaVocabulary::grammar_pieces() const {
  std::vector<std::string> pieces(static_cast<std::size_t>(size_));
  for (Token token = 0; token < size_; ++token) {
    if (is_end(token) || llama_vocab_is_eog(vocab_, token)) continue;
    pieces[static_cast<std::size_t>(token)] = piece(token, /*special=*/true);
  }
  return pieces;
}

std::string LlamaVocabulary::grammar_of_schema(const std::string& json_schema) const {
  if (json_schema.size() > kLongestSchema) {
    throw usage_error(
        fmt::format("a JSON schema of {} bytes is too long: {} are the most", json_schema.size(), kLongestSchema));
  }
  std::string grammar;
  try {
    run_with_stack(kStackBelow + json_schema.size() * kStackOfByte, [&] { grammar = schema_grammar(json_schema); });
  } catch (const std::exception& error) {
    throw usage_error(fmt::format("the JSON schema has no grammar: {}", error.what()));
  }
  return grammar;
}

ChatPrompt LlamaVocabulary::chat_with(std::span<const ChatMessage> messages, const ChatOptions& options) const {
  const bool with_tools = !options.tools.empty() || speaks_of_tools(messages);
  const bool as_text = with_tools && !chat_template().supports_tools();
  if (!options.plain() || with_tools) check_unmarked(messages, options);
  const std::vector<PromptPart> parts =
      as_text ? chat_template().render(with_tools_as_text(messages, options.tools), {{}, options.variables})
              : chat_template().render(messages, options);
  ChatPrompt prompt;
  bool spells = false;
  for (const PromptPart& part : parts) {
    prompt.text += part.text;
    if (part.from_message && !spells) spells = spells_control(part.text);
  }
  prompt.opens_thinking = opens_thinking(parts);
  if (!spells) {
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
