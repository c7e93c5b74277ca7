#include "answer/notation/latex.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "answer/notation/latex_reader.h"
#include "answer/notation/latex_symbols.h"
#include "answer/notation/units.h"
#include "answer/value/expression.h"
#include "answer/value/number.h"

namespace dts::latex {

using namespace text;

PlainAnswer LatexReader::read() {
  while (at_ < text_.size()) read_item(0);
  settle_degrees();
  drop_unit();
  return {std::move(out_), std::move(unit_)};
}

void LatexReader::read_item(int depth) {
  const char c = text_[at_];
  if (c == '\\') {
    read_command(depth);
  } else if (c == '^' || c == '_') {
    if (!read_combination(depth) && !read_slanted_fraction()) read_script(depth);
  } else if (c == '$') {
    ++at_;
  } else if (c == '&' && environments_ > 0) {
    out_ += in_matrix_ ? ',' : ' ';
    ++at_;
  } else if (c == '*' && is_power()) {
    out_ += '^';
    at_ += 2;
  } else if (c == '~') {
    out_ += ' ';
    ++at_;
  } else if (c == '{' && (read_infix("\\choose", depth) || read_infix("\\over", depth))) {
    return;
  } else if (c == '{' && read_mark_in_braces()) {
    return;
  } else if (starts("{}") && after_value()) {
    at_ += 2;
  } else if (c == '{' && depth < kMaxDepth && begins_mixed_fraction()) {
    read_argument(depth);
  } else if (c == '{' && depth < kMaxDepth && begins_group()) {
    if (!out_.empty() && is_digit(out_.back()) && is_digit(text_[at_ + 1])) out_ += '*';
    read_operand(depth);
  } else if (c == '!' && is_factorial_of_equation()) {
    out_ += "! ";  // "!=" is another sign
    ++at_;
  } else if (starts("{}^") || starts("{}_")) {  // hung on nothing, so that it stands clear of what is before
    at_ += 2;
  } else if (static_cast<unsigned char>(c) >= 0x80U) {
    read_unicode(depth);
  } else {
    out_ += c;
    ++at_;
  }
}

void LatexReader::read_unicode(int depth) {
  for (const auto& [symbol, plain] : kUnicode) {
    if (!starts(symbol)) continue;
    out_ += plain;
    at_ += symbol.size();
    return;
  }
  for (const auto& [symbol, fraction] : kVulgar) {
    if (!starts(symbol)) continue;
    if (!out_.empty() && is_digit(out_.back())) out_ += ' ';
    out_ += fraction;
    at_ += symbol.size();
    return;
  }
  if (read_small(kRaised, '^') || read_small(kLowered, '_')) return;
  if (starts(kDegreeSign)) {
    at_ += kDegreeSign.size();
    out_ += kDegreeMark;
  } else if (starts("\u2248")) {
    at_ += 3;
    read_approximately();
  } else if (starts("\u221a")) {
    at_ += 3;
    read_radical("sqrt", depth);
  } else if (starts("\u221b") || starts("\u221c")) {
    const std::string_view root = starts("\u221b") ? "sqrt[3]" : "sqrt[4]";
    at_ += 3;
    read_radical(root, depth);
  } else if (starts("\u20ac") || starts("\u00a3") || starts("\u00a5") || starts("\u20b9") || starts("\u00a2")) {
    if (unit_.empty()) {
      unit_ = starts("\u00a2")   ? "cent"
              : starts("\u20ac") ? "euro"
              : starts("\u00a3") ? "pound sterling"
              : starts("\u00a5") ? "yen"
                                 : "rupee";
    }
    at_ += text_[at_] == '\xc2' ? 2 : 3;
  } else {
    out_ += text_[at_++];
  }
}

template <std::size_t n>
bool LatexReader::read_small(const std::array<std::pair<std::string_view, char>, n>& table, char script) {
  std::string run;
  for (bool found = true; found;) {
    found = false;
    for (const auto& [symbol, plain] : table) {
      if (!starts(symbol)) continue;
      run += plain;
      at_ += symbol.size();
      found = true;
      break;
    }
  }
  if (run.empty()) return false;
  out_ += script;
  const bool alone = run.find_first_not_of("0123456789") == std::string::npos || run.size() == 1;
  out_ += alone ? run : "(" + run + ")";
  return true;
}

void LatexReader::read_command(int depth) {
  std::size_t end = ++at_;  // past the backslash
  while (end < text_.size() && is_letter(text_[end])) ++end;
  if (end == at_) {
    read_control_symbol();
    return;
  }
  const std::string_view name = text_.substr(at_, end - at_);
  at_ = end;
  if (contains(kDropped, name)) {
    if ((name == "left" || name == "right") && starts(".")) ++at_;  // no bracket on that side
    return;
  } else if (name == "rule") {
    const std::size_t begin = out_.size();
    read_argument(depth);
    read_argument(depth);
    out_.resize(begin);
  } else if (contains(kDegrees, name)) {
    out_ += kDegreeMark;
  } else if (const std::string_view function = function_in_braces(name); !function.empty()) {
    at_ = text_.find('}', at_) + 1;
    read_function(function, depth);
  } else if (contains(kWords, name) || contains(kUpright, name)) {
    // Words before an equals sign name what is stated: \text{Area} = 5\text{ cm}.
    if (depth == 0 && (unit_begin_ >= out_.size() || out_.find('=', unit_begin_) != std::string::npos)) {
      unit_begin_ = out_.size();
      unit_in_words_ = contains(kWords, name);
    }
    read_argument(depth);
  } else if (contains(kRepeated, name) && after_point()) {
    out_ += '(';
    read_argument(depth);
    if (name == "dot") read_to_last_dot(depth);
    out_ += ')';
  } else if (contains(kMatrices, name)) {
    read_matrix(depth);
  } else if (name == "cr" && (in_matrix_ || in_statements_)) {
    end_row();
  } else if (name == "root") {
    read_root_of(depth);
  } else if (contains(kFrames, name)) {
    skip_spaces();
    if (starts("[")) at_ = std::min(text_.find(']', at_), text_.size() - 1) + 1;
    read_argument(depth);
  } else if (name == "mathbb") {
    read_number_set(depth);
  } else if (contains(kBinomials, name)) {
    read_binomial(depth);
  } else if (name == "overline") {
    read_argument(depth);
  } else if (contains(kDressing, name)) {
    read_argument(depth);
  } else if (contains(kSpaces, name)) {
    const std::size_t begin = out_.size();
    read_argument(depth);
    out_.resize(begin);
  } else if (contains(kColours, name)) {
    skip_argument(depth);
  } else if (contains(kModulo, name)) {
    out_ += " mod ";
    read_argument(depth);
  } else if (contains(kApproximately, name)) {
    read_approximately();
  } else if (contains(kFunctions, name)) {
    read_function(name, depth);
  } else if (contains(kFractions, name)) {
    read_fraction(depth);
  } else if (name == "sqrt") {
    read_root(depth);
  } else if (name == "begin" || name == "end") {
    read_environment(name);
  } else if (const std::string_view* symbol = lookup(kSymbols, name)) {
    out_ += *symbol;
  } else {
    out_ += '\\';
    out_ += name;
    out_ += ' ';  // else what follows could join the name
  }
}

void LatexReader::read_control_symbol() {
  if (at_ == text_.size()) return;
  const char c = text_[at_];
  if (c == '\\' && (in_matrix_ || in_statements_)) {
    ++at_;
    end_row();
    skip_row_space();
  } else if (c == '\\') {
    // A line break, or one backslash too many before a command.
    if (at_ + 1 < text_.size() && is_letter(text_[at_ + 1])) return;
    out_ += ' ';
    ++at_;
  } else if (c == ',' || c == '!') {
    ++at_;
    const bool in_number = !out_.empty() && is_digit(out_.back()) && at_ < text_.size() && is_digit(text_[at_]);
    if (c == ',' && !in_number) out_ += ' ';
    // 11,\! 111: thousands, drawn together again.
    if (c == '!' && out_.ends_with(',')) skip_spaces();
  } else if (c == ';' || c == ':' || is_space(c)) {
    out_ += ' ';
    ++at_;
  } else if (c == '(' || c == ')' || c == '[' || c == ']') {
    ++at_;
  } else if (c == '$') {
    if (unit_.empty()) unit_ = "dollar";
    ++at_;
  } else if (c == '&') {
    out_ += " and ";
    ++at_;
  } else {
    out_ += c;
    ++at_;
  }
}

std::string_view LatexReader::function_in_braces(std::string_view command) const {
  constexpr std::size_t kLongest = 12;  // bytes
  if (!contains(kUpright, command) || !starts("{")) return {};
  const std::size_t end = text_.substr(at_, kLongest).find('}');
  if (end == std::string_view::npos) return {};
  const std::string_view name = trim(text_.substr(at_ + 1, end - 1));
  return contains(kFunctions, name) ? name : std::string_view{};
}

void LatexReader::read_approximately() {
  const std::string_view before = trim(std::string_view(out_).substr(out_.rfind('=') + 1));
  if (before.empty()) return;
  const std::optional<Value> value = before.size() <= kMaxNumber ? evaluate(before) : std::nullopt;
  if (value && value->constant) {
    at_ = text_.size();
  } else {
    out_ += '=';
  }
}

void LatexReader::read_number_set(int depth) {
  const std::size_t begin = out_.size();
  read_argument(depth);
  const std::string name(trim(std::string_view(out_).substr(begin)));
  if (name.size() != 1 || std::string_view("rznqc").find(to_lower(name[0])) == std::string_view::npos) return;
  out_.resize(begin);
  out_ += '\\';
  out_ += static_cast<char>(to_lower(name[0]) - 'a' + 'A');
  out_ += ' ';
}

void LatexReader::settle_degrees() {
  if (out_.find(kDegreeMark) == std::string::npos) return;
  const bool kept = std::any_of(kTrigonometric.begin(), kTrigonometric.end(), [&](std::string_view name) {
    const std::size_t at = out_.find(name);
    return at != std::string::npos && (at < 3 || out_.compare(at - 3, 3, "arc") != 0);
  });
  if (const std::size_t mark = out_.find(kDegreeMark); mark == out_.rfind(kDegreeMark) && mark + 1 < out_.size()) {
    const std::string_view scale = trim(std::string_view(out_).substr(mark + 1));
    if (scale == "c" || scale == "f") {
      unit_ = scale == "c" ? "celsius" : "fahrenheit";
      out_.resize(mark);
      unit_begin_ = std::string::npos;
      return;
    }
  }
  std::string settled;
  for (const char c : out_) {
    if (c != kDegreeMark) {
      settled += c;
    } else if (kept) {
      settled += "deg";
    }
  }
  if (!kept && unit_.empty()) unit_ = "degree";
  out_ = std::move(settled);
  unit_begin_ = std::min(unit_begin_, out_.size());
}

void LatexReader::drop_unit() {
  if (unit_begin_ >= out_.size()) return;
  const std::string_view before = std::string_view(out_).substr(0, unit_begin_);
  const std::string_view number = trim(before.substr(before.rfind('=') + 1));
  const std::string_view unit = trim(std::string_view(out_).substr(unit_begin_));
  if (number.size() > kMaxNumber || unit.empty() || !is_letter(unit.front())) return;
  for (std::size_t i = 0; i < unit.size(); ++i) {
    const bool exponent = is_digit(unit[i]) && i > 0 && (unit[i - 1] == '^' || unit[i - 1] == '-');
    const bool plain = is_letter(unit[i]) || is_space(unit[i]) || unit[i] == '.' || unit[i] == '/' || unit[i] == '^' ||
                       unit[i] == '-' || unit[i] == '*' || unit[i] == '(' || unit[i] == ')';
    if (!exponent && !plain) return;
  }
  // Words are a unit whatever they say; symbols only where they are known to be one, else they are factors:
  // 4\mathrm{i}.
  if (unit == "i" || unit == "e" || (!unit_in_words_ && !are_unit_symbols(unit))) return;
  // What says more than a unit would.
  if (changes_meaning(unit)) return;
  if (!is_number(number)) {
    const std::optional<Value> value = evaluate(number);
    if (!value || !value->constant) return;
  }
  if (unit_.empty() || unit_ == "degree") unit_ = unit;
  out_.resize(unit_begin_);
}

}  // namespace dts::latex

namespace dts {

PlainAnswer latex_to_plain(std::string_view latex) { return latex::LatexReader(latex).read(); }

}  // namespace dts
