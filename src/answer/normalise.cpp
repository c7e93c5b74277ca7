#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "answer/canonical.h"
#include "answer/latex.h"
#include "answer/number.h"
#include "answer/reading.h"
#include "answer/units.h"
#include "dts/answer.h"
#include "text/ascii.h"

namespace dts {
namespace {

using namespace text;

// Longer text is no answer that could match another by more than its words.
constexpr std::size_t kMaxAnswer = 4096;  // bytes
// Each pass strips a layer; none was seen to need more than four.
constexpr int kMaxPasses = 16;

// Case folded, runs of white space as one space, none at the ends.
std::string fold(std::string_view text) {
  text = trim(text);
  std::string out(text.size(), '\0');
  std::size_t size = 0;
  bool in_command = false;  // the names of LaTeX commands keep their case: \Delta is not \delta
  for (const char c : text) {
    in_command = c == '\\' || (in_command && is_letter(c));
    if (!is_space(c)) {
      out[size++] = in_command ? c : to_lower(c);
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

// No space beside operators and brackets, nor before a comma.
std::string tighten(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_space(text[i])) {
      const char after = i + 1 < text.size() ? text[i + 1] : ' ';
      if (out.empty() || is_tight(out.back()) || after == ',' || is_space(after)) continue;
      if (is_tight(after) && !ends_in_joining_word(out)) continue;
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

bool drop_currency(std::string_view& text) { return drop_prefix(text, "$") || drop_suffix(text, "$"); }

bool drop_quotes(std::string_view& text) {
  struct Pair {
    std::string_view open, close;
  };
  static constexpr std::array<Pair, 6> kPairs = {
      {{"**", "**"}, {"*", "*"}, {"`", "`"}, {"\"", "\""}, {"'", "'"}, {"\u201c", "\u201d"}}};
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

// "final answer: 5", as some write it inside the box.
bool drop_lead_in(std::string_view& text) {
  std::string_view rest = text;
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

bool drop_plus(std::string_view& text) {
  if (text.size() < 2 || text[0] != '+' || (!is_digit(text[1]) && text[1] != '.')) return false;
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
  if (unit == "percent") {
    reading.percent = true;
  } else if (reading.unit.empty()) {
    reading.unit = unit;
  }
  text = number;
  return true;
}

// Takes off, layer by layer, what surrounds an answer and is no part of it.
// "2(mod 7)" -> "2 mod 7", as \pmod has it.
std::string plain_modulus(std::string text) {
  constexpr std::string_view kOpen = "(mod ";
  const std::size_t open = text.rfind('(');
  if (open == std::string::npos || !text.ends_with(')') || text.compare(open, kOpen.size(), kOpen) != 0) return text;
  text.pop_back();
  return text.replace(open, kOpen.size(), " mod ");
}

// "1 000 000": thousands set apart by spaces, where nothing else is there.
std::string join_thousands(std::string text) {
  std::size_t digits = 0;  // of the group
  bool first = true;
  for (const char c : text) {
    if (is_digit(c)) {
      ++digits;
    } else if (c == ' ' && digits > 0 && (first ? digits <= 3 : digits == 3)) {
      digits = 0;
      first = false;
    } else {
      return text;
    }
  }
  if (first || digits != 3 || text.front() == '0') return text;
  std::erase(text, ' ');
  return text;
}

std::string_view peel(std::string_view text, Reading& reading) {
  for (;;) {
    text = trim(text);
    if (drop_end_mark(text, reading) || drop_currency(text) || drop_quotes(text) || drop_choice_brackets(text) ||
        drop_lead_in(text) || drop_variable(text, reading) || drop_plus(text) || drop_units_after(text, reading)) {
      continue;
    }
    return text == "-0" ? text.substr(1) : text;
  }
}

}  // namespace

Reading read_answer(std::string_view answer) {
  Reading reading;
  std::string text = fold(answer);
  for (int pass = 0; pass < kMaxPasses && text.size() <= kMaxAnswer; ++pass) {
    PlainAnswer plain = latex_to_plain(text);
    if (reading.unit.empty()) reading.unit = fold(plain.unit);
    std::string next =
        canonical_values(peel(rewrite_numbers(plain_modulus(join_thousands(tighten(fold(plain.text))))), reading));
    if (next == text) break;
    text = std::move(next);
  }
  reading.core = std::move(text);
  return reading;
}

std::string normalise_answer(std::string_view answer) { return read_answer(answer).core; }

}  // namespace dts
