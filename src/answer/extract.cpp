#include "answer/extract.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "answer/notation/other_languages.h"
#include "answer/notation/wide_forms.h"
#include "answer/prose.h"
#include "dts/answer.h"
#include "text/ascii.h"

namespace dts {
namespace {

using namespace text;

constexpr std::string_view kOpen = "<think>";
constexpr std::string_view kClose = "</think>";
constexpr std::size_t kMaxLine = 1024;                     // bytes: a longer last line is prose
constexpr std::size_t kMaxOptions = 64;                    // bytes of what stands before a frame's contents
constexpr std::size_t kMaxClause = 96;                     // bytes that are looked at for what denies
constexpr std::size_t kMaxSearch = std::size_t{1} << 16U;  // bytes at the end: an answer is stated there

void drop_marks(std::string_view& line) {
  while (!line.empty() && std::string_view("#>:").find(line.front()) != std::string_view::npos) {
    line = trim(line.substr(1));
  }
}

// Without the marks of bold text, which may close before or after the answer.
std::string without_bold(std::string_view line) {
  std::string out;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t bold = std::min(line.find("**", at), line.size());
    out += line.substr(at, bold - at);
    at = bold + 2;
  }
  return out;
}

// "The final answer is: 7" -> "7". For a last line, which is prose more often than not.
LastLine drop_lead_in(std::string_view line) {
  if (line.size() > 1 && (line[0] == '-' || line[0] == '*') && is_space(line[1])) line = trim(line.substr(1));
  const bool marked = line.starts_with("####");  // as GSM8K's own solutions have it
  drop_marks(line);
  LastLine unled = {std::string(line), marked};
  for (const std::string_view word : {"so", "thus", "therefore", "hence"}) {
    if (drop_words(line, word)) break;
  }
  if (line.substr(0, 1) == ",") line = trim(line.substr(1));
  if (!drop_words(line, "the")) drop_words(line, "my");
  if (!drop_words(line, "final")) drop_words(line, "correct");
  if (drop_words(line, "ans")) {
    const bool marked_so = line.starts_with('.') || line.starts_with(':');
    if (!marked_so) return unled;
    line = trim(line.substr(1));
    return {std::string(first_sentence(line)), !line.empty()};
  }
  if (!drop_words(line, "answer")) {
    // "The answers vary" states none.
    if (!drop_words(line, "answers") || !(line.starts_with(':') || drop_words(line, "are"))) return unled;
    drop_marks(line);
    return {std::string(first_sentence(line)), !line.empty()};
  }
  const std::size_t before = line.size();
  drop_marks(line);
  for (const std::string_view dash : {"- ", "\u2013 ", "\u2014 "}) {
    if (line.starts_with(dash)) line = trim(line.substr(dash.size()));
  }
  // "Final Answer: The final answer is 7": said twice.
  if (line.size() < before) {
    LastLine again = drop_lead_in(line);
    if (again.is_stated) return again;
  }
  drop_words(line, "is");
  if (line.starts_with('=')) line = trim(line.substr(1));
  drop_marks(line);
  for (const std::string_view word : {"therefore", "thus", "simply", "indeed"}) {
    if (drop_words(line, word)) break;
  }
  return {std::string(first_sentence(line)), line.size() < before};
}

// Empty when the line is too long to be an answer.
std::string_view last_line(std::string_view text) {
  text = trim(text);
  std::size_t begin = text.size();
  while (begin > 0 && text[begin - 1] != '\n' && text[begin - 1] != '\r') {
    if (text.size() - --begin > kMaxLine) return {};
  }
  return trim(text.substr(begin));
}

// "That's the full solution.", "This completes the proof.": said of what stands before it.
bool closes(std::string_view line) {
  for (const std::string_view words :
       {"that's the", "that is the", "this is the", "this completes", "that completes"}) {
    if (!drop_words(line, words)) continue;
    if (line.find_first_of("0123456789$\\=:") != std::string_view::npos) return false;
    for (const std::string_view what : {"solution", "answer", "form", "result", "proof", "argument"}) {
      if (line.find(what) != std::string_view::npos) return true;
    }
  }
  return line == "QED" || line == "Done." || line == "\u220e" || line == "\u25a0";
}

// Without the last lines that only take leave: "I hope this helps!"
std::string_view without_farewell(std::string_view text) {
  for (int line = 0; line < 2; ++line) {
    std::string_view last = last_line(text);
    const std::string_view whole = last;
    bool farewell = false;
    for (const std::string_view words : {"i hope this helps", "i hope that helps", "hope this helps", "let me know if",
                                         "feel free to", "please let me know"}) {
      farewell = farewell || drop_words(last, words);
    }
    if (!(farewell || closes(whole)) || whole.empty()) break;
    text = trim(text.substr(0, static_cast<std::size_t>(whole.data() - text.data())));
  }
  return text;
}

// Without a last sentence in brackets: "There are 55. (Checked for 1, 4 and 10.)"
std::string_view without_note(std::string_view text) {
  text = trim(text);
  if (!text.ends_with(')')) return text;
  const std::string_view line = last_line(text);
  const std::size_t note = line.rfind(". (");
  if (note == std::string_view::npos || line.find(')', note) + 1 != line.size()) return text;
  return text.substr(0, text.size() - line.size() + note + 1);
}

// `": 104}` -> "104": what follows the name of a member of JSON.
std::string_view member_value(std::string_view rest) {
  if (!rest.starts_with('"')) return {};
  rest = rest.substr(1, kMaxLine);
  const std::size_t begin = rest.find_first_not_of(" \t");
  if (begin == std::string_view::npos || rest[begin] != ':') return {};
  rest = trim(rest.substr(begin + 1));
  if (!rest.starts_with('"')) return trim(rest.substr(0, rest.find_first_of(",}\n")));
  rest.remove_prefix(1);
  return trim(rest.substr(0, rest.find_first_of("\"\n")));
}

// The last "answer is" or "answer:" of the text, with what follows it: where more than the answer was said after it.
LastLine last_stated(std::string_view text) {
  constexpr int kMaxCandidates = 64;
  text = text.substr(text.size() - std::min(text.size(), kMaxSearch));
  std::size_t end = text.size();
  for (int candidate = 0; candidate < kMaxCandidates; ++candidate) {
    const std::size_t lower = text.substr(0, end).rfind("nswer");
    if (lower == std::string_view::npos || lower == 0) break;
    end = lower;
    const bool whole_word =
        (text[lower - 1] == 'a' || text[lower - 1] == 'A') && (lower < 2 || !is_letter(text[lower - 2]));
    if (!whole_word || is_denied(text.substr(0, lower - 1))) continue;
    std::string_view rest = text.substr(lower + 5);
    if (const std::string_view member = member_value(rest); !member.empty()) return {std::string(member), true};
    const std::size_t line_end = std::min(rest.find('\n'), rest.size());
    std::string line = without_bold(rest.substr(0, std::min(line_end, kMaxLine)));
    if (trim(line).empty() || trim(line) == ":" || trim(line) == "is" || trim(line) == "is:") {
      // On the next line that has anything; a formula there may go on over lines of its own.
      const bool named =
          !trim(line).empty() || text.substr(0, lower).ends_with("inal A") || text.substr(0, lower).ends_with("inal a");
      rest = trim(rest.substr(line_end));
      if (!named || rest.empty()) continue;
      const std::size_t formula = formula_end(rest, 0);
      const std::size_t next = formula > 0 && formula <= kMaxLine ? formula : std::min(rest.find('\n'), rest.size());
      if (next > kMaxLine) continue;
      const std::string following = without_bold(rest.substr(0, next));
      return {value_of_sentence(first_sentence(trim(following))), true};
    }
    LastLine stated = drop_lead_in("answer" + line);
    if (stated.is_stated && !stated.text.empty()) return {value_of_sentence(stated.text), true};
  }
  return {};
}

// The same as other languages state it.
LastLine stated_abroad(std::string_view text) {
  const std::string_view rest = after_last_lead_in(text.substr(text.size() - std::min(text.size(), kMaxSearch)));
  if (rest.empty() || rest.size() > kMaxLine) return {};
  const std::string line = without_bold(rest);
  const std::string_view value = value_abroad(first_sentence(trim(line)));
  return {std::string(value), !value.empty()};
}

// "x=2" of "- $x = 2$": an item of a list that says what a letter is. Empty when the line is none.
std::string_view listed_equation(std::string_view line) {
  if (!line.starts_with("- ") && !line.starts_with("* ") && !line.starts_with("\u2022 ")) return {};
  line = trim(line.substr(line.find(' ')));
  if (formula_end(line, 0) == line.size() && line.starts_with('$') && line.size() > 2) {
    line = trim(line.substr(1, line.size() - 2));
  }
  const std::size_t equals = line.find('=');
  const bool said = equals != std::string_view::npos && trim(line.substr(0, equals)).size() == 1 &&
                    is_letter(line.front()) && says_number(line.substr(equals + 1));
  return said ? line : std::string_view{};
}

// "- x = 2\n- y = 3" at the end -> "x = 2, y = 3": each letter once. Empty where there are not several.
std::string listed_equations(std::string_view text) {
  constexpr int kMost = 8;
  std::string all;
  std::string letters;
  for (int i = 0; i < kMost; ++i) {
    const std::string_view line = last_line(text);
    const std::string plain = without_bold(line);
    const std::string_view equation = listed_equation(plain);
    if (equation.empty() || letters.find(equation.front()) != std::string::npos) break;
    letters += equation.front();
    all.insert(0, std::string(equation) + (all.empty() ? "" : ", "));
    text = trim(text.substr(0, static_cast<std::size_t>(line.data() - text.data())));
  }
  return letters.size() > 1 ? all : std::string();
}

// The one part of the line that is bold; empty when there is none, or several.
std::string_view only_bold(std::string_view line) {
  constexpr std::size_t kLongest = 64;  // bytes
  const std::size_t open = line.find("**");
  if (open == std::string_view::npos) return {};
  const std::size_t close = line.find("**", open + 2);
  if (close == std::string_view::npos || line.find("**", close + 2) != std::string_view::npos) return {};
  const std::string_view bold = trim(line.substr(open + 2, close - open - 2));
  return bold.size() <= kLongest && !bold.ends_with(':') ? bold : std::string_view{};
}

// "**11/36**", a line of its own before all that explains it.
std::string_view answer_at_front(std::string_view text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return {};
  const std::string_view first = trim(text.substr(0, end));
  if (first.size() < 5 || !first.starts_with("**") || !first.ends_with("**")) return {};
  const std::string_view answer = only_bold(first);
  if (!says_number(answer)) return {};
  std::string_view last = last_line(text);
  for (const std::string_view words :
       {"this", "that", "because", "since", "note", "check", "here", "explanation", "reason", "it follows"}) {
    if (drop_words(last, words)) return answer;
  }
  return {};
}

}  // namespace

