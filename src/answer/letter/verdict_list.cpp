#include "answer/letter/verdict_list.h"

#include <algorithm>
#include <array>

#include "answer/letter/context.h"
#include "answer/letter/marks.h"
#include "answer/letter/option_item.h"
#include "text/ascii.h"

namespace dts::letters {

using namespace text;

namespace {

constexpr int kMaxGap = 24;  // lines between two judgements of one list

// Of all that is said of an option in marks: what fails once is wrong.
Verdict marks_in(std::string_view text) {
  Verdict all = Verdict::kNone;
  for (std::size_t at = 0; at < text.size(); ++at) {
    // None of them begins with a letter.
    if (is_letter(text[at]) || text[at] == ' ') continue;
    const Verdict one = mark_at(text.substr(at)).verdict;
    if (one == Verdict::kWrong) return one;
    if (one == Verdict::kRight) all = one;
  }
  return all;
}

Verdict verdict_of_cells(std::string_view row) {
  Verdict all = Verdict::kNone;
  while (!row.empty()) {
    const std::size_t end = std::min(row.find('|'), row.size());
    const Verdict one = verdict_at(row.substr(0, end)).verdict;
    if (one == Verdict::kWrong) return one;
    if (one == Verdict::kRight) all = one;
    row.remove_prefix(std::min(end + 1, row.size()));
  }
  return all;
}

// "5 eV \u2192 wrong.", "plausible? No, it is too large": at the end of the line, or where it answers a question.
Verdict verdict_at_end(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::size_t size = 0;
    for (const std::string_view mark : {"? ", ". ", ": ", "- ", " (", "\u2013 ", "\u2014 ", "-> ", "=> ", "\u2192 "}) {
      if (text.substr(at).starts_with(mark)) size = mark.size();
    }
    if (size == 0) continue;
    const std::string_view rest = text.substr(at + size);
    const Judged judged = verdict_at(rest);
    if (judged.verdict != Verdict::kNone && (text[at] == '?' || ends_text(rest.substr(judged.size)))) {
      return judged.verdict;
    }
  }
  return Verdict::kNone;
}

struct Judgement {
  Verdict verdict = Verdict::kNone;
  std::string_view rest;  // of the line, past what is said of this option: another may follow, "A: no. B: yes."
};

Judgement judgement_of(const OptionItem& item, char last) {
  if (item.ahead != Verdict::kNone && !is_article(item.text)) return {item.ahead, {}};
  const OptionItem::Said said = item.said();
  if (!said.parted) return {};
  if (item.in_table) return {verdict_of_cells(said.text), {}};
  const Judged judged = verdict_at(said.text);
  if (judged.verdict == Verdict::kNone) {
    const Verdict marks = marks_in(said.text);
    return {marks != Verdict::kNone ? marks : verdict_at_end(said.text), {}};
  }
  // "A) no" may be an option itself.
  const std::string_view word = without_dressing(said.text, false);
  if (said.dotted && (starts_with_word(word, "yes") || starts_with_word(word, "no"))) return {};
  std::string_view rest = without_closing(said.text.substr(judged.size));
  const bool ends = rest.starts_with('.');
  while (!rest.empty() && std::string_view(".,;").find(rest.front()) != std::string_view::npos) {
    rest = without_closing(rest.substr(1));
  }
  if (option_item(rest, last).letter != '\0') return {judged.verdict, rest};
  return {marks_in(said.text) == Verdict::kWrong ? Verdict::kWrong : judged.verdict, ends ? rest : std::string_view()};
}

// Options as they are judged, up to one that was judged before: there another list begins.
class List {
 public:
  bool has(char letter) const { return seen_.at(static_cast<std::size_t>(letter - 'A')); }
  std::size_t size() const { return static_cast<std::size_t>(std::count(seen_.begin(), seen_.end(), true)); }
  void add(char letter, Verdict verdict) {
    seen_.at(static_cast<std::size_t>(letter - 'A')) = true;
    if (verdict == Verdict::kWrong) return;
    ++right_;
    letter_ = letter;
  }
  // Expects two options or more.
  char letter() const { return right_ == 1 ? letter_ : '\0'; }

 private:
  std::array<bool, 26> seen_{};
  int right_ = 0;
  char letter_ = '\0';
};

}  // namespace

std::vector<JudgedLine> judged_lines(std::string_view text, char last) {
  std::vector<JudgedLine> lines;
  List list;
  std::size_t first = 0;  // of `lines`, of this list
  int gap = 0;
  const auto close = [&] {
    if (list.size() > 1) {
      lines.back().letter = list.letter();
    } else {
      lines.resize(first);
    }
    list = {};
    first = lines.size();
  };
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of("\n\r", begin), text.size());
    std::string_view rest = text.substr(begin, end - begin);
    bool judges = false;
    for (OptionItem item = option_item(rest, last); item.letter != '\0'; item = option_item(rest, last)) {
      const Judgement judgement = judgement_of(item, last);
      if (judgement.verdict == Verdict::kNone) break;
      if (list.has(item.letter) || (!judges && gap > kMaxGap)) {
        if (judges) lines.push_back({begin, begin, '\0'});  // of the list that ends within this line
        close();
      }
      list.add(item.letter, judgement.verdict);
      judges = true;
      rest = judgement.rest;
    }
    if (judges) lines.push_back({begin, rest.empty() ? end : end - rest.size(), '\0'});
    gap = judges ? 0 : gap + 1;
    begin = end + 1;
  }
  close();
  return lines;
}

}  // namespace dts::letters
