#include "answer/value/value_arithmetic.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace dts {
namespace {

constexpr double kUnit = 1e-30;         // relative error of one operation
constexpr int kMaxFactorial = 5000;     // beyond it only text can tell
constexpr int kShortBinomial = 200;     // factors of one that is multiplied out, a digit kept at each
constexpr int kMaxWholePower = 100000;  // by repeated multiplication
constexpr double kMaxAngle = 1e12;      // beyond it too few digits are left

constexpr DoubleDouble kZeroDouble = {0, 0};
constexpr DoubleDouble kOneDouble = {1, 0};

double size_of(const Approximation& a) { return std::hypot(a.re.high, a.im.high); }

bool is_finite(const Approximation& a) {
  return std::isfinite(a.re.high) && std::isfinite(a.im.high) && std::isfinite(a.error);
}

bool is_real(const Approximation& a) { return std::abs(a.im.high) <= a.error; }

Approximation approximation_of(const Rational& rational) {
  const auto wide = [](Int128 number) {
    const double high = static_cast<double>(number);
    return DoubleDouble{high, static_cast<double>(number - static_cast<Int128>(high))};
  };
  const DoubleDouble ratio = wide(rational.numerator()) / wide(rational.denominator());
  return {ratio, kZeroDouble, std::abs(ratio.high) * kUnit};
}

Approximation with_rounding(Approximation a) {
  a.error += size_of(a) * kUnit;
  return a;
}

Approximation plus(const Approximation& a, const Approximation& b) {
  return with_rounding({a.re + b.re, a.im + b.im, a.error + b.error});
}

Approximation times(const Approximation& a, const Approximation& b) {
  double error = size_of(a) * b.error + size_of(b) * a.error + a.error * b.error;
  // Too small to be told from zero, which it is not.
  constexpr double kSmallest = 1e-290;
  if (size_of(a) > 0 && size_of(b) > 0 && size_of(a) * size_of(b) < kSmallest) error = HUGE_VAL;
  if (a.im.high == 0 && b.im.high == 0) return with_rounding({a.re * b.re, kZeroDouble, error});
  Approximation product = {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re, error};
  product.error += size_of(a) * size_of(b) * kUnit;
  return product;
}

// Nothing when it may be zero.
std::optional<Approximation> reciprocal(const Approximation& a) {
  const double size = size_of(a);
  if (size <= 4 * a.error || size == 0) return std::nullopt;
  const double error = a.error / size / (size - a.error);
  if (a.im.high == 0) return with_rounding({kOneDouble / a.re, kZeroDouble, error});
  const DoubleDouble norm = a.re * a.re + a.im * a.im;
  return with_rounding({a.re / norm, -a.im / norm, error});
}

std::optional<Approximation> exponential_of(const Approximation& a) {
  constexpr double kLeast = -660;  // e to less is too small to be told from zero
  if (std::abs(a.im.high) > kMaxAngle || a.error > 1 || a.re.high < kLeast) return std::nullopt;
  const DoubleDouble radius = exponential(a.re);
  const double error = 2 * radius.high * (a.error + std::abs(a.re.high) * kUnit + std::abs(a.im.high) * kUnit);
  if (a.im.high == 0) return with_rounding({radius, kZeroDouble, error});
  return with_rounding({radius * cosine(a.im), radius * sine(a.im), error});
}

// Of a positive number.
std::optional<Approximation> logarithm_of(const Approximation& a) {
  if (!is_real(a) || a.re.high <= 4 * a.error || a.re.high <= 0) return std::nullopt;
  Approximation result = with_rounding({logarithm(a.re), kZeroDouble, 2 * a.error / a.re.high});
  result.error += kUnit;
  return result;
}

// The principal one.
std::optional<Approximation> root_of(const Approximation& a) {
  const double size = size_of(a);
  if (size == 0 && a.error == 0) return a;
  if (size <= 4 * a.error) return Approximation{kZeroDouble, kZeroDouble, 3 * std::sqrt(a.error)};
  const double error = a.error / std::sqrt(size);
  if (a.im.high == 0 && a.re.high > 0) return with_rounding({square_root(a.re), kZeroDouble, error});
  if (a.im.high == 0) return with_rounding({kZeroDouble, square_root(-a.re), error});
  const DoubleDouble half = {0.5, 0};
  const DoubleDouble radius = square_root(a.re * a.re + a.im * a.im);
  const DoubleDouble re = square_root((radius + a.re) * half);
  const DoubleDouble im = square_root((radius - a.re) * half);
  // Near an axis one of them is the root of what is left of a cancellation.
  const double lost = std::sqrt(radius.high * kUnit);
  return with_rounding({re, a.im.high < 0 ? -im : im, error + (std::min(re.high, im.high) < 1e-8 ? lost : 0)});
}

std::optional<Approximation> power_of(Approximation base, int exponent) {
  if (exponent < 0) {
    const std::optional<Approximation> inverse = reciprocal(base);
    return inverse ? power_of(*inverse, -exponent) : std::nullopt;
  }
  Approximation result = {kOneDouble, kZeroDouble, 0};
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) result = times(result, base);
    if (exponent > 1) base = times(base, base);
  }
  return result;
}

