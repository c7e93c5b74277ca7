#include "answer/expression.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>

#include "text/ascii.h"

namespace dts {
namespace {

using namespace text;

constexpr int kMaxDepth = 64;         // of parentheses and powers
constexpr int kMaxLettersInARow = 2;  // more are a word, not a product of variables
constexpr double kTolerance = 1e-9;   // relative
constexpr double kZero = 1e-14;       // what is left of zero where roots cancel

using Maybe = std::optional<Value>;

struct Function {
  std::string_view name;
  double (*apply)(double);
  double (*inverse)(double);  // what the power -1 means; none: the reciprocal
};

// Names that begin with another come before it.
constexpr std::array kFunctions = {
    Function{"sinh", [](double x) { return std::sinh(x); }, [](double x) { return std::asinh(x); }},
    Function{"cosh", [](double x) { return std::cosh(x); }, [](double x) { return std::acosh(x); }},
    Function{"tanh", [](double x) { return std::tanh(x); }, [](double x) { return std::atanh(x); }},
    Function{"sin", [](double x) { return std::sin(x); }, [](double x) { return std::asin(x); }},
    Function{"cos", [](double x) { return std::cos(x); }, [](double x) { return std::acos(x); }},
    Function{"tan", [](double x) { return std::tan(x); }, [](double x) { return std::atan(x); }},
    Function{"cot", [](double x) { return 1 / std::tan(x); }, nullptr},
    Function{"sec", [](double x) { return 1 / std::cos(x); }, nullptr},
    Function{"csc", [](double x) { return 1 / std::sin(x); }, nullptr},
    Function{"arcsin", [](double x) { return std::asin(x); }, nullptr},
    Function{"arccos", [](double x) { return std::acos(x); }, nullptr},
    Function{"arctan", [](double x) { return std::atan(x); }, nullptr},
    Function{"ln", [](double x) { return std::log(x); }, nullptr},
    Function{"log", [](double x) { return std::log(x); }, nullptr},
    Function{"exp", [](double x) { return std::exp(x); }, nullptr},
};

constexpr std::array<std::string_view, 21> kGreek = {
    "alpha", "beta", "gamma", "delta", "epsilon", "varepsilon", "zeta", "eta",    "theta", "kappa", "lambda",
    "mu",    "nu",   "xi",    "rho",   "sigma",   "tau",        "phi",  "varphi", "psi",   "omega"};

const Function* function_at(std::string_view text) {
  for (const Function& function : kFunctions) {
    if (text.starts_with(function.name)) return &function;
  }
  return nullptr;
}

Maybe exactly(const std::optional<Rational>& rational) {
  if (!rational) return std::nullopt;
  return Value{rational, rational->approximate(), true};
}

Maybe about(double number, bool constant) {
  if (!std::isfinite(number)) return std::nullopt;
  return Value{std::nullopt, number, constant};
}

template <typename Exact, typename About>
Maybe combine(const Maybe& a, const Maybe& b, Exact exact, About approximately) {
  if (!a || !b || !std::isfinite(a->approximate) || !std::isfinite(b->approximate)) return std::nullopt;
  if (a->exact && b->exact) return exactly(exact(*a->exact, *b->exact));
  return about(approximately(a->approximate, b->approximate), a->constant && b->constant);
}

Maybe add(const Maybe& a, const Maybe& b) {
  return combine(
      a, b, [](const Rational& x, const Rational& y) { return x + y; }, [](double x, double y) { return x + y; });
}

Maybe multiply(const Maybe& a, const Maybe& b) {
  return combine(
      a, b, [](const Rational& x, const Rational& y) { return x * y; }, [](double x, double y) { return x * y; });
}

Maybe divide(const Maybe& a, const Maybe& b) {
  return combine(
      a, b, [](const Rational& x, const Rational& y) { return x / y; }, [](double x, double y) { return x / y; });
}

Maybe negate(const Maybe& a) {
  if (!a) return std::nullopt;
  Value result = *a;
  if (result.exact) result.exact = -*result.exact;
  result.approximate = -result.approximate;
  return result;
}

Maybe raise(const Maybe& base, const Maybe& exponent) {
  if (!base || !exponent || !std::isfinite(base->approximate) || !std::isfinite(exponent->approximate)) {
    return std::nullopt;
  }
  if (base->exact && exponent->exact) {
    if (const auto exact = base->exact->power(*exponent->exact)) return exactly(exact);
    // A whole power of a rational is rational: it was too large.
    if (exponent->exact->is_whole()) return std::nullopt;
  }
  return about(std::pow(base->approximate, exponent->approximate), base->constant && exponent->constant);
}

Maybe take_root(const Maybe& of, int degree) {
  if (!of || !std::isfinite(of->approximate)) return std::nullopt;
  if (of->exact) {
    if (const auto exact = of->exact->root(degree)) return exactly(exact);
  }
  const bool odd_of_negative = of->approximate < 0 && degree % 2 == 1;
  const double root = std::pow(odd_of_negative ? -of->approximate : of->approximate, 1.0 / degree);
  return about(odd_of_negative ? -root : root, of->constant);
}

class Parser {
 public:
  Parser(std::string_view text, std::uint32_t point) : text_(text), point_(point) {}

