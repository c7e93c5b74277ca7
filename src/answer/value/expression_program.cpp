#include "answer/value/expression_program.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "text/ascii.h"

namespace dts::expression {
namespace {

using namespace text;

constexpr std::size_t kMaxExpression = 16384;  // bytes
constexpr int kMaxDepth = 64;                  // of parentheses and powers
constexpr int kMaxLettersInARow = 2;           // more are a word, not a product of variables
constexpr std::size_t kMaxArguments = 16;

// Names that begin with another come before it. asin is arcsin, and so on.
constexpr std::array<std::string_view, 37> kFunctions = {
    "arcsinh", "arccosh", "arctanh", "arcsin", "arccos", "arctan", "arccot", "arcsec", "arccsc", "arsinh",
    "arcosh",  "artanh",  "asinh",   "acosh",  "atanh",  "asin",   "acos",   "atan",   "sinh",   "cosh",
    "tanh",    "coth",    "sech",    "csch",   "cosec",  "sin",    "cos",    "tan",    "cot",    "sec",
    "csc",     "ln",      "log",     "lg",     "exp",    "tg",     "cis"};

constexpr std::array<std::string_view, 8> kListNames = {"gcd", "gcf", "lcm", "min", "max", "binom", "floor", "ceil"};

constexpr std::array<std::string_view, 35> kGreek = {
    "alpha",    "beta",  "gamma",   "delta",  "epsilon", "varepsilon", "zeta",  "eta",   "theta",
    "vartheta", "iota",  "kappa",   "lambda", "mu",      "nu",         "xi",    "rho",   "varrho",
    "sigma",    "tau",   "upsilon", "phi",    "varphi",  "chi",        "psi",   "omega", "Gamma",
    "Delta",    "Theta", "Lambda",  "Sigma",  "Phi",     "Psi",        "Omega", "ell"};

template <std::size_t n>
std::string_view name_at(std::string_view text, const std::array<std::string_view, n>& names) {
  for (const std::string_view name : names) {
    if (text.starts_with(name)) return name;
  }
  return {};
}

std::string_view function_at(std::string_view text) { return name_at(text, kFunctions); }

// As value_arithmetic.h knows it.
std::string canonical_function(std::string_view name) {
  if (name == "cosec") return "csc";
  if (name == "tg") return "tan";
  if (name.starts_with("ar") && !name.starts_with("arc")) return "arc" + std::string(name.substr(2));
  if (name.starts_with('a') && !name.starts_with("arc")) return "arc" + std::string(name.substr(1));
  return std::string(name);
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  // Empty when it is no expression.
  Program parse() {
    if (text_.size() > kMaxExpression) return {};
    const int whole = sum(0);
    skip_spaces();
    if (whole < 0 || at_ != text_.size()) return {};
    return std::move(program_);
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip_spaces() {
    while (is_space(peek())) ++at_;
  }

  bool accept(char c) {
    skip_spaces();
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  std::size_t digits() {
    const std::size_t begin = at_;
    while (is_digit(peek())) ++at_;
    return at_ - begin;
  }

  int emit(Node node) {
    program_.push_back(std::move(node));
    return static_cast<int>(program_.size()) - 1;
  }

  int unary(Op op, int a) { return a < 0 ? -1 : emit({op, a}); }
  int binary(Op op, int a, int b) { return a < 0 || b < 0 ? -1 : emit({op, a, b}); }
  int number(const Maybe& value) {
    Node node;
    node.value = value;
    return value ? emit(std::move(node)) : -1;
  }

  int sum(int depth) {
    int value = term(depth);
    while (value >= 0) {
      if (accept('+')) {
        if (peek() == '-') return -1;  // plus or minus is two values
        value = binary(Op::kAdd, value, term(depth));
      } else if (accept('-')) {
        if (peek() == '+') return -1;
        value = binary(Op::kAdd, value, unary(Op::kNegate, term(depth)));
      } else {
        break;
      }
    }
    return value;
  }

  int term(int depth) {
    int value = factor(depth);
    while (value >= 0) {
      if (accept('*')) {
        value = binary(Op::kMultiply, value, factor(depth));
      } else if (accept('/')) {
        value = binary(Op::kDivide, value, factor(depth));
      } else if (skip_spaces(); starts_factor()) {
        value = binary(Op::kMultiply, value, power(depth));
      } else {
        break;
      }
    }
    return value;
  }

  bool starts_factor() const {
    const bool after_factorial = before_here() == '!';
    const bool after_i = before_here() == 'i' && program_.back().op == Op::kImaginary;  // 3+i4
    return peek() == '(' || peek() == '\\' || is_letter(peek()) || (peek() == '|' && !in_bars_) ||
           (is_digit(peek()) && (after_factorial || after_i || begins_power()));
  }

  // The 2^n of n2^n; the 2 of x2 may be meant for an index.
  bool begins_power() const {
    if (!is_letter(before_here())) return false;
    std::size_t end = at_;
    while (end < text_.size() && is_digit(text_[end])) ++end;
    return end < text_.size() && text_[end] == '^';
  }

  // The last character that was read, but for spaces.
  char before_here() const {
    const std::string_view read = trim(text_.substr(0, at_));
    return read.empty() ? '\0' : read.back();
  }

  int factor(int depth) {
    bool negative = false;
    for (;;) {
      if (accept('-')) {
        if (peek() == '+') return -1;
        negative = !negative;
      } else if (accept('+')) {
        if (peek() == '-') return -1;
      } else {
        break;
      }
    }
    const int value = power(depth);
    return negative ? unary(Op::kNegate, value) : value;
  }

  int power(int depth) {
    if (depth >= kMaxDepth) return -1;
    int base = atom(depth + 1);
    while (base >= 0 && peek() == '!' && text_.substr(at_, 2) != "!=") {
      ++at_;
      base = unary(Op::kFactorial, base);
    }
    if (base < 0 || !accept('^')) return base;
    const bool negative = accept('-');
    const int exponent = power(depth + 1);
    return binary(Op::kRaise, base, negative ? unary(Op::kNegate, exponent) : exponent);
  }

  int atom(int depth) {
    skip_spaces();
    if (is_digit(peek()) || peek() == '.') return decimal();
    if (is_letter(peek())) return name(depth);
    if (peek() == '\\') return greek();
    if (peek() == '|') return bars(depth);
    if (peek() == '{' && depth > 1) return group(depth);
    return peek() == '(' ? parentheses(depth) : -1;
  }

  int parentheses(int depth) {
    if (!accept('(')) return -1;
    const bool outer = in_bars_;
    in_bars_ = false;
    const int value = sum(depth);
    in_bars_ = outer;
    return accept(')') ? value : -1;
  }

  // Braces within a formula only hold together; around a whole answer they make a set.
  int group(int depth) {
    ++at_;
    const int value = sum(depth);
    return accept('}') ? value : -1;
  }

  int bars(int depth) {
    if (in_bars_ || !accept('|')) return -1;
    in_bars_ = true;
    const int value = sum(depth);
    in_bars_ = false;
    return accept('|') ? unary(Op::kAbsolute, value) : -1;
  }

  int decimal() {
    const std::size_t begin = at_;
    digits();
    const bool whole = peek() != '.';
    if (!whole) {
      ++at_;
      digits();
    }
    const std::string_view written = text_.substr(begin, at_ - begin);
    if (!whole) {
      if (const Maybe repeated = repeating(written)) return number(repeated);
    }
    Maybe value = value_of(Rational::parse(written));
    if (!value) value = large_number(written);
    if (const auto exponent = decimal_exponent()) {
      value = multiply(value, raise(value_of(Rational::make(10)), value_of(Rational::make(*exponent))));
    } else if (const auto fraction = whole ? mixed_fraction() : std::nullopt) {
      value = add(value, value_of(fraction));
    }
    return number(value);
  }

  // 0.1(6), with the digits in brackets repeated for ever; and 0.1666... and 0.3636..., where a digit is there three
  // times, or several are there twice.
  Maybe repeating(std::string_view written) {
    const std::size_t point = written.find('.');
    std::string digits_before(written.substr(0, point));
    std::string_view fixed = written.substr(point + 1);
    std::string_view group;
    const std::size_t begin = at_;
    if (peek() == '(') {
      ++at_;
      const std::size_t first = at_;
      const std::size_t count = digits();
      group = text_.substr(first, count);
      if (count == 0 || peek() != ')' || point == std::string_view::npos) {
        at_ = begin;
        return std::nullopt;
      }
      ++at_;
    } else if (text_.substr(at_, 3) == "...") {
      for (std::size_t size = 1; size * 2 <= fixed.size(); ++size) {
        const std::string_view last = fixed.substr(fixed.size() - size);
        const bool twice = fixed.substr(fixed.size() - 2 * size, size) == last;
        const bool thrice = twice && size * 3 <= fixed.size() && fixed.substr(fixed.size() - 3 * size, size) == last;
        if (thrice || (twice && size > 1)) {
          group = last;
          break;
        }
      }
      if (group.empty()) return std::nullopt;
      at_ += 3;
    } else {
      return std::nullopt;
    }
    const auto tens = [](std::size_t count) {
      return Rational::make(10)->power(*Rational::make(static_cast<Int128>(count)));
    };
    if (digits_before.empty()) digits_before = "0";
    const auto before = Rational::parse(fixed.empty() ? digits_before : digits_before + "." + std::string(fixed));
    const auto repeated = Rational::parse(group);
    const auto scale = tens(fixed.size());
    const auto period = tens(group.size());
    if (!before || !repeated || !scale || !period) return std::nullopt;
    const auto nines = *period - *Rational::make(1);
    const auto below = nines ? *nines * *scale : std::nullopt;
    const auto rest = below ? *repeated / *below : std::nullopt;
    return rest ? value_of(*before + *rest) : std::nullopt;
  }

  // With more digits than a Rational holds.
  static Maybe large_number(std::string_view digits) {
    Maybe value = value_of(Rational::make(0));
    const Maybe ten = value_of(Rational::make(10));
    std::size_t decimals = 0;
    bool after_point = false;
    bool any = false;
    for (const char c : digits) {
      if (c == '.') {
        after_point = true;
        continue;
      }
      any = true;
      if (after_point) ++decimals;
      value = add(multiply(value, ten), value_of(Rational::make(c - '0')));
    }
    if (!any) return std::nullopt;
    if (decimals == 0) return value;
    return divide(value, raise(ten, value_of(Rational::make(static_cast<Int128>(decimals)))));
  }

  // The e-3 of 1.2e-3; not the e of 2e.
  std::optional<int> decimal_exponent() {
    const std::size_t begin = at_;
    if (peek() != 'e') return std::nullopt;
    ++at_;
    const bool negative = peek() == '-';
    if (negative || peek() == '+') ++at_;
    const std::size_t first = at_;
    const std::size_t count = digits();
    if (count == 0 || count > 3 || is_letter(peek()) || peek() == '.') {
      at_ = begin;
      return std::nullopt;
    }
    int exponent = 0;
    for (const char c : text_.substr(first, count)) exponent = exponent * 10 + (c - '0');
    return negative ? -exponent : exponent;
  }

  // The 1/2 of 1 1/2.
  std::optional<Rational> mixed_fraction() {
    const std::size_t begin = at_;
    const auto part = [&]() {
      const std::size_t first = at_;
      digits();
      return Rational::parse(text_.substr(first, at_ - first));
    };
    if (is_space(peek())) {
      skip_spaces();
      const auto numerator = part();
      if (numerator && peek() == '/') {
        ++at_;
        const auto denominator = part();
        const auto fraction = denominator && peek() != '.' ? *numerator / *denominator : std::nullopt;
        if (fraction && fraction->numerator() < fraction->denominator()) return fraction;
      }
    }
    at_ = begin;
    return std::nullopt;
  }

  bool accept_word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  int name(int depth) {
    if (accept_word("sqrt")) return root(depth);
    if (accept_word("infinity")) return emit({Op::kInfinity});
    if (accept_word("pi")) return emit({Op::kPi});
    if (accept_word("deg")) return emit({Op::kDegree});
    if (text_.substr(at_).starts_with("abs(")) {
      at_ += 3;
      return unary(Op::kAbsolute, parentheses(depth + 1));
    }
    if (const std::string_view list = name_at(text_.substr(at_), kListNames);
        !list.empty() && (text_.substr(at_ + list.size(), 1) == "(" || text_.substr(at_ + list.size(), 1) == "{")) {
      return list_function(list, depth);
    }
    if (const std::string_view function = function_at(text_.substr(at_)); !function.empty()) {
      return applied(function, depth);
    }
    if (is_word_here()) return -1;
    const bool joined = at_ > 0 && is_letter(text_[at_ - 1]);
    const std::size_t begin = at_;
    const char letter = text_[at_++];
    while (peek() == '\'') ++at_;
    const bool marked = at_ > begin + 1;
    std::string called(1, letter);
    called += text_.substr(begin + 1, at_ - begin - 1);
    const bool indexed = peek() == '_';
    if (indexed) {
      const std::string_view index = subscript();
      if (index.empty()) return -1;
      called += '_';
      called += index;
    }
    if (!indexed && !marked) {
      if (letter == 'e') return emit({Op::kEuler});
      if (letter == 'i') return emit({Op::kImaginary});
    }
    if (peek() == '(' && !joined && is_unknown_function(letter, marked)) return unknown(called, depth);
    return variable(called);
  }

  int variable(std::string_view called) {
    Node node;
    node.op = Op::kVariable;
    node.code = code_of(called);
    return emit(std::move(node));
  }

  // Digits, one letter, or what is in brackets.
  std::string_view subscript() {
    const std::size_t begin = ++at_;
    if (digits() > 0) return text_.substr(begin, at_ - begin);
    if (is_letter(peek())) return text_.substr(at_++, 1);
    if (peek() != '(') return {};
    const std::size_t end = text_.find(')', at_);
    if (end == std::string_view::npos || end == at_ + 1) return {};
    at_ = end + 1;
    return text_.substr(begin, at_ - begin);
  }

  // f(x) and g(2x) are no products; h(x) is none where nothing but a letter or number is in the brackets, since a
  // height times a sum is common.
  bool is_unknown_function(char letter, bool marked) const {
    if (letter == 'f' || letter == 'g' || marked) return true;
    if (letter != 'h') return false;
    std::size_t end = at_ + 1;
    while (end < text_.size() && is_digit(text_[end])) ++end;
    if (end == at_ + 1 && end < text_.size() && is_letter(text_[end])) ++end;
    return end > at_ + 1 && end < text_.size() && text_[end] == ')';
  }

  // Arguments in parentheses. Nothing when there are none or too many.
  std::vector<int> arguments(int depth) {
    std::vector<int> found;
    const char close = peek() == '{' ? '}' : ')';
    if (depth >= kMaxDepth || (!accept('(') && !accept('{'))) return {};
    const bool outer = in_bars_;
    in_bars_ = false;
    do {
      found.push_back(sum(depth));
      if (found.back() < 0 || found.size() > kMaxArguments) return {};
    } while (accept(','));
    in_bars_ = outer;
    if (!accept(close)) return {};
    return found;
  }

  int unknown(std::string_view called, int depth) {
    Node node;
    node.op = Op::kUnknown;
    node.code = code_of(called);
    node.arguments = arguments(depth + 1);
    return node.arguments.empty() ? -1 : emit(std::move(node));
  }

  int list_function(std::string_view called, int depth) {
    at_ += called.size();
    Node node;
    node.op = Op::kList;
    node.name = called;
    node.arguments = arguments(depth + 1);
    const std::size_t count = node.arguments.size();
    const bool right = called == "binom" ? count == 2 : called == "floor" || called == "ceil" ? count == 1 : count > 0;
    return right ? emit(std::move(node)) : -1;
  }

  static bool is_known_name(std::string_view text) {
    return text.starts_with("sqrt") || text.starts_with("pi") || text.starts_with("infinity") ||
           text.starts_with("deg") || !function_at(text).empty();
  }

  // More letters in a row than a product has, up to the next name.
  bool is_word_here() const {
    std::size_t end = at_;
    while (end < text_.size() && is_letter(text_[end]) && end - at_ <= kMaxLettersInARow) {
      if (end > at_ && is_known_name(text_.substr(end))) break;
      ++end;
    }
    const bool goes_on = at_ > 0 && is_letter(text_[at_ - 1]);  // counted already, from its beginning
    return !goes_on && end - at_ > kMaxLettersInARow;
  }

  // "expected": more letters right behind a function's name than the product it may be of.
  bool is_word_after() const {
    std::size_t end = at_;
    while (end < text_.size() && is_letter(text_[end]) && end - at_ <= kMaxLettersInARow) {
      if (is_known_name(text_.substr(end))) break;
      ++end;
    }
    return end - at_ > kMaxLettersInARow;
  }

  // sin(x)y is a product, sin 2x the sine of one.
  int applied(std::string_view function, int depth) {
    at_ += function.size();
    if (is_word_after()) return -1;
    int base = -1;
    int exponent = -1;
    bool inverted = false;
    for (int script = 0; script < 2; ++script) {
      if (base < 0 && function == "log" && accept('_')) {
        base = atom(depth + 1);
        if (base < 0) return -1;
      } else if (exponent < 0 && !inverted && accept('^')) {
        const bool negative = accept('-');
        const std::size_t begin = at_;
        exponent = atom(depth + 1);
        if (exponent < 0) return -1;
        const std::string_view written = text_.substr(begin, at_ - begin);
        inverted = (negative && written == "1") || (!negative && written == "(-1)");
        if (negative) exponent = unary(Op::kNegate, exponent);
      }
    }
    skip_spaces();
    const int argument = peek() == '(' ? parentheses(depth + 1) : bare_argument(depth + 1);
    if (argument < 0) return -1;
    if (function == "cis") return exponent < 0 ? on_unit_circle(argument) : -1;
    std::string called = canonical_function(function);
    const bool inverse = inverted && called.find("arc") != 0 && is_function_name("arc" + called);
    Node node;
    node.op = Op::kFunction;
    node.a = argument;
    node.name = inverse ? "arc" + called : called;
    int value = emit(std::move(node));
    if (base >= 0) {
      Node below;
      below.op = Op::kFunction;
      below.a = base;
      below.name = "ln";
      const int log = emit(std::move(below));
      value = binary(Op::kDivide, value, log);
    }
    return exponent >= 0 && !inverse ? binary(Op::kRaise, value, exponent) : value;
  }

  // cis x is cos x + i sin x.
  int on_unit_circle(int angle) {
    Node cosine;
    cosine.op = Op::kFunction;
    cosine.a = angle;
    Node sine = cosine;
    cosine.name = "cos";
    sine.name = "sin";
    const int real = emit(std::move(cosine));
    const int height = emit(std::move(sine));
    return binary(Op::kAdd, real, binary(Op::kMultiply, emit({Op::kImaginary}), height));
  }

  int bare_argument(int depth) {
    const bool negative = accept('-');
    int value = power(depth);
    while (value >= 0) {
      skip_spaces();
      const bool goes_on = peek() == '\\' || (is_letter(peek()) && function_at(text_.substr(at_)).empty());
      if (!goes_on) break;
      value = binary(Op::kMultiply, value, power(depth));
    }
    // sin pi/6 is the sine of all of it.
    if (value >= 0 && peek() == '/' && is_digit(text_.substr(at_ + 1, 1).empty() ? ' ' : text_[at_ + 1]) &&
        program_[static_cast<std::size_t>(value)].op != Op::kNumber) {
      ++at_;
      value = binary(Op::kDivide, value, decimal());
    }
    return negative ? unary(Op::kNegate, value) : value;
  }

  int greek() {
    const std::string_view rest = text_.substr(at_ + 1);
    std::size_t end = 0;
    while (end < rest.size() && is_letter(rest[end])) ++end;
    const std::string_view letter = rest.substr(0, end);
    if (std::find(kGreek.begin(), kGreek.end(), letter) == kGreek.end()) return -1;
    at_ += 1 + end;
    std::string called = "\\" + std::string(letter);
    const std::size_t before = at_;
    skip_spaces();
    if (peek() == '_') {
      const std::string_view index = subscript();
      if (index.empty()) return -1;
      called += '_';
      called += index;
    } else {
      at_ = before;
    }
    return variable(called);
  }

  int root(int depth) {
    int degree = -1;
    if (accept('[')) {
      degree = sum(depth + 1);
      if (degree < 0 || !accept(']')) return -1;
    } else {
      degree = number(value_of(Rational::make(2)));
    }
    skip_spaces();
    const int of = parentheses(depth);
    return binary(Op::kRoot, of, degree);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool in_bars_ = false;
  Program program_;
};

}  // namespace

Program parse(std::string_view text) { return Parser(text).parse(); }

std::uint64_t code_of(std::string_view name) {
  std::uint64_t code = 0xcbf29ce484222325U;
  for (const char c : name) code = (code ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return code;
}

}  // namespace dts::expression
