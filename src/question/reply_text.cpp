#include "question/reply_text.h"

#include <algorithm>
#include <utility>

#include "text/ascii.h"
#include "text/utf8.h"

namespace dts {
namespace {

using namespace text;

constexpr std::string_view kOpen = "<think>";
constexpr std::string_view kClose = "</think>";

std::size_t skip_spaces(std::string_view text, std::size_t at) {
  while (at < text.size() && is_space(text[at])) ++at;
  return at;
}

// Bytes at the end of `text` that may be the beginning of `word`, but not all of it.
std::size_t begun(std::string_view text, std::string_view word) {
  for (std::size_t n = std::min(text.size(), word.size() - 1); n > 0; --n) {
    if (text.ends_with(word.substr(0, n))) return n;
  }
  return 0;
}

}  // namespace

ReplyText::ReplyText(ReplyTextOptions options) : options_(std::move(options)) {
  if (!options_.split_thinking) {
    state_ = State::kContent;
  } else if (options_.opens_thinking) {
    state_ = State::kThinking;
  }
}

void ReplyText::feed(std::string_view bytes) {
  if (stopped_) return;
  raw_ += bytes;
  scan();
}

void ReplyText::finish() {
  if (finished_) return;
  finished_ = true;
  scan();
  if (state_ == State::kThinking) reasoning_.end = raw_.size();
  if (content_.end == std::string::npos) content_.end = raw_.size();
  if (state_ != State::kContent) content_.begin = content_.taken = content_.end = raw_.size();
}

void ReplyText::scan() {
  if (state_ == State::kStart) scan_start();
  if (state_ == State::kThinking) scan_thinking();
  if (state_ == State::kBetween) {
    const std::size_t word = skip_spaces(raw_, scanned_);
    scanned_ = word;
    if (word < raw_.size()) begin_content(word);
  }
  if (state_ == State::kContent) scan_content();
}

void ReplyText::scan_start() {
  const std::string_view text = std::string_view(raw_).substr(skip_spaces(raw_, 0));
  if (text.starts_with(kOpen)) {
    state_ = State::kThinking;
    scanned_ = reasoning_.begin = reasoning_.taken = raw_.size() - text.size() + kOpen.size();
  } else if (finished_ || !kOpen.starts_with(text)) {
    begin_content(0);
  }
}

void ReplyText::scan_thinking() {
  if (reasoning_.taken == reasoning_.begin) reasoning_.begin = reasoning_.taken = skip_spaces(raw_, reasoning_.begin);
  const std::size_t close = raw_.find(kClose, scanned_);
  if (close == std::string::npos) {
    // A tag that is only begun is looked at again.
    scanned_ = std::max(scanned_, raw_.size() - std::min(raw_.size(), kClose.size() - 1));
    return;
  }
  reasoning_.end = close;
  scanned_ = close + kClose.size();
  state_ = State::kBetween;
}

void ReplyText::begin_content(std::size_t at) {
  state_ = State::kContent;
  content_.begin = content_.taken = scanned_ = at;
}

void ReplyText::scan_content() {
  if (options_.stop.empty()) return;
  for (; scanned_ < raw_.size() && !stopped_; ++scanned_) {
    const std::string_view text = std::string_view(raw_).substr(content_.begin, scanned_ + 1 - content_.begin);
    std::size_t longest = 0;
    for (const std::string& stop : options_.stop) {
      if (text.ends_with(stop)) longest = std::max(longest, stop.size());
    }
    if (longest == 0) continue;
    stopped_ = true;
    content_.end = scanned_ + 1 - longest;
    raw_.resize(scanned_ + 1);
  }
}

std::string ReplyText::take(Stretch& stretch, std::size_t until, bool complete) const {
  std::string out;
  while (stretch.taken < until) {
    const text::Character character = text::decode_utf8(std::string_view(raw_).substr(0, until), stretch.taken);
    if (character.truncated && !complete) break;
    text::append_utf8(out, character.code);
    stretch.taken += character.size;
  }
  return out;
}

std::string ReplyText::take_reasoning() {
  const bool complete = reasoning_.end != std::string::npos;
  if (state_ != State::kThinking && !complete) return {};
  std::size_t until = complete ? reasoning_.end : raw_.size() - begun(raw_, kClose);
  while (until > reasoning_.taken && is_space(raw_[until - 1])) --until;
  return take(reasoning_, until, complete);
}

std::string ReplyText::take_content() {
  if (state_ != State::kContent) return {};
  const bool complete = content_.end != std::string::npos;
  std::size_t until = complete ? content_.end : raw_.size();
  if (!complete) {
    const std::string_view text = std::string_view(raw_).substr(content_.taken);
    std::size_t held = 0;
    for (const std::string& stop : options_.stop) held = std::max(held, begun(text, stop));
    until -= held;
  }
  return take(content_, until, complete);
}

}  // namespace dts