bool is_denied(std::string_view before) {
  std::string clause = lower_case(before.substr(before.size() - std::min(before.size(), kMaxClause)));
  std::size_t begin = clause.find_last_of(".,;:!?\n");
  clause.erase(0, begin == std::string::npos ? 0 : begin + 1);
  begin = clause.rfind(" but ");
  clause.erase(0, begin == std::string::npos ? 0 : begin + 4);
  clause = " " + std::string(trim(clause));
  for (const std::string_view word : {" not", " never", " cannot", " neither", " nor", "n't", "n\u2019t"}) {
    if (clause.ends_with(word)) return true;
  }
  // Of what is thought or said, however it goes on.
  for (const std::string_view denial : {" not ", " never ", " cannot ", "n't ", "n\u2019t "}) {
    const std::size_t at = clause.find(denial);
    if (at == std::string::npos) continue;
    const std::string_view rest = std::string_view(clause).substr(at + denial.size());
    for (const std::string_view verb :
         {"think", "believe", "say", "mean", "imply", "suggest", "conclude", "claim", "true that", "the case that",
          "clear that", "sure", "certain", "convinced", "know if", "know whether", "follow that"}) {
      if (starts_with_word(rest, verb)) return true;
    }
  }
  return false;
}

SplitText split_thinking(std::string_view text, bool opens_thinking) {
  SplitText split;
  const std::size_t close = text.rfind(kClose);
  const bool closed = close != std::string_view::npos;
  std::string_view thinking = trim(closed ? text.substr(0, close) : text);
  split.answer = closed ? trim(text.substr(close + kClose.size())) : std::string_view{};
  const bool opened = thinking.substr(0, kOpen.size()) == kOpen;
  if (opened) thinking = trim(thinking.substr(kOpen.size()));
  if (!closed && !opened && !opens_thinking) {
    split.answer = thinking;
    return split;
  }
  split.thinking = thinking;
  split.thinking_open = !closed;
  if (split.answer.substr(0, kOpen.size()) == kOpen) {  // it began to think again, and did not come back
    split.answer = {};
    split.thinking_open = true;
  }
  return split;
}

