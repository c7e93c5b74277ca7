#include "eval/grade/grade.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "answer/extract.h"
#include "answer/letter/choice_letter.h"
#include "answer/notation/phrases.h"
#include "answer/notation/units.h"
#include "answer/notation/wide_forms.h"
#include "answer/reading.h"
#include "answer/value/expression.h"
#include "dts/answer.h"
#include "eval/grade/livebench.h"
#include "eval/grade/livebench_text.h"
#include "text/ascii.h"
#include "text/utf8.h"

namespace dts::eval {
namespace {

using namespace text;

// What is read: what follows the thinking, and where a finished trajectory never closed it, all of it.
std::string_view answering_part(std::string_view trajectory, bool opens_thinking) {
  const SplitText split = split_thinking(trajectory, opens_thinking);
  if (!split.thinking_open) return split.answer;
  return trajectory.find("</think>") == std::string_view::npos ? split.thinking : trajectory;
}

bool is_number_text(std::string_view normalised) {
  const std::optional<Value> value = evaluate(normalised);
  return value ? value->constant
               : !normalised.empty() && normalised.find_first_not_of("-.0123456789") == std::string_view::npos;
}

// Where one of `words` stands as a word of its own, at or after `from`; npos when none does.
template <std::size_t n>
std::size_t find_word(std::string_view text, const std::array<std::string_view, n>& words, std::size_t from = 0) {
  for (std::size_t at = from; at < text.size(); ++at) {
    if (!is_letter(text[at]) || (at > 0 && (is_letter(text[at - 1]) || text[at - 1] == '\\'))) continue;
    std::size_t end = at;
    while (end < text.size() && is_letter(text[end])) ++end;
    if (std::find(words.begin(), words.end(), lower_case(text.substr(at, end - at))) != words.end()) return at;
    at = end;
  }
  return std::string_view::npos;
}

// The equation that counts: what follows the last "we get", without "where p=3".
std::string_view last_equation(std::string_view text) {
  static constexpr std::array<std::string_view, 14> kResults = {"get",   "gives", "give",   "so",       "thus",
                                                                "hence", "is",    "are",    "obtain",   "yields",
                                                                "have",  "then",  "equals", "therefore"};
  static constexpr std::array<std::string_view, 7> kConditions = {"where", "with",  "when",   "if",
                                                                  "for",   "since", "because"};
  std::size_t last = text.rfind('=');
  for (std::size_t at = find_word(text, kResults); at < last; at = find_word(text, kResults)) {
    while (at < text.size() && is_letter(text[at])) ++at;
    text.remove_prefix(at);
    last -= at;
  }
  const std::size_t equals = std::min(text.find('='), text.size());
  std::size_t condition = find_word(text, kConditions, equals);
  if (condition == std::string_view::npos) return text;
  // The command that sets the word upright belongs to it.
  const std::size_t command = text.substr(0, condition).rfind("\\text");
  if (command != std::string_view::npos && text.find('}', command) > condition) condition = command;
  text = trim(text.substr(0, condition));
  while (!text.empty() && (text.back() == ',' || text.back() == '(' || is_space(text.back()))) text.remove_suffix(1);
  return text;
}

// Part of a chain of equations: one value, not the end of one equation and the beginning of another.
bool is_link(std::string_view member) {
  if (member.find("quad") != std::string_view::npos) return false;
  const std::string normal = normalise_answer(member);
  for (std::size_t at = 0; at + 1 < normal.size(); ++at) {
    if (normal[at] == ',' || (normal[at] == ' ' && is_letter(normal[at + 1]))) return false;
  }
  return evaluate(normal).has_value();
}

// "m+n=33", "m+n=3+30=33" and "33=m+n" -> "33": the value, where only a value can be right. Nothing for inequalities
// and for several equations.
std::optional<std::string_view> equation_value(std::string_view text) {
  if (text.find('=') == std::string_view::npos) return text;
  text = last_equation(text);
  constexpr std::size_t kMaxMembers = 64;
  std::string_view first;
  std::string_view member;
  std::size_t members = 0;
  for (std::size_t at = 0; at <= text.size(); ++members) {
    const std::size_t end = std::min(text.find('=', at), text.size());
    const bool related =
        end < text.size() && ((end > 0 && std::string_view("<>!").find(text[end - 1]) != std::string_view::npos) ||
                              text.substr(end).starts_with("=>"));
    if (related || members == kMaxMembers || (members > 1 && !is_link(member))) return std::nullopt;
    member = text.substr(at, end - at);
    if (members == 0) first = member;
    at = end + 1;
  }
  const bool of_symbols = std::none_of(member.begin(), member.end(), is_digit);
  return of_symbols && is_number_text(normalise_answer(first)) ? first : member;
}

// "33 mod 1000" -> "33": a remainder. Of "1033 mod 1000" the remainder is not said.
std::string_view remainder(std::string_view normal) {
  const std::size_t mod = normal.find(" mod ");
  if (mod == std::string_view::npos) return normal;
  const std::string_view value = normal.substr(0, mod);
  const std::string_view modulus = normal.substr(mod + 5);
  const auto all_digits = [](std::string_view part) {
    return !part.empty() && std::all_of(part.begin(), part.end(), is_digit);
  };
  const bool less = value.size() != modulus.size() ? value.size() < modulus.size() : value < modulus;
  return all_digits(value) && all_digits(modulus) && less ? value : normal;
}

// "1 million" and "twelve" as digits, with or without what is counted; the text as it is when it has no such words.
std::string in_digits(std::string_view normal) {
  std::string words(normal);
  if (words.starts_with("a ")) words.replace(0, 1, "1");  // "a dozen"
  const std::size_t first = words.find(' ');
  const std::size_t second = first == std::string::npos ? first : words.find(' ', first + 1);
  for (const std::size_t end : {std::string::npos, second, first}) {
    const std::string_view head = std::string_view(words).substr(0, end);
    const std::string_view counted = end == std::string::npos ? "" : std::string_view(words).substr(end);
    std::string digits = plain_phrase(head);
    const bool read = digits != head && is_number_text(digits);
    if (read && !changes_meaning(counted) && counted.find_first_of("0123456789") == std::string_view::npos) {
      return digits;
    }
  }
  return std::string(normal);
}

// The value that an answer comes to, in normal form; the normal form of all of it when that is no number.
std::string value_of(std::string_view text) {
  const std::optional<std::string_view> value = equation_value(text);
  if (!value) return normalise_answer(text);
  std::string normal = normalise_answer(*value);
  if (is_number_text(normal)) return normal;
  return in_digits(remainder(normal));
}

// The last run of digits with its sign, separators and decimals. A minus after a digit is a hyphen.
std::string_view last_number(std::string_view text) {
  std::size_t end = text.size();
  while (end > 0 && !is_digit(text[end - 1])) --end;
  std::size_t begin = end;
  while (begin > 0 && (is_digit(text[begin - 1]) || text[begin - 1] == '.' || text[begin - 1] == ',')) --begin;
  while (begin < end && text[begin] == ',') ++begin;
  if (begin > 0 && text[begin - 1] == '-' && (begin == 1 || !is_digit(text[begin - 2]))) --begin;
  return text.substr(begin, end - begin);
}

// Without what is said about an amount: "5 apples after 2 days", "5 apples (2 red)" -> "5 apples".
std::string_view amount(std::string_view normal) {
  static constexpr std::array<std::string_view, 16> kCircumstances = {
      "after", "before", "because", "since", "when", "if",     "while", "so",
      "but",   "in",     "for",     "at",    "from", "during", "with",  "on"};
  const std::size_t number_end = normal.find_first_not_of("-.0123456789");
  if (number_end == 0 || number_end == std::string_view::npos) return normal;
  std::size_t end = find_word(normal, kCircumstances, number_end);
  // "1 in 4", "3 for 5": of the number itself, not of what is counted.
  if (end != std::string_view::npos && trim(normal.substr(number_end, end - number_end)).empty() &&
      normal.substr(end).size() > 3 && !is_letter(normal[end + 3])) {
    end = std::string_view::npos;
  }
  end = std::min(end, normal.find('('));
  // A comma that a number follows goes on counting: "2 hours, 40 minutes".
  for (std::size_t comma = normal.find(','); comma < end; comma = normal.find(',', comma + 1)) {
    const std::string_view next = trim(normal.substr(comma + 1));
    if (!next.empty() && is_letter(next.front())) end = comma;
  }
  return trim(normal.substr(0, end));
}

// The one number of an answer that has words as well; empty when there are several, or none, or the words make it
// another.
std::string only_number(std::string_view normal) {
  static constexpr std::array<std::string_view, 19> kChanging = {
      "million", "billion", "trillion", "thousand", "hundred", "dozen", "score",  "or",      "to",      "and",
      "mod",     "except",  "base",     "half",     "halves",  "third", "thirds", "quarter", "quarters"};
  normal = amount(normal);
  if (normal.find_first_of("<>=") != std::string_view::npos || find_word(normal, kChanging) != std::string_view::npos) {
    return {};
  }
  const std::string_view first = normal.substr(0, normal.find(' '));
  const std::string_view number = is_number_text(first) ? first : last_number(normal);
  const auto at = static_cast<std::size_t>(number.data() - normal.data());
  const auto has_digits = [](std::string_view part) { return std::any_of(part.begin(), part.end(), is_digit); };
  if (number.empty() || has_digits(normal.substr(0, at)) || has_digits(normal.substr(at + number.size()))) return {};
  return normalise_answer(number);
}

std::string number_answer(std::string_view trajectory, bool opens_thinking, bool from_anywhere) {
  const std::string text = narrow_forms(answering_part(trajectory, opens_thinking));
  if (const std::string_view box = last_boxed(text); !box.empty()) {
    std::string boxed = value_of(box);
    if (!from_anywhere || is_number_text(boxed) || !equation_value(box)) return boxed;
    std::string number = only_number(boxed);
    return number.empty() ? boxed : number;
  }
  const LastLine last = last_line_answer(text);
  std::string line = value_of(last.text);
  if (is_number_text(line)) return line;
  if (!from_anywhere) return {};
  const std::size_t mark = text.rfind("####");
  if (mark != std::string_view::npos) {
    const std::string_view rest = std::string_view(text).substr(mark + 4);
    std::string marked = value_of(rest.substr(0, rest.find('\n')));
    if (is_number_text(marked)) return marked;
  }
  // Of a stated answer, what it states or nothing: what else the text has is another number.
  const bool stated = last.is_stated && std::any_of(line.begin(), line.end(), is_digit);
  if (stated) return line.starts_with("not ") ? std::string() : only_number(line);
  return normalise_answer(last_number(text));
}

// "$ and $x=" between two boxes: nothing but what joins them, and a name.
bool joins_boxes(std::string_view gap) {
  constexpr std::size_t kLongest = 40;  // bytes
  if (gap.size() > kLongest) return false;
  bool joined = false;
  while (!gap.empty()) {
    const char c = gap.front();
    std::size_t size = is_space(c) || c == '$' || c == '{' || c == '}' ? 1 : 0;
    for (const std::string_view word : {",", ";", "and", "or"}) {
      if (!gap.starts_with(word)) continue;
      joined = true;
      size = word.size();
    }
    for (const std::string_view dressing : {"\\(", "\\)", "\\,", "\\;", "\\quad", "\\qquad", "\\text"}) {
      if (gap.starts_with(dressing)) size = dressing.size();
    }
    if (size == 0 && is_letter(c)) {  // x= or x_1=
      const std::size_t equals = gap.find('=');
      const bool named = equals == 1 || (equals != std::string_view::npos && equals < 6 && gap[1] == '_');
      size = named ? equals + 1 : trim(gap.substr(1)).starts_with('=') ? gap.find('=') + 1 : 0;
    }
    if (size == 0) return false;
    gap.remove_prefix(size);
  }
  return joined;
}

// The last box; of several that are joined into one answer, \boxed{1} and \boxed{2}, all of them as a list.
std::string last_boxes(std::string_view text) {
  constexpr int kMostBoxes = 8;
  std::string_view box = last_boxed(text);
  std::string all(box);
  for (int i = 1; i < kMostBoxes && !box.empty(); ++i) {
    const auto begin = static_cast<std::size_t>(box.data() - text.data());
    text = text.substr(0, text.substr(0, begin).rfind('\\'));
    const std::string_view before = last_boxed(text);
    if (before.empty() || before == box) break;
    const auto end = static_cast<std::size_t>(before.data() - text.data()) + before.size() + 1;
    if (end > text.size() || !joins_boxes(text.substr(end))) break;
    all.insert(0, ", ").insert(0, before);
    box = before;
  }
  return all;
}

// As it is written.
std::string math_answer(std::string_view trajectory, bool opens_thinking) {
  const std::string_view text = answering_part(trajectory, opens_thinking);
  std::string boxes = last_boxes(text);
  return boxes.empty() ? last_line_answer(text).text : boxes;
}

std::string letter_answer(const Question& question, std::string_view trajectory, bool opens_thinking) {
  const int choices = question.choices.empty() ? 4 : static_cast<int>(question.choices.size());
  const char letter = choice_letter(answering_part(trajectory, opens_thinking), choices);
  return letter == '\0' ? std::string() : std::string(1, letter);
}

}  // namespace

std::string answer_for_vote(const DatasetInfo& dataset, const Question& question, std::string_view trajectory,
                            bool opens_thinking) {
  // What a model says may be anything; what is kept of it is text.
  if (!is_valid_utf8(trajectory)) return answer_for_vote(dataset, question, valid_utf8(trajectory), opens_thinking);
  switch (dataset.answers) {
    case AnswerKind::kInteger:
      return number_answer(trajectory, opens_thinking, false);
    case AnswerKind::kNumber:
      return number_answer(trajectory, opens_thinking, true);
    case AnswerKind::kMath:
      return written(read_answer(math_answer(trajectory, opens_thinking)));
    case AnswerKind::kLetter:
      return letter_answer(question, trajectory, opens_thinking);
    case AnswerKind::kLiveBench:
      return livebench_answer(question, without_thinking(trajectory, opens_thinking));
  }
  return {};
}

SameAnswer same_answers(const DatasetInfo& dataset) {
  return dataset.answers == AnswerKind::kMath ? SameAnswer(equivalent) : nullptr;
}

Grade grade(const DatasetInfo& dataset, const Question& question, std::string_view trajectory, bool opens_thinking) {
  if (!is_valid_utf8(trajectory)) return grade(dataset, question, valid_utf8(trajectory), opens_thinking);
  Grade result;
  if (dataset.answers == AnswerKind::kLiveBench) {
    const std::string text = without_thinking(trajectory, opens_thinking);
    result.answer = livebench_answer(question, text);
    result.score = livebench_score(question, text);
    result.extracted = !result.answer.empty() || result.score > 0;
    result.reason = "LiveBench's scorer of " + question.task;
    return result;
  }
  result.answer = answer_for_vote(dataset, question, trajectory, opens_thinking);
  result.extracted = !result.answer.empty();
  if (!result.extracted) {
    result.reason = "no answer was found";
    return result;
  }
  // Integers, numbers and letters are in one form: equal strings are equal values. For the rest it matters how the
  // answer was written, since the normal form has no percent sign.
  const bool right = dataset.answers == AnswerKind::kMath
                         ? equivalent(math_answer(trajectory, opens_thinking), question.answer)
                         : result.answer == question.answer;
  result.score = right ? 1 : 0;
  const bool same_text = result.answer == question.answer || result.answer == normalise_answer(question.answer);
  result.reason = !right ? "a different answer" : same_text ? "the same in normal form" : "equivalent";
  return result;
}

}  // namespace dts::eval
