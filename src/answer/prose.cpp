#include "answer/prose.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "answer/extract.h"
#include "answer/notation/phrases.h"
#include "answer/notation/units.h"
#include "answer/value/expression.h"
#include "dts/answer.h"
#include "text/ascii.h"

namespace dts {
namespace {

using namespace text;

constexpr std::string_view kDigits = "0123456789";
constexpr std::size_t kMaxLine = 1024;  // bytes: a longer last line is prose
constexpr std::size_t kMaxRemark = 32;  // bytes that are looked at for how a remark begins

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

// "It is 12, which is even", "It is 12, since 3 * 4 = 12": the sentence without what is said about its value; empty
// where nothing is, or where that may be another value.
std::string_view without_remark(std::string_view line) {
  std::size_t begin = std::string_view::npos;
  for (const std::string_view remark : {", which ", ", as ", ", because ", ", since ", " because ", " since "}) {
    const std::size_t at = line.rfind(remark);
    if (at != std::string_view::npos && (begin == std::string_view::npos || at > begin)) begin = at;
  }
  if (begin == std::string_view::npos) return {};
  const std::string_view remark = line.substr(begin);
  if (remark.find_first_of("0123456789$\\=") == std::string_view::npos) return line.substr(0, begin);
  const bool reason = starts_with_word(trim(remark), "because") || starts_with_word(trim(remark), "since");
  for (const std::string_view result : {" so ", " hence ", " thus ", " then ", " therefore ", " we ", " gives ", ";"}) {
    if (remark.find(result) != std::string_view::npos) return {};
  }
  return reason ? line.substr(0, begin) : std::string_view{};
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
    if (end == std::string_view::npos) break;
    const std::string_view between = trim(before.substr(end + close.size()));
    if (between != "," && between != "and" && between != "or" && between != ", and" && between != ", or") break;
    const std::size_t next = before.substr(0, end).rfind(open);
    if (next == std::string_view::npos) break;
    begin = next;
  }
  return whole.substr(text.size() - (tail.size() - begin));  // with its units
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

// "10:45 a.m."
bool says_time(std::string_view text) {
  const std::string normal = normalise_answer(text);
  const std::string plain = plain_phrase(normal);
  return (plain.ends_with(" am") || plain.ends_with(" pm")) && plain.find(':') != std::string::npos;
}

// "The value of it is 7." -> "7": where only a number follows the verb, and nothing denies it.
std::string_view value_at_end(std::string_view line) {
  line = trim(line);
  while (line.ends_with('.') && !line.ends_with(".m.")) line.remove_suffix(1);
  for (const std::string_view nothing_else : {" only", " alone"}) {
    if (line.ends_with(nothing_else)) line = trim(line.substr(0, line.size() - nothing_else.size()));
  }
  for (const std::string_view verb : {" is ",      " are ",           " equals ",     " be ",        " get ",
                                      " = ",       ", i.e. ",         ", i.e., ",     ", that is, ", ", namely ",
                                      " go with ", " simplifies to ", " reduces to ", " comes to ",  " amounts to ",
                                      " at ",      " ist ",           " est ",        " es ",        " è "}) {
    const std::size_t at = line.rfind(verb);
    if (at == std::string_view::npos || is_denied(line.substr(0, at)) || says_more(line.substr(0, at))) continue;
    if (line.substr(0, at).ends_with(" no") || line.substr(0, at).ends_with(" non")) continue;  // "no es 12"
    const std::string_view rest = trim(line.substr(at + verb.size()));
    if (verb == " at " ? says_time(rest) : says_number(rest)) return rest;
    const bool simpler = verb == " simplifies to " || verb == " reduces to ";
    if (simpler && rest.find(' ') == std::string_view::npos && evaluate(normalise_answer(rest))) return rest;
  }
  return {};
}

// "$x=1$ and $x=2$ are the only solutions" -> "$x=1$ and $x=2$"
std::string_view solutions_in(std::string_view line) {
  line = trim(line);
  if (line.ends_with('.')) line.remove_suffix(1);
  const std::size_t kind = line.rfind(' ');
  if (kind == std::string_view::npos || !is_word(line.substr(kind + 1))) return {};
  std::string_view rest = line.substr(0, kind);
  for (const std::string_view which : {" only", " possible", " required", " desired"}) {
    if (rest.ends_with(which)) rest.remove_suffix(which.size());
  }
  for (const std::string_view verb : {" are the", " is the"}) {
    if (rest.ends_with(verb)) return last_formula(rest.substr(0, rest.size() - verb.size()));
  }
  return {};
}

// The end of "75 cents" or "twenty one" in a line, of which the first word ends at `end`: with the unit or the other
// half of the number that follows it.
std::size_t with_unit(std::string_view line, std::size_t end) {
  const std::size_t next = std::min(line.find_first_not_of(' ', end), line.size());
  std::size_t next_end = next;
  while (next_end < line.size() && is_letter(line[next_end])) ++next_end;
  if (next_end == next) return end;
  const std::string both = normalise_answer(line.substr(0, next_end));
  const bool unit = drop_units(both).size() < both.size();
  return unit || says_number(line.substr(0, next_end)) ? next_end : end;
}

// Words that a conclusion begins with, and the comma behind them. Whether one of them says that all is counted.
bool drop_connectives(std::string_view& line) {
  bool total = false;
  const auto drop = [&](std::string_view word) {
    if (!drop_words(line, word)) return false;
    if (line.starts_with(',') || line.starts_with(':')) line = trim(line.substr(1));
    return true;
  };
  for (const std::string_view word : {"so", "thus", "hence", "therefore", "consequently", "as a result"}) drop(word);
  for (const std::string_view word : {"altogether", "in total", "in all"}) total = drop(word) || total;
  return total;
}

// Before what is had, got or given away.
constexpr std::array<std::string_view, 50> kHaving = {
    " has ",          " have ",      " needs ",    " need ",     " needed ",   " contains ", " contain ",
    " earns ",        " earn ",      " earned ",   " sells ",    " sell ",     " sold ",     " takes ",
    " take ",         " took ",      " costs ",    " cost ",     " holds ",    " weighs ",   " lasts ",
    " leaves ",       " makes ",     " made ",     " spends ",   " spent ",    " pays ",     " paid ",
    " saves ",        " saved ",     " buys ",     " bought ",   " eats ",     " ate ",      " walks ",
    " walked ",       " drives ",    " drove ",    " runs ",     " ran ",      " travels ",  " traveled ",
    " collects ",     " collected ", " receives ", " received ", " produces ", " produced ", " results in ",
    " arrives after "};

// "Alice has 30 marbles" -> "30 marbles": what follows the verb of a sentence without other numbers, denial or
// condition. Empty where there is none.
std::string_view after_verb(std::string_view line) {
  std::size_t verb = std::string_view::npos;  // past it
  std::size_t before = 0;                     // the end of what stands before it
  for (const std::string_view word : kHaving) {
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
  for (const std::string_view whom : {"them", "him", "her", "us", "it"}) {
    if (drop_words(line, whom)) break;
  }
  return line;
}

std::string_view without_exactly(std::string_view line) {
  for (const std::string_view words : {"exactly", "precisely", "a total of", "only"}) drop_words(line, words);
  return line;
}

// The end of the formula or word that the line begins with.
std::size_t first_item_end(std::string_view line) {
  const std::size_t end = formula_end(line, 0);
  return end > 0 ? end : std::min(line.find(' '), line.size());
}

// "There are $12$ such sets" -> "$12$", "In total, she has 12" -> "12": where no other number is in the sentence.
std::string_view value_that_is_there(std::string_view line) {
  const bool total = drop_connectives(line);
  bool led = false;
  for (const std::string_view words : {"there are", "there is", "there exist", "there exists", "we have", "we get",
                                       "we obtain", "i get", "i obtain", "this gives"}) {
    if (!led) led = drop_words(line, words);
  }
  if (line.starts_with(',') || line.starts_with(':')) line = trim(line.substr(1));
  line = without_exactly(line);
  if (!led && !(total && says_number(line.substr(0, first_item_end(line))))) line = without_exactly(after_verb(line));
  while (line.ends_with('.')) line.remove_suffix(1);
  if (line.empty()) return {};
  std::size_t end = first_item_end(line);
  if (!says_number(line.substr(0, end))) return {};
  end = with_unit(line, end);
  const std::string_view value = line.substr(0, end);
  if (line.find_first_of("0123456789$\\", end) != std::string_view::npos) return {};
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
  // "$f(x) = -x$ for all real $x$"
  for (const std::string_view all : {" for all ", " for every ", " for any "}) {
    const std::size_t at = line.find(all);
    if (at < begin && line.find('=', at) == std::string_view::npos) begin = at;
  }
  if (begin == std::string_view::npos) return {};
  line = trim(line.substr(0, begin));
  return line.ends_with(',') ? trim(line.substr(0, line.size() - 1)) : line;
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

// "so the function is odd" -> "odd", "it must be an ellipse (not a circle)" -> "ellipse", "it has no solutions" -> "no
// solutions": one word that answers.
std::string_view word_at_end(std::string_view line) {
  line = trim(line);
  if (const std::size_t remark = line.find(" (not "); remark != std::string_view::npos) line = line.substr(0, remark);
  while (line.ends_with('.') || line.ends_with(')') || line.ends_with('!')) line.remove_suffix(1);
  for (const std::string_view none : {"no solution", "no solutions", "no real solution", "no real solutions"}) {
    if (line.ends_with(none) && line.size() > none.size() && line[line.size() - none.size() - 1] == ' ') {
      return line.substr(line.size() - none.size());
    }
  }
  const std::size_t space = line.rfind(' ');
  if (space == std::string_view::npos) return {};
  const std::string_view word = line.substr(space + 1);
  if (word.size() < 2 || !std::all_of(word.begin(), word.end(), is_letter)) return {};
  std::string_view before = line.substr(0, space);
  for (const std::string_view article : {" a", " an", " the", " therefore", " indeed"}) {
    if (before.ends_with(article)) before.remove_suffix(article.size());
  }
  for (const std::string_view verb : {" is", " must be"}) {
    if (!before.ends_with(verb)) continue;
    before.remove_suffix(verb.size());
    // "7, which is odd": said of something else in the sentence.
    const bool aside = before.ends_with(" which") || before.ends_with(" that");
    return aside || is_denied(before) ? std::string_view{} : word;
  }
  return {};
}

}  // namespace

bool says_number(std::string_view text) {
  const std::string normal = normalise_answer(text);
  for (const std::string& digits : {normal, plain_phrase(normal)}) {
    const std::optional<Value> value = evaluate(digits);
    if (value && value->constant) return true;
  }
  return false;
}

bool drop_words(std::string_view& text, std::string_view words) {
  if (text.size() < words.size()) return false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (to_lower(text[i]) != words[i]) return false;
  }
  if (text.size() > words.size() && is_letter(text[words.size()])) return false;
  text = trim(text.substr(words.size()));
  return true;
}

bool starts_with_word(std::string_view text, std::string_view word) {
  return text.starts_with(word) && (text.size() == word.size() || !is_letter(text[word.size()]));
}

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

std::string value_of_last_line(std::string_view text, std::string_view line) {
  // "The least is $12$ when $x=3$": not what is said of when.
  const std::string_view unconditional = without_condition(line);
  if (!unconditional.empty()) {
    if (std::string value = value_of_sentence(unconditional); value != unconditional) return value;
  }
  for (const std::string_view said : {text, without_remark(line), last_sentence(line)}) {
    if (said.empty()) continue;
    const std::string_view sentence = said == text ? line : said;
    std::string_view value = value_that_answers(sentence);
    if (value.empty()) value = value_that_was_the_answer(sentence);
    if (value.empty()) value = solutions_in(sentence);
    if (value.empty()) value = last_formula(said);
    if (value.empty()) value = value_at_end(sentence);
    if (value.empty()) value = value_that_is_there(sentence);
    if (value.empty()) value = labelled_value(sentence);
    if (!value.empty()) return std::string(value);
  }
  return std::string(word_at_end(line));
}

}  // namespace dts
