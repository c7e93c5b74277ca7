// Server-sent events, one at a time, from bytes cut anywhere. Everything is untrusted: lines are bounded.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace dts::remote {

class EventLines {
 public:
  // The longest line: a whole vocabulary's log-probabilities fit.
  static constexpr std::size_t kLongestLine = std::size_t{64} << 20U;

  explicit EventLines(std::size_t longest_line = kLongestLine) : longest_(longest_line) {}

  // Calls `take` with the data of each event that is complete, until it says false. Comments, other fields and empty
  // lines are passed over. Throws dts::Error when a line is too long.
  void feed(std::string_view bytes, const std::function<bool(std::string_view data)>& take);
  // A body that ended in the middle of a line.
  bool cut() const { return !line_.empty(); }

 private:
  std::size_t longest_;
  std::string line_;  // what has come of the current one
};

}  // namespace dts::remote
