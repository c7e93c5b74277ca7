#include "answer/extract.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "answer/notation/other_languages.h"
#include "answer/notation/units.h"
#include "answer/notation/wide_forms.h"
#include "answer/value/expression.h"
#include "dts/answer.h"
#include "text/ascii.h"

namespace dts {
namespace {

using namespace text;

constexpr std::string_view kOpen = "<think>";
constexpr std::string_view kClose = "</think>";
constexpr std::string_view kDigits = "0123456789";
constexpr std::size_t kMaxLine = 1024;                     // bytes: a longer last line is prose
constexpr std::size_t kMaxOptions = 64;                    // bytes of what stands before a frame's contents
constexpr std::size_t kMaxRemark = 32;                     // bytes that are looked at for how a remark begins
constexpr std::size_t kMaxClause = 96;                     // bytes that are looked at for what denies
constexpr std::size_t kMaxSearch = std::size_t{1} << 16U;  // bytes at the end: an answer is stated there

// Drops `words` at the front, whatever their case, when a word ends there.
bool drop_words(std::string_view& text, std::string_view words) {
  if (text.size() < words.size()) return false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (to_lower(text[i]) != words[i]) return false;
  }
  if (text.size() > words.size() && is_letter(text[words.size()])) return false;
  text = trim(text.substr(words.size()));
  return true;
}

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

bool starts_with_word(std::string_view text, std::string_view word) {
  return text.starts_with(word) && (text.size() == word.size() || !is_letter(text[word.size()]));
}

// The end of what begins a formula at `at`: $...$, \(...\), \[...\]; `at` when nothing does.
std::size_t formula_end(std::string_view text, std::size_t at) {
  struct Pair {
    std::string_view open, close;
  };
  static constexpr std::array<Pair, 4> kPairs = {{{"$$", "$$"}, {"$", "$"}, {"\\(", "\\)"}, {"\\[", "\\]"}}};
  for (const Pair& pair : kPairs) {
    if (!text.substr(at).starts_with(pair.open) || (at > 0 && text[at - 1] == '\\')) continue;
    const std::size_t close = text.find(pair.close, at + pair.open.size());
    return close == std::string_view::npos ? at : close + pair.close.size();
  }
  return at;
}

// ", as required", " because", " (since", ", not 13": what says more about an answer, and is no part of it.
bool begins_remark(std::string_view text) {
  const bool comma = text[0] == ',';
  if (!comma && !is_space(text[0])) return false;
  text = trim(text.substr(1, kMaxRemark));
  const bool bracket = text.starts_with('(');
  if (bracket) text = trim(text.substr(1));
  for (const std::string_view word : {"because", "since", "rather than", "instead of"}) {
    if (starts_with_word(text, word)) return true;
  }
  for (const std::string_view word : {"as", "which", "where", "so", "not", "I"}) {
    if ((comma || bracket) && starts_with_word(text, word)) return true;
  }
  return bracket && text.starts_with("i.e.");
}

// "It is 12, which is even": the sentence without what is said about its value; empty where nothing is, or where more
// than words are.
std::string_view without_remark(std::string_view line) {
  std::size_t begin = std::string_view::npos;
  for (const std::string_view remark : {", which ", ", as ", " because ", " since "}) {
    const std::size_t at = line.rfind(remark);
    if (at != std::string_view::npos && (begin == std::string_view::npos || at > begin)) begin = at;
  }
  if (begin == std::string_view::npos || line.find_first_of("0123456789$\\=", begin) != std::string_view::npos)
    return {};
  return line.substr(0, begin);
}

// Up to the point, outside all formulas, after which another sentence begins; and without ", as required".
std::string_view first_sentence(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t end = formula_end(text, at); end > at) {
      at = end;
      continue;
    }
    const std::string_view rest = text.substr(at);
    const bool stop = (rest[0] == '.' || rest[0] == '!') && rest.size() > 2 && is_space(rest[1]) &&
                      !is_digit(rest[2]) && !(at > 0 && rest[0] == '!' && is_digit(text[at - 1]));
    if (stop) return trim(text.substr(0, at));
    if (at > 0 && begins_remark(rest)) return trim(text.substr(0, at));
    ++at;
  }
  return text;
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

