#include "serve/api/choice_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace dts::serve {

std::size_t count_characters(std::string_view bytes) {
  return static_cast<std::size_t>(std::count_if(
      bytes.begin(), bytes.end(), [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }));
}

ChoiceReader::ChoiceReader(std::shared_ptr<const Run> run, bool with_tokens)
    : run_(std::move(run)), with_tokens_(with_tokens), text_(run_->options().text) {
  if (run_->options().tools) tools_.emplace(*run_->options().tools);
}

ChoiceReader::Delta ChoiceReader::read() {
  Delta delta;
  std::vector<ShownToken> shown;
  delta.done = run_->shown_tokens(read_, shown);
  read_ += shown.size();
  for (ShownToken& token : shown) {
    text_.feed(token.piece);
    const std::size_t begin = std::exchange(bytes_, bytes_ + token.piece.size());
    if (!with_tokens_) token = {};
    waiting_.push_back({std::move(token), begin, bytes_});
  }
  if (delta.done) text_.finish();
  delta.reasoning = text_.take_reasoning();
  delta.content = text_.take_content();

  // Tokens are told with the last byte of theirs, or, where a stop string or the end cut them, with what is left.
  delta.text_offset = offset_;
  offset_ += count_characters(delta.content);
  std::size_t told = 0;
  for (; told < waiting_.size(); ++told) {
    Placed& placed = waiting_[told];
    const bool in_content = placed.end > text_.content_begin() && placed.begin < text_.content_taken();
    if (placed.end > text_.content_taken() && !delta.done) break;
    if (!in_content || placed.begin == placed.end) continue;
    ++content_tokens_;
    if (with_tokens_) delta.tokens.push_back(std::move(placed.token));
  }
  if (tools_) {
    tools_->feed(delta.content);
    // A trajectory that a budget ended: nobody has won.
    if (delta.done) tools_->finish(/*cut=*/run_->document() && !run_->document()->outcome.winner);
    delta.content = tools_->take_content();
    delta.calls = tools_->take_calls();
    delta.last_call_is_cut = tools_->last_is_cut();
    delta.first_call = calls_;
    // Unique in a conversation, and the same for all who ask.
    for (ToolCall& call : delta.calls) call.id = fmt::format("call_{}_{}", run_->title().id, calls_++);
  }
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(told));
  return delta;
}

}  // namespace dts::serve
