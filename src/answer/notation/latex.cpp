#include "answer/notation/latex.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "answer/notation/latex_symbols.h"
#include "answer/notation/units.h"
#include "answer/value/expression.h"
#include "answer/value/number.h"
#include "text/ascii.h"

namespace dts {
namespace {

using namespace text;
using namespace latex;

constexpr int kMaxDepth = 32;            // nesting of arguments that is still rewritten
constexpr std::size_t kMaxNumber = 256;  // bytes of a number that may have a unit

class LatexReader {
 public:
  explicit LatexReader(std::string_view text) : text_(text) { out_.reserve(text.size() + 16); }

  PlainAnswer read() {
    while (at_ < text_.size()) read_item(0);
    settle_degrees();
    drop_unit();
    return {std::move(out_), std::move(unit_)};
  }

 private:
  bool starts(std::string_view with) const { return text_.substr(at_, with.size()) == with; }

  void skip_spaces() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }

  // One character, command or script with its arguments. Braces that belong to no command are kept: they make sets.
  void read_item(int depth) {
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

  // {,} {:} {-} {\,}: one mark or space, in braces so that it is set without the room it would take.
  bool read_mark_in_braces() {
    constexpr std::size_t kLongest = 16;  // bytes
    const std::size_t end = text_.substr(at_, kLongest).find('}');
    if (end == std::string_view::npos) return false;
    std::string_view inside = trim(text_.substr(at_ + 1, end - 1));
    if (inside.starts_with('\\')) {  // {\small,}
      std::size_t name = 1;
      while (name < inside.size() && is_letter(inside[name])) ++name;
      if (contains(kDropped, inside.substr(1, name - 1))) inside = trim(inside.substr(name));
    }
    const bool mark = inside.size() == 1 && std::string_view(",:.-+=<>").find(inside.front()) != std::string_view::npos;
    const bool space = inside == "\\," || inside == "\\;" || inside == "\\:" || inside == "\\!" || inside == "~";
    if (!mark && !space) return false;
    at_ += end + 1;
    const bool in_number = !out_.empty() && is_digit(out_.back()) && at_ < text_.size() && is_digit(text_[at_]);
    if (mark) {
      out_ += inside;
    } else if (!in_number) {
      out_ += ' ';
    }
    return true;
  }

  bool after_value() const {
    return !out_.empty() && (is_digit(out_.back()) || is_letter(out_.back()) || out_.back() == ')');
  }

  // The braces of 1{\frac{1}{2}}
  bool begins_mixed_fraction() const {
    const std::string_view rest = text_.substr(at_ + 1);
    return !out_.empty() && is_digit(out_.back()) &&
           (rest.starts_with("\\frac") || rest.starts_with("\\dfrac") || rest.starts_with("\\tfrac"));
  }

  // The braces of {x}^{2}, and the outer ones of {{x}^{2}}+1, which only hold together. Not those of {1,2} and of
  // {x}+{y}, which may be a set and fractional parts.
  bool begins_group() const {
    constexpr std::size_t kMaxGroup = 256;  // bytes
    const std::string_view group = text_.substr(at_, kMaxGroup);
    std::size_t end = 0;
    for (int open = 0; end < group.size(); ++end) {
      if (group[end] == '{') ++open;
      if (group[end] == '}' && --open == 0) break;
    }
    if (end >= group.size() || trim(group.substr(1, end - 1)).empty()) return false;
    if (group.substr(0, end).find_first_of(",;|:=<>") != std::string_view::npos) return false;
    const std::string_view rest = trim(text_.substr(at_ + end + 1));
    const std::string_view before = trim(out_);
    constexpr std::string_view kBeside = "+-*/=";
    if (rest.starts_with('^') || rest.starts_with('_')) return true;
    if (group.substr(0, end).find_first_of("^_") == std::string_view::npos) return false;
    return (!rest.empty() && kBeside.find(rest.front()) != std::string_view::npos) ||
           (!before.empty() && kBeside.find(before.back()) != std::string_view::npos);
  }

  // The ! of 5!=120 and n! = 6, not that of x!=6.
  bool is_factorial_of_equation() const {
    if (!after_value()) return false;
    std::size_t next = at_ + 1;
    while (next < text_.size() && is_space(text_[next])) ++next;
    return next < text_.size() && text_[next] == '=' && (next > at_ + 1 || is_digit(out_.back()));
  }

  // _{10}C_3, {}^{10}C_3: scripts hung on nothing before the C.
  bool read_combination(int depth) {
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

  // ^{3}/_{56}, and ^3/_{56}: a fraction whose halves are hung on nothing.
  bool read_slanted_fraction() {
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

  // Reads with the text cut off at `end`, and goes on there: what looks for its own end, as the ] of a root, finds none
  // beyond. So nothing is read twice.
  template <typename Read>
  void read_up_to(std::size_t end, const Read& read) {
    const std::string_view whole = text_;
    text_ = whole.substr(0, end);
    read();
    text_ = whole;
    at_ = end;
  }

  // x**2, as programs have it; not the marks of bold text.
  bool is_power() const {
    if (!starts("**") || out_.empty() || at_ + 2 >= text_.size()) return false;
    const char before = out_.back();
    const char after = text_[at_ + 2];
    return (is_letter(before) || is_digit(before) || before == ')') &&
           (is_letter(after) || is_digit(after) || after == '(' || after == '-') &&
           text_.find("**", at_ + 2) == std::string_view::npos;
  }

  void read_unicode(int depth) {
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

  // A run of raised or lowered characters.
  template <std::size_t n>
  bool read_small(const std::array<std::pair<std::string_view, char>, n>& table, char script) {
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

  // The root sign without LaTeX: of a whole number, not of its first digit.
  void read_radical(std::string_view name, int depth) {
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

  void read_command(int depth) {
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

  // A backslash before anything but a letter.
  void read_control_symbol() {
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

  // The arctan of \operatorname{arctan}, which is the command \arctan.
  std::string_view function_in_braces(std::string_view command) const {
    constexpr std::size_t kLongest = 12;  // bytes
    if (!contains(kUpright, command) || !starts("{")) return {};
    const std::size_t end = text_.substr(at_, kLongest).find('}');
    if (end == std::string_view::npos) return {};
    const std::string_view name = trim(text_.substr(at_ + 1, end - 1));
    return contains(kFunctions, name) ? name : std::string_view{};
  }

  void end_row() {
    if (in_matrix_) {
      out_ += "],[";
    } else if (!trim(out_).ends_with(',')) {
      out_ += ", ";
    }
  }

  // 2\sqrt{3} \approx 3.46 answers 2\sqrt{3}; x \approx 3.46, and \approx 3.46, are all that is said of x.
  void read_approximately() {
    const std::string_view before = trim(std::string_view(out_).substr(out_.rfind('=') + 1));
    if (before.empty()) return;
    const std::optional<Value> value = before.size() <= kMaxNumber ? evaluate(before) : std::nullopt;
    if (value && value->constant) {
      at_ = text_.size();
    } else {
      out_ += '=';
    }
  }

  // Whether decimals were just read: 0.1 and what repeats.
  bool after_point() const {
    std::size_t begin = out_.size();
    while (begin > 0 && is_digit(out_[begin - 1])) --begin;
    return begin > 0 && out_[begin - 1] == '.';
  }

  // The 45\dot{6} of 0.\dot{4}5\dot{6}: what repeats goes from the first dot to the last.
  void read_to_last_dot(int depth) {
    constexpr std::string_view kDot = "\\dot";
    std::size_t end = at_;
    while (end < text_.size() && is_digit(text_[end])) ++end;
    if (!text_.substr(end).starts_with(kDot)) return;
    out_ += text_.substr(at_, end - at_);
    at_ = end + kDot.size();
    read_argument(depth);
  }

  // \mathbb{R} -> \R, which no variable is.
  void read_number_set(int depth) {
    const std::size_t begin = out_.size();
    read_argument(depth);
    const std::string name(trim(std::string_view(out_).substr(begin)));
    if (name.size() != 1 || std::string_view("rznqc").find(to_lower(name[0])) == std::string_view::npos) return;
    out_.resize(begin);
    out_ += '\\';
    out_ += static_cast<char>(to_lower(name[0]) - 'a' + 'A');
    out_ += ' ';
  }

  // {n \choose k}, {1 \over 2}: a command between its two arguments.
  bool read_infix(std::string_view command, int depth) {
    constexpr std::size_t kMaxGroup = 128;  // bytes
    const std::string_view group = text_.substr(at_, kMaxGroup);
    const std::size_t at = group.find(command);
    std::size_t end = 0;
    for (int open = 0; end < group.size(); ++end) {
      if (group[end] == '{') ++open;
      if (group[end] == '}' && --open == 0) break;
    }
    if (at == std::string_view::npos || end == group.size() || end < at) return false;
    if (is_letter(group[at + command.size()])) return false;  // \overline
    if (group.substr(1, at).find('{') != std::string_view::npos) return false;
    const bool choose = command == "\\choose";
    if (!out_.empty() && (is_letter(out_.back()) || is_digit(out_.back()))) out_ += ' ';
    out_ += choose ? "binom(" : "(";
    const std::size_t whole = at_;
    const auto read_all = [&] {
      while (at_ < text_.size()) read_item(depth + 1);
    };
    ++at_;
    read_up_to(whole + at, read_all);
    out_ += choose ? "," : ")/(";
    at_ += command.size();
    read_up_to(whole + end, read_all);
    ++at_;
    out_ += ')';
    return true;
  }

  void read_binomial(int depth) {
    if (!out_.empty() && is_letter(out_.back())) out_ += ' ';
    out_ += "binom(";
    read_argument(depth);
    out_ += ',';
    read_argument(depth);
    out_ += ')';
  }

  // A degree sign is a unit, dropped as others are; beside a sine it is a factor.
  void settle_degrees() {
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

  // The [4pt] of \\[4pt].
  void skip_row_space() {
    if (at_ == text_.size() || text_[at_] != '[') return;
    const std::size_t end = text_.find(']', at_);
    if (end == std::string_view::npos || end - at_ > 16) return;
    const std::string_view space = text_.substr(at_ + 1, end - at_ - 1);
    if (!space.empty() && (is_digit(space.front()) || space.front() == '-') && is_letter(space.back())) at_ = end + 1;
  }

  // {red} of \color{red}.
  void skip_argument(int depth) {
    skip_spaces();
    if (at_ == text_.size() || text_[at_] != '{') return;
    at_ = std::min(text_.find('}', at_), text_.size() - 1) + 1;
    skip_spaces();
    // What is coloured is often in braces of its own, which are no set.
    if (at_ < text_.size() && text_[at_] == '{') read_argument(depth);
  }

  // Reads {...}, a command or one character. Reads nothing beyond kMaxDepth.
  void read_argument(int depth) {
    skip_spaces();
    if (at_ == text_.size() || depth >= kMaxDepth) return;
    if (text_[at_] != '{') {
      if (text_[at_] != '}') read_item(depth + 1);
      return;
    }
    ++at_;
    std::size_t open = 0;  // braces of the argument's own
    while (at_ < text_.size()) {
      if (text_[at_] == '}' && open == 0) {
        ++at_;
        return;
      }
      const bool opens = text_[at_] == '{';
      if (text_[at_] == '}') --open;
      const std::size_t begin = at_;
      read_item(depth + 1);
      if (opens && at_ == begin + 1) ++open;  // else it was read with all that it holds
    }
  }

  // \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix} -> [[1,2],[3,4]]; \begin{cases} x=1 \\ y=2 \end{cases} -> x=1, y=2.
  // Other environments leave nothing of themselves.
  void read_environment(std::string_view command) {
    if (at_ == text_.size() || text_[at_] != '{') return;
    const std::size_t end = text_.find('}', at_);
    if (end == std::string_view::npos) return;
    const std::string_view environment = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    environments_ = std::max(0, environments_ + (command == "begin" ? 1 : -1));
    const bool braced = environment == "array" && (command == "end" ? in_statements_ : trim(out_).ends_with('{'));
    if (contains(kStatements, environment) || braced) in_statements_ = command == "begin";
    if (braced) {  // \left\{\begin{array}{l}: a system of equations
      if (command == "begin") {
        out_.resize(out_.rfind('{'));
        skip_alignment();
      }
      return;
    }
    if (!contains(kMatrices, environment)) return;
    if (command == "end" && in_matrix_) close_matrix();
    if (command == "begin" && !in_matrix_) {
      out_ += "[[";
      skip_spaces();
      if (environment == "array") skip_alignment();
    }
    in_matrix_ = command == "begin";
  }

  void close_matrix() {
    while (!out_.empty() && is_space(out_.back())) out_.pop_back();
    if (out_.ends_with("],[")) out_.resize(out_.size() - 3);  // the last row ended like the others
    out_ += "]]";
  }

  // \pmatrix{1 & 2 \cr 3 & 4}, as plain TeX has it.
  void read_matrix(int depth) {
    if (in_matrix_) return;
    in_matrix_ = true;
    ++environments_;
    out_ += "[[";
    read_argument(depth);
    close_matrix();
    --environments_;
    in_matrix_ = false;
  }

  // The {ll} of an array: which way its columns are aligned.
  void skip_alignment() {
    skip_spaces();
    if (at_ < text_.size() && text_[at_] == '{') at_ = std::min(text_.find('}', at_), text_.size() - 1) + 1;
  }

  // An argument that must hold together: in parentheses unless it is one letter or number.
  void read_operand(int depth) {
    const std::size_t begin = out_.size();
    read_argument(depth);
    const std::string_view operand = trim(std::string_view(out_).substr(begin));
    if ((operand.size() == 1 && is_letter(operand.front())) || is_number(operand)) return;
    out_.insert(begin, 1, '(');
    out_ += ')';
  }

  void read_fraction(int depth) {
    if (!out_.empty() && is_digit(out_.back())) out_ += ' ';  // a mixed number: 1 1/2
    if (!out_.empty() && (is_letter(out_.back()) || out_.back() == ')')) out_ += '*';
    read_operand(depth);
    out_ += '/';
    read_operand(depth);
    if (at_ < text_.size() && is_digit(text_[at_])) out_ += ' ';  // else it would join the denominator
  }

  // \sin{x} -> sin(x), \ln\frac{1}{2} -> ln(1/2), \sin^2 x -> sin^2 x.
  void read_function(std::string_view name, int depth) {
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

  void read_root(int depth) {
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

  // \root 3 \of {54}
  void read_root_of(int depth) {
    constexpr std::size_t kLongest = 16;  // bytes
    const std::size_t of = text_.substr(at_, kLongest).find("\\of");
    const std::string_view degree = of == std::string_view::npos ? "" : trim(text_.substr(at_, of));
    if (degree.empty() || !std::all_of(degree.begin(), degree.end(), is_digit)) return;
    at_ += of + 3;
    out_ += "sqrt[" + std::string(degree) + "](";
    read_argument(depth);
    out_ += ')';
  }

  void read_script(int depth) {
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

  // "5\text{ cm}" means 5: what dressed text begins after a number is its unit, unless it goes on with more.
  void drop_unit() {
    if (unit_begin_ >= out_.size()) return;
    const std::string_view before = std::string_view(out_).substr(0, unit_begin_);
    const std::string_view number = trim(before.substr(before.rfind('=') + 1));
    const std::string_view unit = trim(std::string_view(out_).substr(unit_begin_));
    if (number.size() > kMaxNumber || unit.empty() || !is_letter(unit.front())) return;
    for (std::size_t i = 0; i < unit.size(); ++i) {
      const bool exponent = is_digit(unit[i]) && i > 0 && (unit[i - 1] == '^' || unit[i - 1] == '-');
      const bool plain = is_letter(unit[i]) || is_space(unit[i]) || unit[i] == '.' || unit[i] == '/' ||
                         unit[i] == '^' || unit[i] == '-' || unit[i] == '*' || unit[i] == '(' || unit[i] == ')';
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

  std::string_view text_;
  std::size_t at_ = 0;
  std::string out_;
  int environments_ = 0;  // that are open
  bool in_matrix_ = false;
  bool in_statements_ = false;
  std::size_t unit_begin_ = std::string::npos;  // in out_: where the first dressed text outside all arguments began
  bool unit_in_words_ = false;                  // it is \text, not \mathrm
  std::string unit_;                            // what was dropped
};

}  // namespace

PlainAnswer latex_to_plain(std::string_view latex) { return LatexReader(latex).read(); }

}  // namespace dts