struct Function {
  std::string_view name;
  // Of a real number, and the size of the derivative there.
  std::pair<DoubleDouble, double> (*apply)(DoubleDouble x);
};

using Result = std::pair<DoubleDouble, double>;
constexpr double kUndefined = std::numeric_limits<double>::infinity();
constexpr Result kNowhere = {kZeroDouble, kUndefined};

Result sine_of(DoubleDouble x) { return {sine(x), 1}; }
Result cosine_of(DoubleDouble x) { return {cosine(x), 1}; }

// What has its zero below the digits that are known is zero.
Result quotient(DoubleDouble above, DoubleDouble below, double x) {
  const double noise = (1 + std::abs(x)) * kUnit * 16;
  if (std::abs(below.high) <= noise) return kNowhere;
  const DoubleDouble ratio = above / below;
  return {ratio, (1 + ratio.high * ratio.high) / std::min(1.0, std::abs(below.high))};
}

Result arc_sine(DoubleDouble x) {
  const double room = 1 - std::abs(x.high);
  if (room < -1e-25) return kNowhere;
  const DoubleDouble other = square_root((kOneDouble - x) * (kOneDouble + x));
  return {arc_tangent(x, other), 1 / std::max(other.high, 1e-10)};
}

Result arc_cosine(DoubleDouble x) {
  const double room = 1 - std::abs(x.high);
  if (room < -1e-25) return kNowhere;
  const DoubleDouble other = square_root((kOneDouble - x) * (kOneDouble + x));
  return {arc_tangent(other, x), 1 / std::max(other.high, 1e-10)};
}

Result hyperbolic(DoubleDouble x, int kind) {
  const DoubleDouble up = exponential(x);
  const DoubleDouble down = exponential(-x);
  const DoubleDouble half = {0.5, 0};
  const double slope = (up.high + down.high) / 2;
  if (kind == 0) return {(up - down) * half, slope};
  if (kind == 1) return {(up + down) * half, slope};
  return {(up - down) / (up + down), 1};
}

Result inverse_hyperbolic(DoubleDouble x, int kind) {
  if (kind == 0) {
    const DoubleDouble positive = x.high < 0 ? -x : x;
    const DoubleDouble result = logarithm(positive + square_root(x * x + kOneDouble));
    return {x.high < 0 ? -result : result, 1};
  }
  if (kind == 1) {
    if (x.high < 1) return kNowhere;
    const DoubleDouble other = square_root(x * x - kOneDouble);
    return {logarithm(x + other), 1 / std::max(other.high, 1e-10)};
  }
  if (std::abs(x.high) >= 1) return kNowhere;
  const DoubleDouble ratio = (kOneDouble + x) / (kOneDouble - x);
  return {logarithm(ratio) * DoubleDouble{0.5, 0}, 1 / (1 - std::abs(x.high))};
}

Result reciprocal_of(Result of) {
  if (!std::isfinite(of.second) || std::abs(of.first.high) < 1e-25) return kNowhere;
  return {kOneDouble / of.first, of.second / of.first.high / of.first.high};
}

