#include "eval/grade/livebench_text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "text/ascii.h"
#include "text/utf8.h"

namespace dts::eval {
namespace {

using namespace text;

constexpr std::size_t kNone = std::string_view::npos;

struct DecodedCharacter {
  char32_t code = 0;
  std::size_t bytes = 1;
};

// Bytes that are not UTF-8 are characters of their own, and neither spaces nor words.
DecodedCharacter character_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(at);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 0;
  if (bytes == 0 || text.size() - at < bytes) return {0xFFFD, 1};
  char32_t code = lead & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(at + i) & 0xC0U) != 0x80U) return {0xFFFD, 1};
    code = (code << 6U) | (byte(at + i) & 0x3FU);
  }
  return {code, bytes};
}

// Where the character before `end` begins.
std::size_t character_before(std::string_view text, std::size_t end) {
  std::size_t begin = end - 1;
  if (static_cast<unsigned char>(text[begin]) < 0x80) return begin;
  while (begin > 0 && end - begin < 4 && (static_cast<unsigned char>(text[begin]) & 0xC0U) == 0x80U) --begin;
  return begin + character_at(text, begin).bytes == end ? begin : end - 1;
}

bool is_python_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

// \w. Beyond Latin, blocks of punctuation and symbols are told from blocks of letters; what is both counts as letters.
bool is_word_character(char32_t c) {
  if (c < 0x80) return is_letter(static_cast<char>(c)) || is_digit(static_cast<char>(c)) || c == '_';
  struct Range {
    char32_t first, last;
  };
  static constexpr std::array<Range, 15> kSymbols = {{{0x80, 0xA9},
                                                      {0xAB, 0xB1},
                                                      {0xB4, 0xB4},
                                                      {0xB6, 0xB8},
                                                      {0xBB, 0xBB},
                                                      {0xBF, 0xBF},
                                                      {0xD7, 0xD7},
                                                      {0xF7, 0xF7},
                                                      {0x2000, 0x206F},
                                                      {0x20A0, 0x20FF},
                                                      {0x2190, 0x245F},
                                                      {0x2500, 0x2775},
                                                      {0x2794, 0x2BFF},
                                                      {0x3000, 0x3004},
                                                      {0x3008, 0x3020}}};
  static constexpr std::array<Range, 3> kMoreSymbols = {{{0xFE00, 0xFE6F}, {0xFF00, 0xFF0F}, {0x1F000, 0x1FAFF}}};
  const auto holds = [c](const Range& range) { return c >= range.first && c <= range.last; };
  return c != 0xFFFD && std::none_of(kSymbols.begin(), kSymbols.end(), holds) &&
         std::none_of(kMoreSymbols.begin(), kMoreSymbols.end(), holds);
}

std::size_t word_end(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const DecodedCharacter c = character_at(text, at);
    if (!is_word_character(c.code)) break;
    at += c.bytes;
  }
  return at;
}

bool is_at(std::string_view text, std::size_t at, std::string_view what) {
  for (std::size_t i = 0; i < what.size(); ++i) {
    if (text[at + i] != what[i]) return false;
  }
  return true;
}

}  // namespace

// By the last character of what is sought: models repeat backslashes, stars and opening brackets more than those.
std::size_t find_text(std::string_view text, std::string_view what, std::size_t from) {
  const std::size_t before = what.size() - 1;
  for (std::size_t last = text.find(what.back(), from + before); last != kNone;
       last = text.find(what.back(), last + 1)) {
    if (is_at(text, last - before, what)) return last - before;
  }
  return kNone;
}

std::size_t rfind_text(std::string_view text, std::string_view what) {
  const std::size_t before = what.size() - 1;
  for (std::size_t last = text.rfind(what.back()); last != kNone && last >= before;
       last = text.rfind(what.back(), last - 1)) {
    if (is_at(text, last - before, what)) return last - before;
  }
  return kNone;
}