  Maybe parse() {
    const Maybe value = sum(0);
    skip_spaces();
    return at_ == text_.size() ? value : std::nullopt;
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

  Maybe sum(int depth) {
    Maybe value = term(depth);
    while (value) {
      if (accept('+')) {
        if (peek() == '-') return std::nullopt;  // plus or minus is two values
        value = add(value, term(depth));
      } else if (accept('-')) {
        if (peek() == '+') return std::nullopt;
        value = add(value, negate(term(depth)));
      } else {
        break;
      }
    }
    return value;
  }

  Maybe term(int depth) {
    Maybe value = factor(depth);
    while (value) {
      if (accept('*')) {
        value = multiply(value, factor(depth));
      } else if (accept('/')) {
        value = divide(value, factor(depth));
      } else if (skip_spaces(); peek() == '(' || peek() == '\\' || is_letter(peek())) {
        value = multiply(value, power(depth));
      } else {
        break;
      }
    }
    return value;
  }

  Maybe factor(int depth) {
    bool negative = false;
    for (;;) {
      if (accept('-')) {
        if (peek() == '+') return std::nullopt;
        negative = !negative;
      } else if (accept('+')) {
        if (peek() == '-') return std::nullopt;
      } else {
        break;
      }
    }
    const Maybe value = power(depth);
    return negative ? negate(value) : value;
  }

  Maybe power(int depth) {
    if (depth >= kMaxDepth) return std::nullopt;
    const Maybe base = atom(depth + 1);
    if (!base || !accept('^')) return base;
    const bool negative = accept('-');
    const Maybe exponent = power(depth + 1);
    return raise(base, negative ? negate(exponent) : exponent);
  }

  Maybe atom(int depth) {
    skip_spaces();
    if (is_digit(peek()) || peek() == '.') return number();
    if (is_letter(peek())) return name(depth);
    if (peek() == '\\') return greek();
    return peek() == '(' ? parentheses(depth) : std::nullopt;
  }

  Maybe parentheses(int depth) {
    if (!accept('(')) return std::nullopt;
    const Maybe value = sum(depth);
    return accept(')') ? value : std::nullopt;
  }

  Maybe number() {
    const std::size_t begin = at_;
    digits();
    const bool whole = peek() != '.';
    if (!whole) {
      ++at_;
      digits();
    }
    std::optional<Rational> value = Rational::parse(text_.substr(begin, at_ - begin));
    if (const auto exponent = decimal_exponent()) {
      const auto scale = Rational::make(10)->power(*Rational::make(*exponent));
      value = value && scale ? *value * *scale : std::nullopt;
    } else if (const auto fraction = whole ? mixed_fraction() : std::nullopt) {
      value = value ? *value + *fraction : std::nullopt;
    }
    return exactly(value);
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
        if (fraction && fraction->approximate() < 1) return fraction;
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

  Maybe name(int depth) {
    if (accept_word("sqrt")) return root(depth);
    if (accept_word("infinity")) return Value{std::nullopt, std::numeric_limits<double>::infinity(), true};
    if (accept_word("pi")) return Value{std::nullopt, std::numbers::pi, true};
    if (const Function* function = function_at(text_.substr(at_))) return applied(*function, depth);
    if (is_word_here()) return std::nullopt;
    const char letter = text_[at_++];
    if (letter == 'e') return Value{std::nullopt, std::numbers::e, true};
    return Value{std::nullopt, variable(static_cast<unsigned char>(to_lower(letter))), false};
  }

  // More letters in a row than a product has, up to the next name.
  bool is_word_here() const {
    std::size_t end = at_;
    while (end < text_.size() && is_letter(text_[end]) && end - at_ <= kMaxLettersInARow) {
      const std::string_view rest = text_.substr(end);
      if (rest.starts_with("sqrt") || rest.starts_with("pi") || rest.starts_with("infinity")) break;
      if (end > at_ && function_at(rest) != nullptr) break;
      ++end;
    }
    const bool goes_on = at_ > 0 && is_letter(text_[at_ - 1]);  // counted already, from its beginning
    return !goes_on && end - at_ > kMaxLettersInARow;
  }

  // "expected": more letters right behind a function's name than the product it may be of.
  bool is_word_after() const {
    std::size_t end = at_;
    while (end < text_.size() && is_letter(text_[end]) && end - at_ <= kMaxLettersInARow) {
      if (text_.substr(end).starts_with("pi") || text_.substr(end).starts_with("sqrt")) break;
      if (function_at(text_.substr(end)) != nullptr) break;
      ++end;
    }
    return end - at_ > kMaxLettersInARow;
  }

  // sin(x)y is a product, sin 2x the sine of one.
  Maybe applied(const Function& function, int depth) {
    at_ += function.name.size();
    if (is_word_after()) return std::nullopt;
    Maybe base;
    if (function.name == "log" && accept('_')) {
      base = atom(depth + 1);
      if (!base) return std::nullopt;
    }
    Maybe exponent;
    if (accept('^')) {
      const bool negative = accept('-');
      exponent = atom(depth + 1);
      if (negative) exponent = negate(exponent);
      if (!exponent) return std::nullopt;
    }
    skip_spaces();
    Maybe argument = peek() == '(' ? parentheses(depth + 1) : bare_argument(depth + 1);
    if (!argument || !std::isfinite(argument->approximate)) return std::nullopt;
    const bool inverted = exponent && exponent->constant && exponent->approximate == -1 && function.inverse != nullptr;
    const Maybe value =
        about((inverted ? function.inverse : function.apply)(argument->approximate), argument->constant);
    const Maybe based = base ? divide(value, about(std::log(base->approximate), base->constant)) : value;
    return exponent && !inverted ? raise(based, exponent) : based;
  }

  Maybe bare_argument(int depth) {
    Maybe value = power(depth);
    while (value) {
      skip_spaces();
      const bool goes_on = peek() == '\\' || (is_letter(peek()) && function_at(text_.substr(at_)) == nullptr);
      if (!goes_on) break;
      value = multiply(value, power(depth));
    }
    return value;
  }

  Maybe greek() {
    const std::string_view rest = text_.substr(at_ + 1);
    std::size_t end = 0;
    while (end < rest.size() && is_letter(rest[end])) ++end;
    const auto found = std::find(kGreek.begin(), kGreek.end(), rest.substr(0, end));
    if (found == kGreek.end()) return std::nullopt;
    at_ += 1 + end;
    return Value{std::nullopt, variable(0x80U + static_cast<unsigned>(found - kGreek.begin())), false};
  }

  double variable(unsigned code) const {
    // Scrambled (SplitMix64), so that no short formula relates the values of two letters. At the first point all are
    // positive, where every root is defined; elsewhere either sign, which tells sqrt(x^2) from x.
    std::uint64_t bits = (std::uint64_t{point_} << 8U) + code;
    bits = (bits + 1) * 0x9e3779b97f4a7c15U;
    bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9U;
    bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebU;
    const double size = 0.5 + static_cast<double>(bits >> 11U) * 0x1p-52;
    return point_ > 0 && (bits & 1U) != 0 ? -size : size;
  }

  Maybe root(int depth) {
    int degree = 2;
    if (accept('[')) {
      const std::size_t begin = at_;
      while (at_ < text_.size() && text_[at_] != ']') ++at_;
      const auto written = Rational::parse(text_.substr(begin, at_ - begin));
      const auto small = written ? written->small_whole() : std::nullopt;
      if (!small || *small < 2 || !accept(']')) return std::nullopt;
      degree = *small;
    }
    skip_spaces();
    return take_root(parentheses(depth), degree);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t point_;
};

}  // namespace

std::optional<Value> evaluate(std::string_view expression, std::uint32_t point) {
  return Parser(expression, point).parse();
}

bool same_value(const Value& a, const Value& b) {
  if (a.exact && b.exact) return *a.exact == *b.exact;
  if (std::isinf(a.approximate) || std::isinf(b.approximate)) return a.approximate == b.approximate;
  const double scale = std::max(std::abs(a.approximate), std::abs(b.approximate));
  return std::abs(a.approximate - b.approximate) <= std::max(kTolerance * scale, kZero);
}

}  // namespace dts