Result arc_tangent_of(DoubleDouble x) { return {arc_tangent(x, kOneDouble), 1}; }

constexpr std::array kFunctions = {
    Function{"arcsin", arc_sine},
    Function{"arccos", arc_cosine},
    Function{"arctan", arc_tangent_of},
    Function{"arccot",
             [](DoubleDouble x) {
               return Result{arc_tangent(kOneDouble, x), 1};
             }},
    Function{"arcsec", [](DoubleDouble x) { return x.high == 0 ? kNowhere : arc_cosine(kOneDouble / x); }},
    Function{"arccsc", [](DoubleDouble x) { return x.high == 0 ? kNowhere : arc_sine(kOneDouble / x); }},
    Function{"arcsinh", [](DoubleDouble x) { return inverse_hyperbolic(x, 0); }},
    Function{"arccosh", [](DoubleDouble x) { return inverse_hyperbolic(x, 1); }},
    Function{"arctanh", [](DoubleDouble x) { return inverse_hyperbolic(x, 2); }},
    Function{"sinh", [](DoubleDouble x) { return hyperbolic(x, 0); }},
    Function{"cosh", [](DoubleDouble x) { return hyperbolic(x, 1); }},
    Function{"tanh", [](DoubleDouble x) { return hyperbolic(x, 2); }},
    Function{"coth", [](DoubleDouble x) { return reciprocal_of(hyperbolic(x, 2)); }},
    Function{"sech", [](DoubleDouble x) { return reciprocal_of(hyperbolic(x, 1)); }},
    Function{"csch", [](DoubleDouble x) { return reciprocal_of(hyperbolic(x, 0)); }},
    Function{"sin", sine_of},
    Function{"cos", cosine_of},
    Function{"tan", [](DoubleDouble x) { return quotient(sine(x), cosine(x), x.high); }},
    Function{"cot", [](DoubleDouble x) { return quotient(cosine(x), sine(x), x.high); }},
    Function{"sec", [](DoubleDouble x) { return quotient(kOneDouble, cosine(x), x.high); }},
    Function{"csc", [](DoubleDouble x) { return quotient(kOneDouble, sine(x), x.high); }},
};

constexpr std::array<std::string_view, 5> kListFunctions = {"gcd", "lcm", "min", "max", "gcf"};

std::optional<Rational> whole_list(std::string_view function, const Rational& a, const Rational& b) {
  if (!a.is_whole() || !b.is_whole()) return std::nullopt;
  const auto magnitude = [](Int128 x) { return x < 0 ? -x : x; };
  Int128 x = magnitude(a.numerator());
  Int128 y = magnitude(b.numerator());
  while (y != 0) x = std::exchange(y, x % y);
  if (function != "lcm") return Rational::make(x);
  if (x == 0) return Rational::make(0);
  const auto quotient = Rational::make(magnitude(a.numerator()) / x);
  const auto product = quotient ? *quotient * b : std::nullopt;
  return product && product->is_negative() ? std::optional(-*product) : product;
}

}  // namespace

bool Value::is_infinite() const { return number && std::isinf(number->re.high); }

double Value::approximate() const { return exact ? exact->approximate() : number ? number->re.high : 0; }

// The rest follows from the exact value, where it is asked for.
Maybe value_of(const std::optional<Rational>& rational) {
  if (!rational) return std::nullopt;
  return Value{rational, std::nullopt, std::nullopt, true};
}

Value filled(Value value) {
  if (!value.exact) return value;
  value.residue = Residue::of(*value.exact);
  value.number = approximation_of(*value.exact);
  return value;
}

Maybe value_of(Approximation number, std::optional<Residue> residue, bool constant) {
  Value value;
  value.residue = residue;
  value.constant = constant;
  if (is_finite(number)) value.number = number;
  if (!value.residue && !value.number) return std::nullopt;
  return value;
}

Value infinite_value() {
  return Value{std::nullopt, std::nullopt, Approximation{{std::numeric_limits<double>::infinity(), 0}, kZeroDouble, 0},
               true};
}

