// One choice of a completion as a client reads it: text and log-probabilities as they become certain.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "question/reply_text.h"
#include "serve/runs/run.h"

namespace dts::serve {

// Characters that begin in `bytes`.
std::size_t count_characters(std::string_view bytes);

class ChoiceReader {
 public:
  struct Delta {
    std::string reasoning;
    std::string content;
    std::vector<ToolCall> calls;  // each whole, but for the last one of a reply that was cut
    bool last_call_is_cut = false;
    std::size_t first_call = 0;      // how many came before `calls`
    std::vector<ShownToken> tokens;  // those of `content`, where they are asked for
    std::size_t text_offset = 0;     // characters of content before `tokens`
    bool done = false;               // nothing will follow
  };

  ChoiceReader(std::shared_ptr<const Run> run, bool with_tokens);

  // What is new since the last call.
  Delta read();
  // Tokens of the content so far.
  std::int64_t content_tokens() const { return content_tokens_; }
  // It has called tools.
  bool called() const { return calls_ > 0; }

 private:
  // A token in the bytes of the trajectory.
  struct Placed {
    ShownToken token;
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  std::shared_ptr<const Run> run_;
  bool with_tokens_;
  ReplyText text_;
  std::optional<ToolReader> tools_;
  std::size_t calls_ = 0;
  std::size_t read_ = 0;   // shown tokens
  std::size_t bytes_ = 0;  // of them
  std::vector<Placed> waiting_;
  std::size_t offset_ = 0;
  std::int64_t content_tokens_ = 0;
};

}  // namespace dts::serve
