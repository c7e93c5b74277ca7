#include "engine/remote/remote_vocabulary.h"

#include <algorithm>
#include <utility>

#include "core/end_names.h"
#include "dts/error.h"
#include "engine/remote/answer_json.h"

namespace dts::remote {

RemoteVocabulary::RemoteVocabulary(const Protocol& protocol, const Asker& server, const ServerModel& model,
                                   const Vocabulary* own)
    : protocol_(protocol), server_(server), own_(own), size_(own != nullptr ? own->size() : model.n_vocab) {
  ends_.insert(kEnd);
  pieces_.emplace(kEnd, "");
  if (own_ == nullptr && protocol_.knows_tokens()) find_end_tokens(model);
}

// Ends that streams do not tell of until it is too late: a child may be an end token that no stream has drawn yet.
void RemoteVocabulary::find_end_tokens(const ServerModel& model) {
  std::vector<std::string> names;
  if (!model.eos_text.empty()) names.push_back(model.eos_text);
  for (const std::string_view name : kEndNames) names.emplace_back(name);
  bool harmony = false;
  Token turn_part = -1;
  for (const std::string& name : names) {
    const std::vector<Token> tokens = protocol_.tokenize(server_, name, /*special=*/true, /*bos=*/false);
    if (tokens.size() != 1) continue;
    // A text that is one token also when control tokens are not looked for is a word.
    if (protocol_.tells_control_tokens() && name != model.eos_text &&
        protocol_.tokenize(server_, name, /*special=*/false, /*bos=*/false) == tokens)
      continue;
    ends_.insert(tokens.front());
    pieces_.emplace(tokens.front(), name);
    harmony = harmony || name == "<|return|>";
    if (name == "<|end|>") turn_part = tokens.front();
  }
  // Where <|return|> ends a turn, <|end|> only closes one of its parts.
  if (harmony && turn_part >= 0) ends_.erase(turn_part);
}

std::string RemoteVocabulary::piece(Token token, bool special) const {
  if (own_ != nullptr && token < kFirstText) return own_->piece(token, special);
  {
    const std::scoped_lock lock(mutex_);
    if (!special && ends_.contains(token)) return {};
    if (const auto found = pieces_.find(token); found != pieces_.end()) return found->second;
  }
  if (token < 0 || token >= kFirstText) throw usage_error("token " + std::to_string(token) + " is in no vocabulary");
  std::string text = protocol_.detokenize(server_, {&token, 1});
  const std::scoped_lock lock(mutex_);
  return pieces_.emplace(token, std::move(text)).first->second;
}

std::vector<Token> RemoteVocabulary::tokenize(std::string_view text, bool special) const {
  if (own_ != nullptr) return own_->tokenize(text, special);
  if (text.empty()) return {};
  if (!protocol_.knows_tokens()) return intern_words(text);
  return protocol_.tokenize(server_, text, special, /*bos=*/false);
}

std::vector<Token> RemoteVocabulary::tokenize_prompt(std::string_view text) const {
  if (own_ != nullptr) return own_->tokenize_prompt(text);
  if (!protocol_.knows_tokens()) return tokenize(text, true);
  std::vector<Token> tokens = tokenize(text, /*special=*/true);
  const std::vector<Token> bos = protocol_.tokenize(server_, "", /*special=*/true, /*bos=*/true);
  if (!bos.empty() && (tokens.empty() || tokens.front() != bos.front())) tokens.insert(tokens.begin(), bos.front());
  return tokens;
}

bool RemoteVocabulary::is_end(Token token) const {
  if (own_ != nullptr && token < kFirstText && own_->is_end(token)) return true;
  const std::scoped_lock lock(mutex_);
  return ends_.contains(token);
}

ChatPrompt RemoteVocabulary::chat(std::span<const ChatMessage> messages) const {
  if (own_ != nullptr) return own_->chat(messages);
  ChatPrompt prompt = protocol_.chat(server_, messages);
  if (!protocol_.knows_tokens()) prompt.tokens = tokenize(prompt.text, true);
  return prompt;
}

void RemoteVocabulary::learn(Token token, std::string_view bytes) {
  if (bytes.empty()) return;  // a control token's text is not told
  const std::scoped_lock lock(mutex_);
  pieces_.try_emplace(token, bytes);
}

void RemoteVocabulary::learn_end(Token token) {
  const std::scoped_lock lock(mutex_);
  ends_.insert(token);
}

// Texts are kept for ever: words come again, whole prompts do not.
std::vector<Token> RemoteVocabulary::intern_words(std::string_view text) const {
  constexpr std::size_t kLongest = 24;  // bytes
  const auto space = [&](std::size_t at) { return text[at] == ' ' || text[at] == '\n' || text[at] == '\t'; };
  const auto inside_character = [&](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U; };
  std::vector<Token> tokens;
  while (!text.empty()) {
    std::size_t end = 1;
    // Up to where a space follows a word.
    while (end < text.size() && end < kLongest && (!space(end) || space(end - 1))) ++end;
    while (end < text.size() && end < kLongest + 3 && inside_character(end)) ++end;
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(end);
    const std::scoped_lock lock(mutex_);
    if (has_room(word)) {
      tokens.push_back(intern_locked(word));
    } else {
      for (std::size_t at = 0; at < word.size(); ++at) tokens.push_back(intern_locked(word.substr(at, 1)));
    }
  }
  return tokens;
}

Token RemoteVocabulary::token_of(std::string_view bytes) { return intern(bytes); }

bool RemoteVocabulary::has_room(std::string_view bytes) const {
  if (tokens_.size() + 256 < kMostTexts && text_bytes_ + bytes.size() < kMostTextBytes) return true;
  return tokens_.contains(std::string(bytes));
}

Token RemoteVocabulary::intern(std::string_view bytes) const {
  const std::scoped_lock lock(mutex_);
  if (!has_room(bytes)) throw CannotServe("the server names more tokens than any vocabulary has");
  return intern_locked(bytes);
}

Token RemoteVocabulary::intern_locked(std::string_view bytes) const {
  const Token next = kFirstText + static_cast<Token>(tokens_.size());
  const auto [found, fresh] = tokens_.emplace(bytes, next);
  if (fresh) {
    text_bytes_ += bytes.size();
    pieces_.emplace(found->second, std::string(bytes));
    if (std::find(kEndNames.begin(), kEndNames.end(), bytes) != kEndNames.end()) ends_.insert(found->second);
  }
  return found->second;
}

}  // namespace dts::remote