namespace {

template <typename Exact, typename Field, typename Near>
Maybe combine(const Maybe& a, const Maybe& b, Exact exact, Field field, Near near) {
  if (!a || !b || a->is_infinite() || b->is_infinite()) return std::nullopt;
  Value result;
  result.constant = a->constant && b->constant;
  if (a->exact && b->exact) result.exact = exact(*a->exact, *b->exact);
  if (result.exact) return result;
  result.rational = (a->exact || a->rational) && (b->exact || b->rational);
  const Value left = filled(*a);
  const Value right = filled(*b);
  if (left.residue && right.residue) result.residue = field(*left.residue, *right.residue);
  if (left.number && right.number) result.number = near(*left.number, *right.number);
  if (result.number && !is_finite(*result.number)) result.number.reset();
  if (!result.residue && !result.number) return std::nullopt;
  return result;
}

bool is_zero(const Value& value) { return value.exact && value.exact->numerator() == 0; }

Maybe from_number(const std::optional<Approximation>& number, bool constant) {
  return number && is_finite(*number) ? value_of(*number, std::nullopt, constant) : std::nullopt;
}

}  // namespace

Maybe add(const Maybe& a, const Maybe& b) {
  return combine(
      a, b, [](const Rational& x, const Rational& y) { return x + y; },
      [](const Residue& x, const Residue& y) { return std::optional(x + y); },
      [](const Approximation& x, const Approximation& y) { return std::optional(plus(x, y)); });
}

Maybe multiply(const Maybe& a, const Maybe& b) {
  return combine(
      a, b, [](const Rational& x, const Rational& y) { return x * y; },
      [](const Residue& x, const Residue& y) { return std::optional(x * y); },
      [](const Approximation& x, const Approximation& y) { return std::optional(times(x, y)); });
}

Maybe divide(const Maybe& a, const Maybe& b) {
  // What is zero only in the fields is zero.
  if (!b || is_zero(*b) || (b->residue && *b->residue == Residue{})) return std::nullopt;
  return combine(
      a, b, [](const Rational& x, const Rational& y) { return x / y; },
      [](const Residue& x, const Residue& y) {
        const std::optional<Residue> inverse = y.inverse();
        return inverse ? std::optional(x * *inverse) : std::nullopt;
      },
      [](const Approximation& x, const Approximation& y) {
        const std::optional<Approximation> inverse = reciprocal(y);
        return inverse ? std::optional(times(x, *inverse)) : std::nullopt;
      });
}

Maybe negate(const Maybe& a) {
  if (!a) return std::nullopt;
  Value result = *a;
  if (result.exact) result.exact = -*result.exact;
  if (result.residue) result.residue = Residue{} - *result.residue;
  if (result.number) {
    result.number->re = -result.number->re;
    result.number->im = -result.number->im;
  }
  return result;
}

Maybe raise(const Maybe& of, const Maybe& to) {
  if (!of || !to || of->is_infinite() || to->is_infinite()) return std::nullopt;
  const bool constant = of->constant && to->constant;
  Value result;
  result.constant = constant;
  if (of->exact && to->exact) {
    if (is_zero(*of) && to->exact->is_negative()) return std::nullopt;
    if (const auto exact = of->exact->power(*to->exact)) {
      result = *value_of(exact);
      result.constant = constant;
      return result;
    }
  }
  const Maybe base = filled(*of);
  const Maybe exponent = filled(*to);
  if (exponent->exact && exponent->exact->is_whole()) {
    result.rational = base->exact || base->rational;
    if (base->residue) result.residue = base->residue->power(exponent->exact->numerator());
    const std::optional<Rational> whole = exponent->exact;
    const bool short_power = whole->numerator() >= -kMaxWholePower && whole->numerator() <= kMaxWholePower;
    if (base->number && short_power) {
      result.number = power_of(*base->number, static_cast<int>(whole->numerator()));
    } else if (base->number && base->number->re.high > 0 && is_real(*base->number)) {
      const auto log = logarithm_of(*base->number);
      if (log) result.number = exponential_of(times(*log, approximation_of(*whole)));
    }
  } else if (base->exact && exponent->exact && exponent->exact->denominator() == 2 && !base->exact->is_negative()) {
    const std::optional<Residue> root = Residue::square_root(*base->exact);
    if (root) result.residue = root->power(exponent->exact->numerator());
  }
  if (!result.number && base->number && exponent->number && !(exponent->exact && exponent->exact->is_whole())) {
    const std::optional<Approximation> log = logarithm_of(*base->number);
    if (log) result.number = exponential_of(times(*log, *exponent->number));
  }
  if (result.number && !is_finite(*result.number)) result.number.reset();
  if (!result.residue && !result.number) return std::nullopt;
  return result;
}

