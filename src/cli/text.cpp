#include "cli/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace dts::cli {

std::optional<std::size_t> find_invalid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const draw::Character character = decode_utf8(text, at);
    if (!character.valid) return at;
    at += character.size;
  }
  return std::nullopt;
}

std::string_view complete_utf8(std::string_view text) {
  // A character's first byte is at most three before its last.
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
    const std::size_t at = text.size() - back;
    if (decode_utf8(text, at).truncated) return text.substr(0, at);
  }
  return text;
}

std::string shorten_left(std::string_view text, int width) {
  if (display_width(text) <= width) return std::string(text);
  return width < 1 ? std::string() : "…" + std::string(draw::fit_end(text, width - 1));
}

std::string pad(std::string_view text, int width) {
  std::string out(text);
  const int missing = width - display_width(text);
  if (missing > 0) out.append(static_cast<std::size_t>(missing), ' ');
  return out;
}

std::vector<std::string> wrap(std::string_view text, int width) {
  std::vector<std::string> lines;
  width = std::max(width, 2);  // the widest character
  while (true) {
    const std::size_t newline = text.find('\n');
    std::string_view paragraph = text.substr(0, newline);
    while (true) {
      std::string_view line = fit(paragraph, width);
      if (line.size() < paragraph.size()) {
        const std::size_t space = paragraph[line.size()] == ' ' ? line.size() : line.rfind(' ');
        if (space != std::string_view::npos && space > 0) line = line.substr(0, space);
      }
      lines.emplace_back(line);
      paragraph.remove_prefix(line.size());
      if (paragraph.empty()) break;
      if (paragraph.front() == ' ') paragraph.remove_prefix(1);
    }
    if (newline == std::string_view::npos) break;
    text.remove_prefix(newline + 1);
  }
  return lines;
}

std::string counted(std::int64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", grouped(number), noun, number == 1 ? "" : "s");
}

}  // namespace dts::cli