// The formula at the end of the text, but for a point: "so we get $42$.". With those before it that only commas, "and"
// and "or" part from it. Empty when it ends otherwise.
std::string_view last_formula(std::string_view text) {
  constexpr std::size_t kMaxFormulas = 4096;  // bytes
  text = trim(text);
  while (!text.empty() && (text.back() == '.' || text.back() == '*')) text.remove_suffix(1);
  // Units in words may follow it.
  constexpr std::size_t kMaxUnits = 32;  // bytes
  const std::string_view whole = text;
  while (!text.empty() && (is_letter(text.back()) || is_space(text.back())) && whole.size() - text.size() < kMaxUnits) {
    text.remove_suffix(1);
  }
  if (text.size() < 3) return {};
  const std::string_view tail = text.substr(text.size() - std::min(text.size(), kMaxFormulas));
  std::string_view close = tail.substr(tail.size() - 2);
  if (close != "$$" && close != "\\)" && close != "\\]") close = tail.substr(tail.size() - 1);
  const std::string_view open = close == "\\)" ? "\\(" : close == "\\]" ? "\\[" : close;
  if (close.size() == 1 && close != "$") return {};
  std::size_t begin = tail.substr(0, tail.size() - close.size()).rfind(open);
  if (begin == std::string_view::npos || tail.size() - begin > kMaxLine) return {};
  if (trim(tail.substr(begin + open.size(), tail.size() - begin - open.size() - close.size())).empty()) return {};
  for (;;) {
    const std::string_view before = tail.substr(0, begin);
    const std::size_t end = before.rfind(close);
    if (end == std::string_view::npos || open != (close == "$" ? "$" : open)) break;
    const std::string_view between = trim(before.substr(end + close.size()));
    if (between != "," && between != "and" && between != "or" && between != ", and" && between != ", or") break;
    const std::size_t next = before.substr(0, end).rfind(open);
    if (next == std::string_view::npos) break;
    begin = next;
  }
  return whole.substr(whole.size() - (whole.size() - text.size()) - (tail.size() - begin));
}

// Whether a sentence that goes on with a verb has said something else before it: "The least is 3 and the greatest",
// "all of them except that which".
bool says_more(std::string_view before) {
  const std::size_t mark = before.find_last_of(",;");
  const std::string_view clause = before.substr(mark == std::string_view::npos ? 0 : mark);
  const std::size_t also = clause.find(" and ");
  for (const std::string_view verb : {" is ", " are ", " equals "}) {
    if (also != std::string_view::npos && clause.substr(0, also).find(verb) != std::string_view::npos) return true;
  }
  return clause.find(" except ") != std::string_view::npos;
}

// "The value of it is 7." -> "7": where only a number follows the verb, and nothing denies it.
std::string_view value_at_end(std::string_view line) {
  line = trim(line);
  for (const std::string_view verb : {" is ", " are ", " equals ", " be ", " get ", " = ", ", i.e. ", ", i.e., ",
                                      ", that is, ", ", namely ", " ist ", " est ", " es ", " è "}) {
    const std::size_t at = line.rfind(verb);
    if (at == std::string_view::npos || is_denied(line.substr(0, at)) || says_more(line.substr(0, at))) continue;
    if (line.substr(0, at).ends_with(" no") || line.substr(0, at).ends_with(" non")) continue;  // "no es 12"
    const std::string_view rest = trim(line.substr(at + verb.size()));
    const std::optional<Value> value = evaluate(normalise_answer(rest));
    if (value && value->constant) return rest;
  }
  return {};
}

