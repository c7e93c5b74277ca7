#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "answer/canonical.h"
#include "answer/notation/latex.h"
#include "answer/notation/units.h"
#include "answer/reading.h"
#include "answer/value/number.h"
#include "dts/answer.h"
#include "text/ascii.h"

namespace dts {
namespace {

using namespace text;

// Longer text is no answer that could match another by more than its words.
constexpr std::size_t kMaxAnswer = 4096;  // bytes
// Each pass strips a layer; none was seen to need more than four.
constexpr int kMaxPasses = 16;

// Letters of a formula, a bit each.
struct Cases {
  std::uint32_t lower = 0;
  std::uint32_t upper = 0;
  std::uint32_t both() const { return lower & upper; }
};

// Of what is outside commands. Nothing of prose, where a capital means nothing: three letters in a row and more are
// words, unless they are the name of a function or end in one.
Cases cases_of_letters(std::string_view text) {
  constexpr std::size_t kWord = 3;
  static constexpr std::array<std::string_view, 14> kNames = {
      "sqrt", "sin", "cos", "tan", "cot", "sec", "csc", "log", "exp", "ceil", "floor", "infinity", "deg", "binom"};
  if (text.find("\\text") != std::string_view::npos || text.find("\\math") != std::string_view::npos) return {};
  Cases cases;
  for (std::size_t at = 0; at < text.size();) {
    const bool command = text[at] == '\\';
    std::size_t end = at + (command ? 1 : 0);
    while (end < text.size() && is_letter(text[end])) ++end;
    std::string_view run = command ? std::string_view() : text.substr(at, end - at);
    at = std::max(end, at + 1);
    for (const std::string_view name : kNames) {
      if (run.ends_with(name)) run.remove_suffix(name.size());
    }
    if (run.size() >= kWord) return {};
    for (const char c : run)
      (c == to_lower(c) ? cases.lower : cases.upper) |= 1U << static_cast<unsigned>(to_lower(c) - 'a');
  }
  return cases;
}

// Case folded but for the letters of `both_cases`, runs of white space as one space, none at the ends.
std::string fold(std::string_view text, std::uint32_t both_cases = 0) {
  text = trim(text);
  std::string out(text.size(), '\0');
  std::size_t size = 0;
  bool in_command = false;  // the names of LaTeX commands keep their case: \Delta is not \delta
  for (const char c : text) {
    in_command = c == '\\' || (in_command && is_letter(c));
    const bool kept =
        in_command || (is_letter(c) && (both_cases >> static_cast<unsigned>(to_lower(c) - 'a') & 1U) != 0);
    if (!is_space(c)) {
      out[size++] = kept ? c : to_lower(c);
    } else if (out[size - 1] != ' ') {
      out[size++] = ' ';
    }
  }
  out.resize(size);
  return out;
}

bool is_tight(char c) { return std::string_view("=+-*/^_<>()[]{}|").find(c) != std::string_view::npos; }

// "3 or -3": the minus belongs to the number, not to the word.
bool ends_in_joining_word(std::string_view text) {
  for (const std::string_view word : {" and", " or", " is", " except"}) {
    if (text.ends_with(word)) return true;
  }
  return false;
}

// "sqrt(2) and 1": the word stays apart from the bracket.
bool begins_with_joining_word(std::string_view text) {
  for (const std::string_view word : {"and ", "or ", "for ", "where "}) {
    if (text.starts_with(word)) return true;
  }
  return false;
}

// The ! of 5! =120 stays apart: != is another sign.
bool is_factorial_before(std::string_view out, char after) {
  return after == '=' && out.size() > 1 && out.back() == '!' && out[out.size() - 2] != ' ';
}

// No space beside operators and brackets, nor before a comma.
std::string tighten(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_space(text[i])) {
      const char after = i + 1 < text.size() ? text[i + 1] : ' ';
      if (out.empty() || after == ',' || is_space(after)) continue;
      if (is_tight(out.back()) && !begins_with_joining_word(text.substr(i + 1))) continue;
      if (is_tight(after) && !ends_in_joining_word(out) && !is_factorial_before(out, after)) continue;
      out += ' ';
    } else {
      out += text[i];
    }
  }
  return out;
}

bool drop_prefix(std::string_view& text, std::string_view prefix) {
  if (text.substr(0, prefix.size()) != prefix) return false;
  text.remove_prefix(prefix.size());
  return true;
}

bool drop_suffix(std::string_view& text, std::string_view suffix) {
  if (text.size() < suffix.size() || text.substr(text.size() - suffix.size()) != suffix) return false;
  text.remove_suffix(suffix.size());
  return true;
}

