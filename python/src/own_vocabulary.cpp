// A tokenizer written in Python, as a Vocabulary.
#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "bindings.h"
#include "dts/error.h"
#include "dts/vocabulary.h"

namespace dts::python {
namespace {

// Pieces and end tokens are asked for with every token, on the engine's thread: they are kept here, so that only what
// concerns a whole prompt takes the GIL.
class OwnVocabulary final : public Vocabulary {
 public:
  OwnVocabulary(const py::list& pieces, const py::iterable& ends, const py::object& text) : text_(hold(text)) {
    for (const py::handle piece : pieces) pieces_.push_back(piece.cast<std::string>());
    ends_.resize(pieces_.size());
    for (const py::handle end : ends) {
      const auto token = end.cast<Token>();
      if (token < 0 || static_cast<std::size_t>(token) >= pieces_.size()) {
        throw usage_error(
            fmt::format("end token {}: the vocabulary has the tokens 0 to {}", token, pieces_.size() - 1));
      }
      ends_[static_cast<std::size_t>(token)] = true;
    }
    for (const std::string& piece : pieces_) longest_ = std::max(longest_, piece.size());
  }

  int size() const override { return static_cast<int>(pieces_.size()); }
  std::string piece(Token token, bool special) const override {
    const auto index = static_cast<std::size_t>(token);
    if (token < 0 || index >= pieces_.size() || (ends_[index] && !special)) return {};
    return pieces_[index];
  }
  std::vector<Token> tokenize(std::string_view text, bool /*special*/) const override {
    const py::gil_scoped_acquire gil;
    try {
      return checked(text_->attr("encode")(py::str(text.data(), text.size())).cast<std::vector<Token>>());
    } catch (const py::error_already_set& error) {
      throw Error(fmt::format("the tokenizer's encode() failed: {}", line_of(error)));
    } catch (const py::cast_error&) {
      throw Error("the tokenizer's encode() must return a list of token numbers");
    }
  }
  bool is_end(Token token) const override {
    return token >= 0 && static_cast<std::size_t>(token) < ends_.size() && ends_[static_cast<std::size_t>(token)];
  }
  std::size_t longest_piece() const override { return longest_; }

  ChatPrompt chat(std::span<const ChatMessage> messages) const override {
    ChatPrompt prompt;
    {
      const py::gil_scoped_acquire gil;
      py::list list;
      for (const ChatMessage& message : messages) {
        py::dict entry;
        entry["role"] = message.role;
        entry["content"] = message.content;
        list.append(entry);
      }
      try {
        prompt.text = text_->attr("chat")(list).cast<std::string>();
      } catch (const py::error_already_set& error) {
        throw Error(fmt::format("the tokenizer's chat() failed: {}", line_of(error)));
      } catch (const py::cast_error&) {
        throw Error("the tokenizer's chat() must return the prompt as a string");
      }
    }
    prompt.tokens = tokenize(prompt.text, true);
    const std::size_t end = prompt.text.find_last_not_of(" \t\r\n");
    prompt.opens_thinking = std::string_view(prompt.text).substr(0, end + 1).ends_with("<think>");
    return prompt;
  }

 private:
  std::vector<Token> checked(std::vector<Token> tokens) const {
    for (const Token token : tokens) {
      if (token >= 0 && static_cast<std::size_t>(token) < pieces_.size()) continue;
      throw Error(fmt::format("the tokenizer's encode() returned token {}: the vocabulary has the tokens 0 to {}",
                              token, pieces_.size() - 1));
    }
    return tokens;
  }

  std::vector<std::string> pieces_;  // [tokens] bytes
  std::vector<bool> ends_;           // [tokens]
  std::size_t longest_ = 0;          // bytes
  SafeObject text_;
};

}  // namespace

std::shared_ptr<const Vocabulary> make_own_vocabulary(const py::list& pieces, const py::iterable& ends,
                                                      const py::object& text) {
  if (pieces.empty()) throw usage_error("the tokenizer has no tokens: pieces must have at least one");
  return std::make_shared<OwnVocabulary>(pieces, ends, text);
}

}  // namespace dts::python