// "There are $12$ such sets" -> "$12$": where no other number is in the sentence.
std::string_view value_that_is_there(std::string_view line) {
  bool led = false;
  for (const std::string_view word : {"so", "thus", "hence", "therefore"}) {
    if (drop_words(line, word)) break;
  }
  if (line.starts_with(',')) line = trim(line.substr(1));
  for (const std::string_view words : {"there are", "there is", "there exist", "there exists", "we have", "we get",
                                       "we obtain", "in total", "this gives"}) {
    if (!led) led = drop_words(line, words);
  }
  if (line.starts_with(',') || line.starts_with(':')) line = trim(line.substr(1));
  if (!led) {                                   // "Alice has 30 marbles"
    std::size_t verb = std::string_view::npos;  // past it
    std::size_t before = 0;                     // the end of what stands before it
    for (const std::string_view word :
         {" has ", " have ", " needs ", " need ", " contains ", " earns ", " sells ", " takes ", " costs "}) {
      const std::size_t at = line.rfind(word);
      if (at != std::string_view::npos && (verb == std::string_view::npos || at + word.size() > verb)) {
        verb = at + word.size();
        before = at;
      }
    }
    if (verb == std::string_view::npos || is_denied(line.substr(0, before))) return {};
    if (line.substr(0, verb).find_first_of("0123456789$\\") != std::string_view::npos) return {};
    for (const std::string_view condition : {"if ", "If ", " if ", "When ", "Suppose", "Assume", "Since ", "Let "}) {
      if (line.substr(0, verb).find(condition) != std::string_view::npos) return {};
    }
    line = trim(line.substr(verb));
  }
  for (const std::string_view words : {"exactly", "precisely", "a total of", "only"}) drop_words(line, words);
  std::size_t end = formula_end(line, 0);
  if (end == 0) end = std::min(line.find(' '), line.size());
  const std::string_view value = line.substr(0, end);
  const std::optional<Value> number = evaluate(normalise_answer(value));
  if (!number || !number->constant || line.find_first_of("0123456789$\\", end) != std::string_view::npos) return {};
  for (const std::string_view another : {"more", "fewer", "less", "other", "others", "additional", "times"}) {
    if (starts_with_word(trim(line.substr(end)), another)) return {};
  }
  // "12 or more", "5 million": no plain count.
  const std::string_view next = trim(line.substr(end));
  return changes_meaning(lower_case(next.substr(0, next.find(' ')))) ? std::string_view{} : value;
}

// "final answer.": to the end of the sentence.
bool names_answer(std::string_view rest) {
  for (const std::string_view word : {"final", "correct", "right", "required", "desired"}) drop_words(rest, word);
  return drop_words(rest, "answer") && (rest.empty() || rest == "." || rest == "!");
}

// "12 is the answer." -> "12", "k = 12 is the answer." -> "k = 12"
std::string_view value_that_answers(std::string_view line) {
  for (const std::string_view word : {"so", "thus", "hence", "therefore"}) {
    if (drop_words(line, word)) break;
  }
  if (line.starts_with(',')) line = trim(line.substr(1));
  const std::size_t end = line.find(" is the ");
  if (end == std::string_view::npos) return {};
  const std::string_view value = line.substr(0, end);
  std::string_view rest = line.substr(end + 8);
  if (!names_answer(rest)) return {};
  const std::size_t equals = value.find('=');
  const bool named = equals != std::string_view::npos && is_word(trim(value.substr(0, equals)));
  const std::optional<Value> number = evaluate(normalise_answer(named ? value.substr(equals + 1) : value));
  return number && number->constant ? value : std::string_view{};
}

// "It lasts `12` minutes, which is the answer." -> "12": where no other number is in the sentence.
std::string_view value_that_was_the_answer(std::string_view line) {
  constexpr std::string_view kReference = ", which is the ";
  const std::size_t end = line.rfind(kReference);
  if (end == std::string_view::npos || !names_answer(line.substr(end + kReference.size()))) return {};
  const std::string_view said = line.substr(0, end);
  const std::size_t begin = said.find_first_of(kDigits);
  const std::size_t last = said.find_last_of(kDigits);
  if (begin == std::string_view::npos || is_denied(said.substr(0, begin))) return {};
  // Nothing but a number: no bound, no part of a formula.
  const std::string_view value = said.substr(begin, last + 1 - begin);
  const std::string_view next = trim(said.substr(last + 1));
  for (const std::string_view bound :
       {" not ", "n't ", "cannot", "never", "least", "most", "than", "about", "approximately"}) {
    if (said.substr(0, begin).find(bound) != std::string_view::npos) return {};
  }
  const bool plain = value.find_first_not_of("0123456789.,") == std::string_view::npos &&
                     said.find_first_of("\\$=^_/") == std::string_view::npos &&
                     (begin == 0 || !is_letter(said[begin - 1])) &&
                     !changes_meaning(lower_case(next.substr(0, next.find(' '))));
  return plain ? value : std::string_view{};
}

