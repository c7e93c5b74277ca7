#include "engine/remote/event_lines.h"

#include <fmt/format.h>

#include "dts/error.h"

namespace dts::remote {

void EventLines::feed(std::string_view bytes, const std::function<bool(std::string_view data)>& take) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    if (line_.size() + part.size() > longest_) {
      line_.clear();
      throw Error(fmt::format("a line is longer than {} bytes", longest_));
    }
    if (end == std::string_view::npos) {
      line_ += part;
      return;
    }
    bytes.remove_prefix(end + 1);
    // The usual case copies nothing.
    std::string whole;
    std::string_view line = part;
    if (!line_.empty()) {
      line_ += part;
      whole.swap(line_);
      line = whole;
    }
    if (line.ends_with('\r')) line.remove_suffix(1);
    constexpr std::string_view kData = "data:";
    if (!line.starts_with(kData)) continue;
    line.remove_prefix(kData.size());
    if (line.starts_with(' ')) line.remove_prefix(1);
    if (!take(line)) return;
  }
}

}  // namespace dts::remote