std::string without_thinking(std::string_view text, bool opens_thinking) {
  constexpr std::string_view kOpen = "<think>";
  constexpr std::string_view kClose = "</think>";
  std::string out;
  std::size_t at = 0;
  if (const std::size_t close = find_text(text, kClose); opens_thinking && close != kNone) at = close + kClose.size();
  for (;;) {
    const std::size_t open = find_text(text, kOpen, at);
    const std::size_t close = open == kNone ? kNone : find_text(text, kClose, open);
    if (close == kNone) break;
    out += text.substr(at, open - at);
    at = close + kClose.size();
  }
  out += text.substr(at);
  const std::size_t unopened = rfind_text(out, kClose);
  if (unopened != kNone) out.erase(0, unopened + kClose.size());
  return out;
}

std::string_view python_strip(std::string_view text) {
  while (!text.empty()) {
    const DecodedCharacter c = character_at(text, 0);
    if (!is_python_space(c.code)) break;
    text.remove_prefix(c.bytes);
  }
  while (!text.empty()) {
    const std::size_t last = character_before(text, text.size());
    if (!is_python_space(character_at(text, last).code)) break;
    text = text.substr(0, last);
  }
  return text;
}

std::vector<std::string_view> python_words(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const DecodedCharacter c = character_at(text, at);
    if (is_python_space(c.code)) {
      if (at > begin) words.push_back(text.substr(begin, at - begin));
      begin = at + c.bytes;
    }
    at += c.bytes;
  }
  if (begin < text.size()) words.push_back(text.substr(begin));
  return words;
}

bool has_few_words(std::string_view text) {
  constexpr std::size_t kWords = 3;
  constexpr std::size_t kBytes = 256;
  return text.size() <= kBytes && python_words(text).size() <= kWords;
}

std::vector<std::string_view> split_at(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == kNone) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string replaced(std::string_view text, std::string_view what, std::string_view with) {
  std::string out;
  out.reserve(text.size() + with.size());
  for (;;) {
    const std::size_t at = find_text(text, what);
    out += text.substr(0, at);
    if (at == kNone) return out;
    out += with;
    text.remove_prefix(at + what.size());
  }
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), to_lower);
  return out;
}

std::size_t count_of(std::string_view text, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = find_text(text, what); at != kNone; at = find_text(text, what, at + what.size())) ++count;
  return count;
}

std::vector<std::string_view> between(std::string_view text, std::string_view open, std::string_view close) {
  std::vector<std::string_view> found;
  std::size_t at = 0;
  std::size_t line_end = 0;
  for (;;) {
    const std::size_t begin = find_text(text, open, at);
    if (begin == kNone) return found;
    const std::size_t first = begin + open.size();
    if (line_end < first) line_end = std::min(text.find('\n', first), text.size());
    const std::string_view line = text.substr(first, line_end - first);
    const std::size_t length = find_text(line, close);
    if (length != kNone) {
      found.push_back(line.substr(0, length));
      at = first + length + close.size();
    } else {
      at = line_end;  // what opens later on this line is not closed on it either
    }
  }
}

std::vector<std::string_view> solutions(std::string_view text) {
  std::vector<std::string_view> found = between(text, "<solution>", "</solution>");
  if (found.empty()) found = between(text, "</solution>", "</solution>");
  return found;
}

std::vector<std::string_view> starless_bold(std::string_view text) {
  std::vector<std::string_view> found;
  std::size_t at = 0;
  for (;;) {
    const std::size_t begin = find_text(text, "**", at);
    if (begin == kNone) return found;
    const std::size_t first = begin + 2;
    const std::size_t end = text.find('*', first);
    if (end == kNone) return found;
    if (end > first && text.substr(end, 2) == "**") {
      found.push_back(text.substr(first, end - first));
      at = end + 2;
    } else {
      at = begin + 1;
    }
  }
}