// "$5", "usd 5", "rs. 5"
bool drop_currency(std::string_view& text, Reading& reading) {
  struct Currency {
    std::string_view code, unit;
  };
  static constexpr std::array<Currency, 9> kCodes = {{{"us$", "dollar"},
                                                      {"us", "dollar"},
                                                      {"usd", "dollar"},
                                                      {"eur", "euro"},
                                                      {"gbp", "pound sterling"},
                                                      {"inr", "rupee"},
                                                      {"rs.", "rupee"},
                                                      {"rs", "rupee"},
                                                      {"rupees", "rupee"}}};
  if (drop_prefix(text, "$") || drop_suffix(text, "$")) return true;
  for (const Currency& currency : kCodes) {
    std::string_view amount = text;
    if (!drop_prefix(amount, currency.code) || !is_number(trim(amount))) continue;
    if (reading.unit.empty()) reading.unit = currency.unit;
    text = trim(amount);
    return true;
  }
  return false;
}

bool is_percent(std::string_view unit) { return unit == "percent" || unit == "per cent"; }

bool drop_quotes(std::string_view& text) {
  struct Pair {
    std::string_view open, close;
  };
  static constexpr std::array<Pair, 8> kPairs = {{{"**", "**"},
                                                  {"__", "__"},
                                                  {"<b>", "</b>"},
                                                  {"*", "*"},
                                                  {"`", "`"},
                                                  {"\"", "\""},
                                                  {"'", "'"},
                                                  {"\u201c", "\u201d"}}};
  for (const Pair& pair : kPairs) {
    if (text.size() < pair.open.size() + pair.close.size()) continue;
    std::string_view inner = text;
    if (drop_prefix(inner, pair.open) && drop_suffix(inner, pair.close)) {
      text = inner;
      return true;
    }
  }
  return false;
}

// (A), [A] and A) all mean choice A.
bool drop_choice_brackets(std::string_view& text) {
  std::string_view inner = text;
  if (!drop_prefix(inner, "(")) drop_prefix(inner, "[");
  if (!drop_suffix(inner, ")") && !drop_suffix(inner, "]")) return false;
  if (inner.size() != 1 || !is_letter(inner.front())) return false;
  text = inner;
  return true;
}

// "x=5" answers 5, and "x\in[0, 1]" the interval; "x=y=5" is left alone.
bool drop_variable(std::string_view& text, Reading& reading) {
  const auto drop = [&](std::string_view rest) {
    if (reading.variable.empty()) reading.variable = text.substr(0, 1);
    text = rest;
    return true;
  };
  if (text.size() > 4 && is_letter(text[0])) {
    std::string_view rest = trim(text.substr(1));
    if (drop_prefix(rest, "\\in") && !rest.empty() && !is_letter(rest.front())) return drop(rest);
  }
  const bool assigned = text.size() > 2 && is_letter(text[0]) && text[1] == '=';
  if (!assigned || text.find_first_of("=<>", 2) != std::string_view::npos) return false;
  // x=1, y=2 is a list.
  return drop(text.substr(2));
}

// "the number of ways is 12": a sentence that ends in a number or something in brackets says that.
bool drop_sentence(std::string_view& text) {
  constexpr std::size_t kMaxSentence = 120;  // bytes before the value
  static constexpr std::array<std::string_view, 3> kVerbs = {" is ", " are ", " equals "};
  std::size_t end = std::string_view::npos;
  for (const std::string_view verb : kVerbs) {
    const std::size_t at = text.substr(0, kMaxSentence).rfind(verb);
    if (at != std::string_view::npos && (end == std::string_view::npos || at + verb.size() > end)) {
      end = at + verb.size();
    }
  }
  for (const std::string_view word : {"thus ", "hence ", "therefore ", "so "}) {
    if (end == std::string_view::npos && text.starts_with(word)) end = word.size();
  }
  if (end == std::string_view::npos || end >= text.size()) return false;
  std::string_view rest = text.substr(end);
  if (!is_digit(rest.front()) && std::string_view("-(").find(rest.front()) == std::string_view::npos) return false;
  // Words alone, and none that says the opposite or sets a condition.
  std::string_view word;
  for (std::size_t i = 0; i < end; ++i) {
    if (is_letter(text[i])) {
      word = word.empty() ? text.substr(i, 1) : std::string_view(word.data(), word.size() + 1);
      continue;
    }
    for (const std::string_view against :
         {"not", "no", "never", "cannot", "if", "when", "unless", "than", "least", "most"}) {
      if (word == against) return false;
    }
    word = {};
    if (text[i] != ' ' && text[i] != ',') return false;
  }
  text = rest;
  return true;
}

