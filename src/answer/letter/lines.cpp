#include "answer/letter/lines.h"

#include "answer/letter/context.h"
#include "answer/letter/marks.h"
#include "answer/letter/option_item.h"
#include "answer/letter/phrases.h"
#include "text/ascii.h"

namespace dts::letters {

using namespace text;

namespace {

// As options begin: "B) ", "B. ", "B: ". Expects no marks before it.
bool begins_as_options_do(std::string_view line) {
  return line.size() > 1 && std::string_view(").:").find(line[1]) != std::string_view::npos &&
         (line.size() == 2 || !is_letter(line[2]));
}

// The last line is one of a list of options: the line before it has the letter before, or it has the next one itself.
bool ends_list(char letter, std::string_view lines_before, std::string_view after) {
  if (letter == 'A') {
    const std::string_view line = after.substr(0, 4096);
    for (std::size_t at = 1; at + 1 < line.size(); ++at) {
      if (line[at] == 'B' && line[at + 1] == ')' && !is_letter(line[at - 1])) return true;
    }
    return false;
  }
  lines_before = trim(lines_before);
  const std::size_t line_end = lines_before.find_last_of("\n\r");
  const OptionItem item =
      option_item(line_end == std::string_view::npos ? lines_before : lines_before.substr(line_end + 1),
                  static_cast<char>(letter - 1));
  return letter != '\0' && item.letter == letter - 1 && item.said().parted;
}

}  // namespace

// "B.", and on the lines that follow why.
char first_line_letter(std::string_view text, char last) {
  const std::string_view line = without_dressing(trim(text), false);
  if (line.empty() || !stands_alone(without_closing(line.substr(1)))) return '\0';
  return letter_of(line.front(), last, false);
}

std::size_t last_line_begin(std::string_view text) {
  const std::size_t line_end = text.substr(0, text.find_last_not_of(" \t\n\r") + 1).find_last_of("\n\r");
  return line_end == std::string_view::npos ? 0 : line_end + 1;
}

char option_of_last_line(std::string_view text, char last) {
  const std::string_view line = without_dressing(text.substr(last_line_begin(text)), false);
  return begins_as_options_do(line) ? last_line_letter(text, last) : '\0';
}

char last_line_letter(std::string_view text, char last) {
  const std::string_view all = trim(text);
  const std::size_t line_end = all.find_last_of("\n\r");
  std::string_view line = without_dressing(line_end == std::string_view::npos ? all : all.substr(line_end + 1), false);
  if (line.starts_with("> ") || line.starts_with("- "))
    line = without_dressing(line.substr(2), false);  // quoted, or the item of a list
  for (const std::string_view arrow : kArrows) {
    if (!line.starts_with(arrow)) continue;
    line = without_dressing(line.substr(arrow.size()), false);
    break;
  }
  if (const Judged mark = mark_at(line); mark.verdict == Verdict::kRight) {
    line = without_dressing(line.substr(mark.size), false);
  }
  if (line.empty()) return '\0';
  const std::string_view after = line.substr(1);
  const bool as_options_do = begins_as_options_do(line);
  const bool reasoned = line.size() > 1 && !is_article(line) && stands_free(after) && gives_reason(after);
  if (!as_options_do && !reasoned && !stands_alone(without_closing(after))) return '\0';
  const char letter = letter_of(line.front(), last, as_options_do || after.empty());
  if (is_blamed(after) || is_blamed(after.substr(as_options_do ? 1 : 0))) return '\0';
  if (as_options_do && ends_list(letter, line_end == std::string_view::npos ? "" : all.substr(0, line_end), after)) {
    return '\0';
  }
  return letter;
}

}  // namespace dts::letters