// "Result: 12" -> "12": words, a colon and a number.
std::string_view labelled_value(std::string_view line) {
  constexpr std::size_t kLongest = 32;  // bytes before the colon
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0 || colon > kLongest) return {};
  const std::string_view label = line.substr(0, colon);
  if (!std::all_of(label.begin(), label.end(), [](char c) { return is_letter(c) || c == ' '; })) return {};
  const std::string_view value = trim(line.substr(colon + 1));
  const std::optional<Value> number = evaluate(normalise_answer(value));
  return number && number->constant ? value : std::string_view{};
}

// "The least is $12$ when $x=3$" -> "The least is $12$"; empty where there is no such condition.
std::string_view without_condition(std::string_view line) {
  std::size_t begin = std::string_view::npos;
  for (const std::string_view word : {" when ", " attained ", " achieved ", " reached ", " occurring "}) {
    begin = std::min(begin, line.find(word));
  }
  if (begin == std::string_view::npos) return {};
  line = trim(line.substr(0, begin));
  return line.ends_with(',') ? trim(line.substr(0, line.size() - 1)) : line;
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
    if (!farewell || whole.empty()) break;
    text = trim(text.substr(0, static_cast<std::size_t>(whole.data() - text.data())));
  }
  return text;
}

// "We have 24+25+24 ways. Hence there are 73 of them": the last sentence of a line of several; empty where there is
// one.
std::string_view last_sentence(std::string_view line) {
  std::string_view last;
  for (std::size_t at = 0; at < line.size();) {
    if (const std::size_t end = formula_end(line, at); end > at) {
      at = end;
      continue;
    }
    const std::string_view rest = line.substr(at);
    const bool begins = rest.size() > 2 && (rest[0] == '.' || rest[0] == '!' || rest[0] == ';') && is_space(rest[1]) &&
                        is_letter(rest[2]);
    if (begins) last = trim(rest.substr(1));
    ++at;
  }
  return last;
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

// The value of a whole sentence that was stated: "The value of $m+n$ is 33" -> "33". The text as it is when it is the
// answer itself, or a sentence that ends otherwise.
std::string value_of_sentence(std::string_view stated) {
  std::string_view line = trim(stated);
  const std::size_t space = line.find(' ');
  const bool prose =
      space != std::string_view::npos && is_word(line.substr(0, space)) && space > 1 && !is_digit(line.front());
  if (!prose || starts_with_word(line, "not")) return std::string(stated);
  if (const std::string_view value = value_that_is_there(line); !value.empty()) return std::string(value);
  if (const std::string_view value = value_at_end(line); !value.empty()) return std::string(value);
  for (const std::string_view verb : {" is ", " are ", " equals "}) {
    const std::size_t at = line.rfind(verb);
    if (at == std::string_view::npos || is_denied(line.substr(0, at)) || says_more(line.substr(0, at))) continue;
    const std::string_view rest = trim(line.substr(at + verb.size()));
    const std::string_view formula = last_formula(rest);
    if (!formula.empty() && formula.data() == rest.data()) return std::string(rest);
  }
  return std::string(stated);
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
  // "The least is $12$ when $x=3$": not what is said of when.
  const std::string_view unconditional = without_condition(line);
  if (const std::string value = value_of_sentence(unconditional); !unconditional.empty() && value != unconditional) {
    return {value, last.is_stated};
  }
  for (const std::string_view said : {text, without_remark(line), last_sentence(line)}) {
    if (said.empty()) continue;
    const std::string_view sentence = said == text ? std::string_view(line) : said;
    std::string_view value = value_that_answers(sentence);
    if (value.empty()) value = value_that_was_the_answer(sentence);
    if (value.empty()) value = last_formula(said);
    if (value.empty()) value = value_at_end(sentence);
    if (value.empty()) value = value_that_is_there(sentence);
    if (value.empty()) value = labelled_value(sentence);
    if (value.empty()) continue;
    last.text = value;
    break;
  }
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
