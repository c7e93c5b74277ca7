// From a trajectory's bytes to what a client reads: reasoning and content apart, cut at a stop string, whole UTF-8
// characters only. Fed piece by piece; what was taken is never taken back.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dts {

struct ReplyTextOptions {
  bool split_thinking = true;     // false: everything is content
  bool opens_thinking = false;    // the prompt ended inside an opened <think>
  std::vector<std::string> stop;  // each non-empty; looked for in the content, never in the reasoning
};

// The whole text is read like this. Thinking begins where the prompt opened it, or with <think> at the very start, and
// ends with the first </think>: what comes before is the reasoning, what comes after the content. White space around
// the reasoning is dropped, and so is the content's before its first word. The content ends where the first stop string
// would begin: the first to end, of those that end together the longest.
class ReplyText {
 public:
  explicit ReplyText(ReplyTextOptions options);

  void feed(std::string_view bytes);
  // Nothing will follow: what was held back, because it might have become a tag, a stop string or a character, is let
  // go.
  void finish();

  // A stop string was met: the trajectory ends here, and whatever is fed from now on is ignored.
  bool stopped() const { return stopped_; }

  // All that was fed, up to the stop string. Bytes.
  std::string_view kept() const {
    return stopped_ ? std::string_view(raw_).substr(0, content_.end) : std::string_view(raw_);
  }

  // What has become certain since the last call; valid UTF-8.
  std::string take_reasoning();
  std::string take_content();

  // Where the content begins and how far it was taken, in bytes of all that was fed. Equal until there is any.
  std::size_t content_begin() const { return content_.begin; }
  std::size_t content_taken() const { return content_.taken; }

 private:
  enum class State { kStart, kThinking, kBetween, kContent };

  // A stretch of raw_.
  struct Stretch {
    std::size_t begin = 0;
    std::size_t taken = 0;
    std::size_t end = std::string::npos;  // npos: not known yet
  };

  void scan();
  void scan_start();
  void scan_thinking();
  void scan_content();
  void begin_content(std::size_t at);
  std::string take(Stretch& stretch, std::size_t until, bool complete) const;

  ReplyTextOptions options_;
  std::string raw_;
  std::size_t scanned_ = 0;
  State state_ = State::kStart;
  bool finished_ = false;
  bool stopped_ = false;
  Stretch reasoning_;
  Stretch content_;
};

}  // namespace dts
