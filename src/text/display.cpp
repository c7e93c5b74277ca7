#include "text/display.h"

#include <utf8proc.h>

#include <algorithm>

#include "text/ascii.h"
#include "text/utf8.h"

namespace dts::text {
namespace {

// Characters that move or hide what stands around them.
bool reorders(char32_t code) {
  return (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) || code == 0x200E || code == 0x200F ||
         code == 0x061C || code == 0x2028 || code == 0x2029 || code == 0xFEFF;
}

bool is_noncharacter(char32_t code) { return (code & 0xFFFEU) == 0xFFFE || (code >= 0xFDD0 && code <= 0xFDEF); }

// Cells of one character. What a terminal leaves out of the grid (combining marks, joiners) takes none.
int cells(char32_t code) {
  return code < 0x300 ? 1 : std::max(0, utf8proc_charwidth(static_cast<utf8proc_int32_t>(code)));
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Character character = decode_utf8(text, at);
    const char32_t code = character.code;
    if (code == '\n' || code == '\t') {
      append_utf8(out, code);
    } else if (code == '\r' && at + 1 < text.size() && text[at + 1] == '\n') {
      // A line end of two characters: the newline is enough.
    } else if (code < 0x20) {
      append_utf8(out, 0x2400 + code);
    } else if (code == 0x7F) {
      append_utf8(out, 0x2421);
    } else if ((code >= 0x80 && code < 0xA0) || reorders(code) || is_noncharacter(code)) {
      append_utf8(out, kReplacement);
    } else {
      append_utf8(out, code);
    }
    at += character.size;
  }
  return out;
}

std::string one_line(std::string_view text) {
  std::string out;
  bool space = false;
  for (const char c : text) {
    if (is_space(c)) {
      space = true;
      continue;
    }
    if (space && !out.empty()) out += ' ';
    space = false;
    out += c;
  }
  return printable(out);
}

int display_width(std::string_view text) {
  int width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Character character = decode_utf8(text, at);
    width += cells(character.code);
    at += character.size;
  }
  return width;
}

std::string_view fit(std::string_view text, int width) {
  for (std::size_t at = 0; at < text.size();) {
    const Character character = decode_utf8(text, at);
    width -= cells(character.code);
    if (width < 0) return text.substr(0, at);
    at += character.size;
  }
  return text;
}

std::string_view fit_end(std::string_view text, int width) {
  int excess = display_width(text) - width;
  std::size_t at = 0;
  while (at < text.size() && excess > 0) {
    const Character character = decode_utf8(text, at);
    excess -= cells(character.code);
    at += character.size;
  }
  return text.substr(at);
}

std::string shorten(std::string_view text, int width) {
  const std::string_view whole = fit(text, width);
  if (whole.size() == text.size()) return std::string(text);
  if (width < 1) return {};
  std::string_view start = fit(text, width - 1);
  while (!start.empty() && start.back() == ' ') start.remove_suffix(1);
  return std::string(start) + "…";
}

std::string shorten_left(std::string_view text, int width) {
  if (display_width(text) <= width) return std::string(text);
  return width < 1 ? std::string() : "…" + std::string(fit_end(text, width - 1));
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

}  // namespace dts::text
