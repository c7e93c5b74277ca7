// A model's chat template: Jinja, run by llama.cpp's own engine.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dts/vocabulary.h"

namespace dts {

// A stretch of a rendered prompt. What a message's author wrote is told apart from what the template wrote, so that
// control tokens spelt in a message can be kept from becoming control tokens.
struct PromptPart {
  std::string text;
  bool from_message = false;
};

// Immutable once made: any number of threads may render.
class ChatTemplate {
 public:
  // `bos` and `eos` are the texts of those tokens; empty where the vocabulary has none. Throws dts::Error, in one line,
  // when the template does not parse. A rendering that takes more than `max_seconds` is given up.
  ChatTemplate(const std::string& source, std::string bos, std::string eos, double max_seconds = 5);
  ~ChatTemplate();
  ChatTemplate(ChatTemplate&&) noexcept;
  ChatTemplate& operator=(ChatTemplate&&) noexcept;

  // With a generation prompt, and thinking enabled unless a variable says otherwise. Throws dts::Error when the
  // template refuses the messages, takes too long or calls itself too deeply. What a template makes of tools and of the
  // arguments of calls is not told apart from what it wrote itself.
  std::vector<PromptPart> render(std::span<const ChatMessage> messages, const ChatOptions& options = {}) const;
  // Does it show tools to the model?
  bool supports_tools() const;

 private:
  struct Impl;
  std::unique_ptr<const Impl> impl_;
};

// The same JSON, written as a template would write it. Throws dts::Error when it is none. It takes as long as
// reading_work() says.
std::string plain_json(const std::string& json);

// What it takes to read the text: names of members that are compared. llama.cpp's JSON looks for each name among all
// that came before it in its object, so a long object takes minutes, and nothing interrupts it. Takes time that grows
// with the text alone, whether it is JSON or not.
std::int64_t reading_work(std::string_view json);

// Does the template itself end inside an opened <think>? Looks only at what follows the last message.
bool opens_thinking(std::span<const PromptPart> prompt);

}  // namespace dts