std::vector<std::string_view> matched_bold(std::string_view text) {
  struct Run {
    std::size_t at, length;
    std::size_t longest_after = 0;  // of the runs behind it on its line
  };
  std::vector<std::string_view> found;
  for (const std::string_view line : split_at(text, '\n')) {
    std::vector<Run> runs;
    for (std::size_t at = find_text(line, "**"); at != std::string_view::npos;) {
      const std::size_t end = std::min(line.find_first_not_of('*', at), line.size());
      runs.push_back({at, end - at});
      at = find_text(line, "**", end);
    }
    for (std::size_t i = runs.size(); i-- > 1;) {
      runs[i - 1].longest_after = std::max(runs[i].longest_after, runs[i].length);
    }
    for (std::size_t i = 0; i < runs.size();) {
      Run& run = runs[i];
      // As many stars as close again: in a run behind, or within this one.
      const std::size_t stars = std::max(std::min(run.length, run.longest_after), run.length / 2);
      if (stars < 2) {
        ++i;
        continue;
      }
      const std::size_t begin = run.at + stars;
      const auto take = [&](Run& closing, std::size_t at) {
        found.push_back(line.substr(begin, at - begin));
        closing.length -= at + stars - closing.at;
        closing.at = at + stars;
      };
      if (run.length >= 2 * stars) {
        take(run, begin);
        continue;
      }
      do ++i;
      while (runs[i].length < stars);
      take(runs[i], runs[i].at);
    }
  }
  return found;
}

std::string_view last_triple_bold_word(std::string_view text) {
  std::string_view last;
  std::size_t at = 0;
  for (;;) {
    const std::size_t begin = find_text(text, "***", at);
    if (begin == kNone) return last;
    const std::size_t first = begin + 3;
    const std::size_t end = word_end(text, first);
    if (end > first && text.substr(end, 3) == "***") {
      last = text.substr(first, end - first);
      at = end + 3;
    } else {
      at = begin + 1;
    }
  }
}

std::string_view last_word(std::string_view text) {
  std::size_t begin = text.size();
  const auto skip_while = [&](bool in_word) {
    while (begin > 0) {
      const std::size_t before = character_before(text, begin);
      if (is_word_character(character_at(text, before).code) != in_word) break;
      begin = before;
    }
  };
  skip_while(false);
  const std::size_t end = begin;
  skip_while(true);
  return text.substr(begin, end - begin);
}

std::string_view last_line(std::string_view text) {
  text = python_strip(text);
  const std::size_t line_end = text.rfind('\n');
  return line_end == kNone ? text : text.substr(line_end + 1);
}

std::optional<std::string> livebench_boxed(std::string_view text) {
  constexpr std::string_view kBoxed = "\\boxed";
  constexpr std::string_view kSpaced = "\\boxed ";
  if (const std::size_t spaced = rfind_text(text, kSpaced); spaced != kNone) {
    const std::string_view after = text.substr(spaced + kSpaced.size());
    return std::string(after.substr(0, after.find('$')));
  }
  std::size_t begin = rfind_text(text, kBoxed);
  if (begin == kNone) begin = rfind_text(text, "\\fbox");
  if (begin == kNone) return std::nullopt;
  long depth = 0;  // below zero while more braces closed than opened
  for (std::size_t at = begin; at < text.size(); ++at) {
    if (text[at] == '{') ++depth;
    if (text[at] != '}' || --depth != 0) continue;
    const std::string box = replaced(replaced(text.substr(begin, at + 1 - begin), "$", ""), "fbox", "boxed");
    if (box.find(kSpaced) != kNone) {
      if (!box.starts_with(kSpaced)) return std::nullopt;
      return box.substr(kSpaced.size());
    }
    if (!box.starts_with("\\boxed{")) return std::nullopt;
    return box.substr(7, box.size() - 8);
  }
  return std::nullopt;
}

}  // namespace dts::eval
