// Scripts, fractions, roots and functions.
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "answer/notation/latex_reader.h"
#include "answer/notation/latex_symbols.h"
#include "answer/value/number.h"

namespace dts::latex {

using namespace text;

bool LatexReader::is_factorial_of_equation() const {
  if (!after_value()) return false;
  std::size_t next = at_ + 1;
  while (next < text_.size() && is_space(text_[next])) ++next;
  return next < text_.size() && text_[next] == '=' && (next > at_ + 1 || is_digit(out_.back()));
}

bool LatexReader::read_combination(int depth) {
  constexpr std::size_t kLongest = 12;  // bytes
  if (!out_.empty() && (is_letter(out_.back()) || is_digit(out_.back()) ||
                        std::string_view(")]}|!\x01").find(out_.back()) != std::string_view::npos)) {
    return false;
  }
  std::size_t end = at_ + 2;  // past the script
  if (text_.substr(at_ + 1, 1) == "{") {
    const std::size_t close = text_.substr(at_, kLongest).find('}');
    if (close == std::string_view::npos || text_.substr(at_ + 2, close - 2).find('{') != std::string_view::npos) {
      return false;
    }
    end = at_ + close + 1;
  }
  const std::string_view rest = text_.substr(std::min(end, text_.size()));
  if (!rest.starts_with("c_") && !rest.starts_with("C_")) return false;
  ++at_;
  out_ += "binom(";
  read_up_to(end, [&] { read_argument(depth); });
  out_ += ',';
  at_ = end + 2;
  read_argument(depth);
  out_ += ')';
  return true;
}

bool LatexReader::read_slanted_fraction() {
  if (text_[at_] != '^' || (!out_.empty() && std::string_view(" =(-+").find(out_.back()) == std::string_view::npos)) {
    return false;
  }
  std::size_t end = at_;
  const auto read_half = [&](char script) {
    if (text_.substr(end, 1) != std::string_view(&script, 1)) return std::string_view{};
    ++end;
    const bool braces = text_.substr(end, 1) == "{";
    if (braces) ++end;
    const std::size_t begin = end;
    while (end < text_.size() && is_digit(text_[end])) ++end;
    const std::string_view digits = text_.substr(begin, end - begin);
    if (braces && text_.substr(end++, 1) != "}") return std::string_view{};
    return digits;
  };
  const std::string_view above = read_half('^');
  if (above.empty() || text_.substr(std::min(end, text_.size()), 1) != "/") return false;
  ++end;
  const std::string_view below = read_half('_');
  if (below.empty()) return false;
  out_ += above;
  out_ += '/';
  out_ += below;
  at_ = end;
  return true;
}

bool LatexReader::is_power() const {
  if (!starts("**") || out_.empty() || at_ + 2 >= text_.size()) return false;
  const char before = out_.back();
  const char after = text_[at_ + 2];
  return (is_letter(before) || is_digit(before) || before == ')') &&
         (is_letter(after) || is_digit(after) || after == '(' || after == '-') &&
         text_.find("**", at_ + 2) == std::string_view::npos;
}

void LatexReader::read_radical(std::string_view name, int depth) {
  if (!out_.empty() && is_letter(out_.back())) out_ += ' ';
  out_ += name;
  skip_spaces();
  if (at_ < text_.size() && (text_[at_] == '(' || text_[at_] == '[')) return;
  out_ += '(';
  if (at_ < text_.size() && is_digit(text_[at_])) {
    while (at_ < text_.size() && is_digit(text_[at_])) out_ += text_[at_++];
  } else {
    read_argument(depth);
  }
  out_ += ')';
}

bool LatexReader::after_point() const {
  std::size_t begin = out_.size();
  while (begin > 0 && is_digit(out_[begin - 1])) --begin;
  return begin > 0 && out_[begin - 1] == '.';
}

void LatexReader::read_to_last_dot(int depth) {
  constexpr std::string_view kDot = "\\dot";
  std::size_t end = at_;
  while (end < text_.size() && is_digit(text_[end])) ++end;
  if (!text_.substr(end).starts_with(kDot)) return;
  out_ += text_.substr(at_, end - at_);
  at_ = end + kDot.size();
  read_argument(depth);
}

void LatexReader::read_binomial(int depth) {
  if (!out_.empty() && is_letter(out_.back())) out_ += ' ';
  out_ += "binom(";
  read_argument(depth);
  out_ += ',';
  read_argument(depth);
  out_ += ')';
}

void LatexReader::read_fraction(int depth) {
  if (!out_.empty() && is_digit(out_.back())) out_ += ' ';  // a mixed number: 1 1/2
  if (!out_.empty() && (is_letter(out_.back()) || out_.back() == ')')) out_ += '*';
  read_operand(depth);
  out_ += '/';
  read_operand(depth);
  if (at_ < text_.size() && is_digit(text_[at_])) out_ += ' ';  // else it would join the denominator
}

void LatexReader::read_function(std::string_view name, int depth) {
  if (!out_.empty() && is_letter(out_.back())) out_ += ' ';  // else it would join the name
  out_ += name;
  skip_spaces();
  bool script = false;
  while (at_ < text_.size() && (text_[at_] == '^' || text_[at_] == '_')) {
    script = true;
    out_ += text_[at_++];
    read_operand(depth);  // of one character where there are no braces: \log_23 is that of 3
    skip_spaces();
  }
  if (at_ == text_.size()) return;
  if (script && text_[at_] != '(' && text_[at_] != '{') out_ += ' ';
  const std::string_view rest = text_.substr(at_);
  const auto is_fraction = [&](std::string_view command) { return rest.substr(1).starts_with(command); };
  const bool whole = rest.front() == '\\' && std::any_of(kFractions.begin(), kFractions.end(), is_fraction);
  if (rest.front() != '{' && !whole) {
    out_ += ' ';
    return;
  }
  out_ += '(';
  read_argument(depth);
  out_ += ')';
}

void LatexReader::read_root(int depth) {
  out_ += "sqrt";
  skip_spaces();
  if (at_ < text_.size() && text_[at_] == '[') {  // \sqrt[3]{x}
    while (at_ < text_.size() && text_[at_] != ']') out_ += text_[at_++];
  }
  if (at_ < text_.size() && text_[at_] == ']') out_ += text_[at_++];
  skip_spaces();
  if (at_ < text_.size() && text_[at_] == '(') return;  // it brings its own
  out_ += '(';
  read_argument(depth);
  out_ += ')';
}

void LatexReader::read_root_of(int depth) {
  constexpr std::size_t kLongest = 16;  // bytes
  const std::size_t of = text_.substr(at_, kLongest).find("\\of");
  const std::string_view degree = of == std::string_view::npos ? "" : trim(text_.substr(at_, of));
  if (degree.empty() || !std::all_of(degree.begin(), degree.end(), is_digit)) return;
  at_ += of + 3;
  out_ += "sqrt[" + std::string(degree) + "](";
  read_argument(depth);
  out_ += ')';
}

void LatexReader::read_script(int depth) {
  const char script = text_[at_++];
  const std::size_t begin = out_.size();
  out_ += script;
  skip_spaces();
  if (at_ == text_.size() || (text_[at_] != '{' && text_[at_] != '\\' && !starts(kDegreeSign))) return;
  read_operand(depth);
  // An exponent that only said "degrees" goes with its ^.
  std::string argument(trim(std::string_view(out_).substr(begin + 1)));
  if (argument.starts_with("((") && argument.ends_with("))") && is_number(argument.substr(2, argument.size() - 4))) {
    argument = argument.substr(2, argument.size() - 4);  // 52_{(8)}
    out_.replace(begin + 1, std::string::npos, argument);
  }
  const bool after_digit = begin > 0 && (is_digit(out_[begin - 1]) || out_[begin - 1] == ')');
  const bool raised_o = argument == "o" && after_digit && script == '^';  // 60^{\text{o}}
  const bool degrees = argument == std::string{'(', kDegreeMark, ')'} || argument == "(\\circ )" || raised_o;
  if (argument == "()" || degrees) out_.resize(begin);
  if (degrees) out_ += kDegreeMark;
  // 5^{th} is the number five.
  if (script == '^' && after_digit &&
      (argument == "(th)" || argument == "(st)" || argument == "(nd)" || argument == "(rd)")) {
    out_.resize(begin);
  }
  if (script == '_' && after_digit) {
    for (const auto& [word, base] : kBases) {
      if (argument == word) out_.replace(begin + 1, std::string::npos, base);
    }
  }
  // What follows the braces is no part of it.
  if (at_ < text_.size() && is_digit(text_[at_]) && !out_.empty() && is_digit(out_.back())) out_ += ' ';
  // 42_{10}: in the base it would be in anyway.
  if (script == '_' && (argument == "10" || argument == "(ten)") && begin > 0 && is_digit(out_[begin - 1]))
    out_.resize(begin);
}

}  // namespace dts::latex