Maybe take_root(const Maybe& radicand, const Maybe& degree) {
  if (!radicand || !degree || radicand->is_infinite() || degree->is_infinite()) return std::nullopt;
  const Maybe of = filled(*radicand);
  const std::optional<int> whole = degree->exact ? degree->exact->small_whole() : std::nullopt;
  if (!whole || *whole < 2) {
    if (degree->exact) return std::nullopt;
    return raise(of, divide(value_of(Rational::make(1)), degree));
  }
  Value result;
  result.constant = of->constant;
  if (of->exact) {
    if (const auto exact = of->exact->root(*whole)) {
      result = *value_of(exact);
      result.constant = of->constant;
      return result;
    }
    if (*whole == 2) result.residue = Residue::square_root(*of->exact);
  }
  if (of->number) {
    const bool negative = is_real(*of->number) && of->number->re.high < -4 * of->number->error;
    if (*whole == 2) {
      // Of letters it is that of real numbers: where it is none, nothing is said.
      if (!negative || of->constant) result.number = root_of(*of->number);
    } else if (is_real(*of->number)) {
      const Approximation inverse = approximation_of(*Rational::make(1, *whole));
      Approximation positive = *of->number;
      if (negative) positive.re = -positive.re;
      const auto log = logarithm_of(positive);
      if (log && (!negative || *whole % 2 == 1)) result.number = exponential_of(times(*log, inverse));
      if (negative && result.number) result.number->re = -result.number->re;
    }
  }
  if (!result.residue && !result.number) return std::nullopt;
  return result;
}

Maybe factorial(const Maybe& of) {
  if (!of || !of->exact) return std::nullopt;
  const std::optional<int> n = of->exact->small_whole();
  if (!n || *n < 0 || *n > kMaxFactorial) return std::nullopt;
  // Once for all: whoever writes five hundred of them in a list is answered as fast as whoever writes one.
  static const std::vector<Value> factorials = [] {
    std::vector<Value> table = {*value_of(Rational::make(1))};
    for (int i = 1; i <= kMaxFactorial; ++i) table.push_back(*multiply(table.back(), value_of(Rational::make(i))));
    return table;
  }();
  Maybe result = factorials[static_cast<std::size_t>(*n)];
  result->constant = of->constant;
  return result;
}

Maybe binomial(const Maybe& n, const Maybe& k) {
  if (!n || !k || !n->exact || !k->exact) return std::nullopt;
  const std::optional<int> whole = k->exact->small_whole();
  if (!whole || !n->exact->is_whole()) return std::nullopt;
  const bool constant = n->constant && k->constant;
  const std::optional<int> of = n->exact->small_whole();
  if (*whole < 0 || (of && *of >= 0 && *whole > *of)) {
    Maybe zero = value_of(Rational::make(0));
    zero->constant = constant;
    return zero;
  }
  const int steps = of && *of >= 0 ? std::min(*whole, *of - *whole) : *whole;
  Maybe result = value_of(Rational::make(1));
  if (steps <= kShortBinomial) {
    for (int i = 0; i < steps; ++i) {
      result = multiply(result, value_of(*n->exact - *Rational::make(i)));
      result = divide(result, value_of(Rational::make(i + 1)));
    }
  } else if (of && *of <= kMaxFactorial) {
    result = divide(factorial(n), multiply(factorial(k), factorial(value_of(*n->exact - *k->exact))));
  } else {
    return std::nullopt;
  }
  if (result) result->constant = constant;
  return result;
}

