#include "answer/letter/option_item.h"

#include <cstddef>

#include "answer/letter/marks.h"
#include "text/ascii.h"

namespace dts::letters {

using namespace text;

namespace {

// How many bytes of `text` only mark that an item begins: "- ", "3. ", "## ", "> ".
std::size_t bullet_size(std::string_view text) {
  if (text.empty()) return 0;
  if (text.front() == '#' || text.front() == '>') return 1;
  for (const std::string_view bullet : {"- ", "* ", "+ ", "\u2022", "\u00b7", "\u2013 ", "\u2014 "}) {
    if (text.starts_with(bullet)) return bullet.size();
  }
  std::size_t end = 0;
  while (end < text.size() && end < 2 && is_digit(text[end])) ++end;
  const bool number =
      end > 0 && end + 1 < text.size() && (text[end] == '.' || text[end] == ')') && text[end + 1] == ' ';
  return number ? end + 2 : 0;
}

}  // namespace

OptionItem option_item(std::string_view line, char last) {
  OptionItem item;
  const std::size_t size = line.size();
  while (!line.empty() && size - line.size() < kMaxDressing) {
    if (const Judged mark = mark_at(line); mark.verdict != Verdict::kNone) {
      item.ahead = mark.verdict;
      line.remove_prefix(mark.size);
      continue;
    }
    if (const std::size_t bullet = bullet_size(line); bullet > 0) {
      line.remove_prefix(bullet);
      continue;
    }
    if (line.front() == '|') {
      item.in_table = true;
      line.remove_prefix(1);
      continue;
    }
    const char c = line.front();
    if (is_space(c) || std::string_view("*_$`\"'([{").find(c) != std::string_view::npos) {
      line.remove_prefix(1);
      continue;
    }
    std::size_t named = 0;
    for (const std::string_view word : {"option", "choice", "statement", "answer", "\u9009\u9879"}) {
      if (starts_with(line, word) && (!is_letter(word.front()) || starts_with_word(line, word))) named = word.size();
    }
    if (named == 0) break;
    line.remove_prefix(named);
  }
  if (line.empty() || !ends_word(line.substr(1))) return {};
  const std::size_t at = size - line.size();
  const bool bracketed = at > 0 && line.data()[-1] == '(' && line.substr(1).starts_with(')');
  item.letter = letter_of(line.front(), last, bracketed);
  item.text = line;
  return item.letter == '\0' ? OptionItem{} : item;
}

OptionItem::Said OptionItem::said() const {
  const std::string_view after = text.substr(1);
  std::string_view rest = without_closing(after);
  const std::string_view closed = after.substr(0, after.size() - rest.size());
  Said said;
  said.dotted = closed.find_first_of(")]") != std::string_view::npos;
  said.parted = said.dotted;
  if (rest.starts_with('.') || rest.starts_with(',')) {
    said.parted = said.dotted = rest.size() == 1 || !is_letter(rest[1]);
    rest = without_closing(rest.substr(1));
  }
  for (const std::string_view mark :
       {":", "|", "\u2013", "\u2014", "-->", "->", "=>", "\u2192", "\u21d2", "= ", "- ", "--"}) {
    if (!rest.starts_with(mark)) continue;
    rest.remove_prefix(mark.size());
    said.parted = true;
    said.dotted = false;
    break;
  }
  said.parted = said.parted || rest.empty() || rest.starts_with('(') || mark_at(rest).verdict != Verdict::kNone;
  said.text = rest;
  return said;
}

}  // namespace dts::letters
