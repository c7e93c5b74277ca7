#include "answer/letter/marks.h"

#include <algorithm>

#include "text/ascii.h"

namespace dts::letters {

using namespace text;

namespace {

constexpr std::size_t kMaxBox = 256;  // bytes: a longer box is cut, not passed over

constexpr std::string_view kMarks = "*_$`\"'([{~";
constexpr std::string_view kClosingMarks = "*_$`\"')]} \t";
constexpr std::array<std::string_view, 37> kStyles = {
    "text",   "textbf", "textrm", "textsf", "textit", "texttt",     "textnormal",  "emph", "mbox",       "mathrm",
    "mathbf", "mathsf", "mathit", "mathtt", "bm",     "boldsymbol", "bf",          "rm",   "sf",         "it",
    "tt",     "tiny",   "small",  "large",  "Large",  "LARGE",      "huge",        "Huge", "normalsize", "Bigg",
    "big",    "Big",    "quad",   "qquad",  "left",   "right",      "displaystyle"};
constexpr std::array<std::string_view, 3> kColours = {"color", "textcolor", "colorbox"};  // with an argument first

// How many bytes of `text` are a command that only dresses what follows it; 0 when it begins with none.
std::size_t command_size(std::string_view text) {
  if (text.size() < 2 || text[0] != '\\') return 0;
  if (std::string_view("([,;:! ").find(text[1]) != std::string_view::npos) return 2;
  std::size_t end = 1;
  while (end < text.size() && end <= kMaxDressing && is_letter(text[end])) ++end;
  const std::string_view name = text.substr(1, end - 1);
  if (std::find(kStyles.begin(), kStyles.end(), name) != kStyles.end()) return end;
  if (std::find(kColours.begin(), kColours.end(), name) == kColours.end()) return 0;
  const std::size_t close = text.substr(end, kMaxDressing).find('}');
  return close == std::string_view::npos || text[end] != '{' ? 0 : end + close + 1;
}

}  // namespace

bool starts_with(std::string_view text, std::string_view lower) {
  if (text.size() < lower.size()) return false;
  return std::equal(lower.begin(), lower.end(), text.begin(), [](char a, char b) { return a == to_lower(b); });
}

bool ends_word(std::string_view after) {
  return after.empty() || (!is_letter(after.front()) && !is_digit(after.front()));
}

bool starts_with_word(std::string_view text, std::string_view lower) {
  return starts_with(text, lower) && ends_word(text.substr(lower.size()));
}

bool ends_with_word(std::string_view text, std::string_view lower) {
  return text.size() >= lower.size() && starts_with(text.substr(text.size() - lower.size()), lower) &&
         (text.size() == lower.size() || !is_letter(text[text.size() - lower.size() - 1]));
}

char letter_of(char c, char last, bool any_case) {
  const char upper = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return upper >= 'A' && upper <= last && (any_case || c == upper) ? upper : '\0';
}

std::string_view without_dressing(std::string_view text, bool across_lines) {
  const std::size_t size = text.size();
  while (!text.empty() && size - text.size() < kMaxDressing) {
    const char c = text.front();
    const bool line_end = c == '\n' || c == '\r';
    if (kMarks.find(c) != std::string_view::npos || (is_space(c) && (across_lines || !line_end))) {
      text.remove_prefix(1);
      continue;
    }
    const std::size_t command = command_size(text);
    if (command == 0) break;
    text.remove_prefix(command);
  }
  return text;
}

std::string_view without_closing(std::string_view after) {
  const std::size_t size = after.size();
  while (!after.empty() && size - after.size() < kMaxDressing) {
    if (kClosingMarks.find(after.front()) != std::string_view::npos) {
      after.remove_prefix(1);
    } else if (after.starts_with("\\)") || after.starts_with("\\]")) {
      after.remove_prefix(2);
    } else {
      break;
    }
  }
  return after;
}

std::string_view without_marks_at_end(std::string_view before) {
  before = before.substr(before.size() - std::min<std::size_t>(before.size(), 48));
  while (!before.empty() && (is_space(before.back()) || kMarks.find(before.back()) != std::string_view::npos)) {
    before.remove_suffix(1);
  }
  return before;
}

std::string shown_in_box(std::string_view box) {
  std::string shown;
  int depth = 1;
  const std::size_t end = std::min(box.size(), kMaxBox);
  for (std::size_t at = 0; at < end;) {
    const char c = box[at];
    if (c == '\\') {
      const std::size_t command = command_size(box.substr(at));
      // "\(" is a mark, "\ " and "\quad" are spaces; the rest of the commands is part of a formula.
      if (command == 0) shown += box.substr(at, 2);
      if (command > 0 && box[at + 1] != '(') shown += ' ';
      at += command == 0 ? 2 : command;
      continue;
    }
    ++at;
    if (c == '{') ++depth;
    if (c == '}' && --depth == 0) return shown;
    const bool bold = c == '*' && (box.substr(at).starts_with('*') || (at > 1 && box[at - 2] == '*'));
    if (c == '~') shown += ' ';
    if (!bold && std::string_view("{}$~").find(c) == std::string_view::npos) shown += c;
  }
  return end == kMaxBox ? shown : std::string();
}

bool stands_free(std::string_view after) {
  if (!ends_word(after)) return false;
  if (after.empty()) return true;
  if (after.front() == '=' || after.front() == '^' || after.front() == '+') return false;
  for (const std::string_view joint : {"-", "_", "/", "'", "\u2010", "\u2011", "\u2013", "\u2019"}) {
    if (!after.starts_with(joint)) continue;
    const std::string_view next = after.substr(joint.size());
    return next.empty() || (!is_letter(next.front()) && !is_digit(next.front()) && next.front() != '{');
  }
  return true;
}

bool sentence_ends(std::string_view after) {
  after = without_closing(after);
  if (after.empty()) return true;
  return std::string_view(".!;").find(after.front()) != std::string_view::npos &&
         (after.size() == 1 || !(is_letter(after[1]) || is_digit(after[1])));
}

bool ends_text(std::string_view after) {
  after = without_closing(after);
  if (after.starts_with('.') || after.starts_with('!')) after.remove_prefix(1);
  return after.size() <= kMaxDressing && trim(without_closing(after)).empty();
}

bool stands_alone(std::string_view after) {
  for (const char c : after.substr(0, kMaxDressing)) {
    if (c == '\n' || c == '\r') return true;
    if (c != '.' && kClosingMarks.find(c) == std::string_view::npos) return false;
  }
  return after.size() <= kMaxDressing;
}

}  // namespace dts::letters