// "final answer: 5", as some write it inside the box; "=> 5" and "only 5".
bool drop_lead_in(std::string_view& text) {
  std::string_view rest = text;
  for (const std::string_view arrow :
       {"=>", "->", "\\to ", "\\implies", "\\Rightarrow", "\\rightarrow", "only ", "exactly ", "it's ", "that's "}) {
    if (!drop_prefix(rest, arrow) || trim(rest).empty()) continue;
    text = trim(rest);
    return true;
  }
  if (!drop_prefix(rest, "the final answer") && !drop_prefix(rest, "final answer") &&
      !drop_prefix(rest, "the answer") && !drop_prefix(rest, "answer")) {
    return false;
  }
  rest = trim(rest);
  if (!drop_prefix(rest, ":") && !drop_prefix(rest, "=") && !drop_prefix(rest, "is ")) return false;
  rest = trim(rest);
  if (rest.empty()) return false;
  text = rest;
  return true;
}

// "+5", and "=5", the end of a computation.
bool drop_sign(std::string_view& text) {
  if (text.size() < 2 || (text[0] != '+' && text[0] != '=') || (!is_digit(text[1]) && text[1] != '.')) return false;
  text.remove_prefix(1);
  return true;
}

bool drop_end_mark(std::string_view& text, Reading& reading) {
  if (text.empty() || std::string_view(".,;:%").find(text.back()) == std::string_view::npos) return false;
  if (text.size() > 3 && text.ends_with("...") && is_digit(text[text.size() - 4])) return false;
  if (text.back() == '%') reading.percent = true;
  text.remove_suffix(1);
  return true;
}

bool drop_units_after(std::string_view& text, Reading& reading) {
  const std::string_view number = drop_units(text);
  if (number.size() == text.size()) return false;
  const std::string_view unit = trim(text.substr(number.size()));
  if (is_percent(unit)) {
    reading.percent = true;
  } else if (reading.unit.empty()) {
    reading.unit = unit;
  }
  text = number;
  return true;
}

// "2(mod 7)" -> "2 mod 7", as \pmod has it.
std::string plain_modulus(std::string text) {
  constexpr std::string_view kOpen = "(mod ";
  const std::size_t open = text.rfind('(');
  if (open == std::string::npos || !text.ends_with(')') || text.compare(open, kOpen.size(), kOpen) != 0) return text;
  text.pop_back();
  return text.replace(open, kOpen.size(), " mod ");
}

// "1 000 000", "1'000'000": thousands set apart by spaces or as in Switzerland, where nothing else is there.
std::string join_thousands(std::string text) {
  std::size_t digits = 0;  // of the group
  bool first = true;
  char separator = ' ';
  for (const char c : text) {
    if (is_digit(c)) {
      ++digits;
    } else if ((c == ' ' || c == '\'') && (first || c == separator) && digits > 0 &&
               (first ? digits <= 3 : digits == 3)) {
      digits = 0;
      first = false;
      separator = c;
    } else {
      return text;
    }
  }
  if (first || digits != 3 || text.front() == '0') return text;
  std::erase(text, separator);
  return text;
}

// Takes off, layer by layer, what surrounds an answer and is no part of it.
std::string_view peel(std::string_view text, Reading& reading) {
  for (;;) {
    text = trim(text);
    if (drop_end_mark(text, reading) || drop_currency(text, reading) || drop_quotes(text) ||
        drop_choice_brackets(text) || drop_lead_in(text) || drop_sentence(text) || drop_variable(text, reading) ||
        drop_sign(text) || drop_units_after(text, reading)) {
      continue;
    }
    return text == "-0" ? text.substr(1) : text;
  }
}

Reading read_with_cases(std::string_view answer, std::uint32_t both_cases) {
  Reading reading;
  std::string text = fold(answer, both_cases);
  for (int pass = 0; pass < kMaxPasses && text.size() <= kMaxAnswer; ++pass) {
    PlainAnswer plain = latex_to_plain(text);
    if (std::string unit = fold(plain.unit); is_percent(unit)) {
      reading.percent = true;
    } else if (reading.unit.empty()) {
      reading.unit = std::move(unit);
    }
    std::string next = canonical_values(
        peel(rewrite_numbers(plain_modulus(join_thousands(tighten(fold(plain.text, both_cases))))), reading));
    if (next == text) {
      reading.core = std::move(text);
      return reading;
    }
    text = std::move(next);
  }
  // What never settles is left as it was written: so read again it is the same.
  return {fold(answer, both_cases), {}, {}, false};
}

}  // namespace

Reading read_answer(std::string_view answer) {
  // The R and r of R^2-r^2 are two letters. Elsewhere a capital says nothing.
  if (const std::uint32_t both = answer.size() <= kMaxAnswer ? cases_of_letters(answer).both() : 0; both != 0) {
    Reading reading = read_with_cases(answer, both);
    const Cases left = cases_of_letters(reading.core);
    if (left.upper != 0 && (left.upper & ~left.lower) == 0) return reading;  // and would be read so again
  }
  return read_with_cases(answer, 0);
}

std::string normalise_answer(std::string_view answer) { return read_answer(answer).core; }

}  // namespace dts