Maybe absolute(const Maybe& of) {
  if (!of || of->is_infinite()) return std::nullopt;
  if (of->exact) return of->exact->is_negative() ? negate(of) : of;
  if (!of->number) return std::nullopt;
  if (of->number->im.high == 0) return of->number->re.high < 0 ? negate(of) : of;
  const DoubleDouble& re = of->number->re;
  const DoubleDouble& im = of->number->im;
  return from_number(with_rounding({square_root(re * re + im * im), kZeroDouble, of->number->error}), of->constant);
}

Maybe round_down(const Maybe& number, bool up) {
  if (!number || number->is_infinite()) return std::nullopt;
  const Maybe of = filled(*number);
  if (!of->number || !is_real(*of->number)) return std::nullopt;
  const double near = up ? std::ceil(of->number->re.high) : std::floor(of->number->re.high);
  if (of->exact) {
    const Int128 above = of->exact->numerator();
    const Int128 below = of->exact->denominator();
    Int128 whole = above / below;
    if (above % below != 0 && (above < 0) != up) whole += up ? 1 : -1;
    Maybe result = value_of(Rational::make(whole));
    if (result) result->constant = of->constant;
    return result;
  }
  // Where it is a whole number but for rounding, which one is below cannot be told.
  const double distance = std::abs(of->number->re.high - std::nearbyint(of->number->re.high));
  if (std::abs(near) > 1e15 || distance <= 1e-12) return std::nullopt;
  Maybe result = value_of(Rational::make(static_cast<Int128>(near)));
  if (result) result->constant = of->constant;
  return result;
}

bool is_function_name(std::string_view name) {
  if (name == "ln" || name == "log" || name == "lg" || name == "exp") return true;
  return std::any_of(kFunctions.begin(), kFunctions.end(), [&](const Function& one) { return one.name == name; });
}

Maybe apply(std::string_view function, const Maybe& of) {
  if (!of || of->is_infinite()) return std::nullopt;
  const Maybe argument = filled(*of);
  if (function == "exp") return raise(value_of({kEuler, kZeroDouble, 3 * kUnit}, std::nullopt, true), argument);
  if (!argument->number) return std::nullopt;
  const Approximation& at = *argument->number;
  if (function == "ln" || function == "log") return from_number(logarithm_of(at), argument->constant);
  if (function == "lg") {
    const auto ten = reciprocal(*logarithm_of(approximation_of(*Rational::make(10))));
    const auto log = logarithm_of(at);
    return log && ten ? from_number(times(*log, *ten), argument->constant) : std::nullopt;
  }
  const auto found =
      std::find_if(kFunctions.begin(), kFunctions.end(), [&](const Function& one) { return one.name == function; });
  if (found == kFunctions.end() || !is_real(at) || std::abs(at.re.high) > kMaxAngle) return std::nullopt;
  const auto [result, slope] = found->apply(at.re);
  if (!std::isfinite(slope)) return std::nullopt;
  const double error = slope * 2 * (at.error + (1 + std::abs(at.re.high)) * kUnit);
  return from_number(with_rounding({result, kZeroDouble, error}), argument->constant);
}

bool is_list_function_name(std::string_view name) {
  return std::find(kListFunctions.begin(), kListFunctions.end(), name) != kListFunctions.end();
}

Maybe apply_to_list(std::string_view function, std::span<const Maybe> arguments) {
  Maybe result;
  for (const Maybe& argument : arguments) {
    if (!argument || argument->is_infinite()) return std::nullopt;
    if (!result) {
      result = argument;
      continue;
    }
    const bool constant = result->constant && argument->constant;
    if (function == "min" || function == "max") {
      const Value so_far = filled(*result);
      const Value next = filled(*argument);
      if (!so_far.number || !next.number || !is_real(*so_far.number) || !is_real(*next.number)) return std::nullopt;
      if ((argument->approximate() < result->approximate()) == (function == "min")) result = argument;
    } else {
      if (!result->exact || !argument->exact) return std::nullopt;
      result = value_of(whole_list(function, *result->exact, *argument->exact));
      if (!result) return std::nullopt;
    }
    result->constant = constant;
  }
  return result;
}

}  // namespace dts