std::string_view last_boxed(std::string_view text) {
  struct OpenBox {
    std::size_t begin;  // of its contents
    std::size_t depth;  // of braces, its own included
  };
  if (text.find("box") == std::string_view::npos) return {};
  std::vector<OpenBox> open;
  std::size_t depth = 0;
  std::string_view last;
  std::size_t last_begin = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const char c = text[at++];
    if (c == '{') {
      ++depth;
    } else if (c == '}' && depth > 0) {
      if (!open.empty() && open.back().depth == depth) {
        const std::size_t begin = open.back().begin;
        const std::string_view contents = trim(text.substr(begin, at - 1 - begin));
        // An inner box is the later one, though it closes first.
        if (!contents.empty() && begin >= last_begin) {
          last = contents;
          last_begin = begin;
        }
        open.pop_back();
      }
      --depth;
    } else if (c == '\\' && at < text.size()) {
      // One backslash too many before a command is common where text was escaped: it hides no box.
      if (text[at] == '\\' && at + 1 < text.size() && is_letter(text[at + 1])) continue;
      if (!is_letter(text[at])) {
        ++at;
        continue;
      }
      const std::size_t name_begin = at;
      while (at < text.size() && is_letter(text[at])) ++at;
      const std::string_view name = text.substr(name_begin, at - name_begin);
      const bool framed = name == "framebox" || name == "bbox";
      if (name != "boxed" && name != "fbox" && !framed) continue;
      std::size_t brace = at;
      if (framed && text.substr(brace).starts_with('[')) {  // \bbox[border:1px]{7}
        const std::size_t end = text.substr(brace, kMaxOptions).find(']');
        if (end != std::string_view::npos) brace += end + 1;
      }
      while (brace < text.size() && is_space(text[brace])) ++brace;
      if (brace == text.size() || text[brace] != '{') continue;
      at = brace + 1;
      open.push_back({at, ++depth});
    }
  }
  return last;
}

std::string_view tagged_answer(std::string_view text) {
  constexpr std::string_view kOpenTag = "<answer>";
  const std::size_t close = text.rfind("</answer>");
  if (close == std::string_view::npos) return {};
  const std::size_t open = text.substr(0, close).rfind(kOpenTag);
  return open == std::string_view::npos ? std::string_view{}
                                        : trim(text.substr(open + kOpenTag.size(), close - open - kOpenTag.size()));
}

LastLine last_line_answer(std::string_view written) {
  const std::string narrow = narrow_forms(written);
  std::string_view text = narrow;
  if (const std::string_view tagged = tagged_answer(text); !tagged.empty() && tagged.size() <= kMaxLine) {
    return {std::string(tagged), true};
  }
  text = without_note(without_farewell(text));
  const std::string line = without_bold(last_line(text));
  LastLine last = drop_lead_in(trim(line));
  if (last.is_stated && !last.text.empty()) return {value_of_sentence(last.text), true};
  if (LastLine stated = last_stated(text); stated.is_stated) return stated;
  if (LastLine stated = stated_abroad(text); stated.is_stated) return stated;
  if (std::string list = listed_equations(text); !list.empty()) return {std::move(list), false};
  if (const std::string_view first = answer_at_front(text); !first.empty()) return {std::string(first), false};
  std::string value = value_of_last_line(text, line);
  if (value.empty()) value = only_bold(last_line(text));
  if (!value.empty()) last.text = std::move(value);
  return last;
}

std::string extract_answer(std::string_view text, bool opens_thinking) {
  const SplitText split = split_thinking(text, opens_thinking);
  std::string_view boxed = last_boxed(split.answer);
  const LastLine line = last_line_answer(split.answer);
  if (boxed.empty() && !line.is_stated && !split.thinking.empty()) boxed = last_boxed(text);
  return normalise_answer(boxed.empty() ? std::string_view(line.text) : boxed);
}

}  // namespace dts
