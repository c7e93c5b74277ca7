#include "answer/value/rational.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>

#include "text/ascii.h"

namespace dts {
namespace {

using namespace text;

constexpr int kMaxDigits = 36;
constexpr int kMaxSmall = 4096;

constexpr Int128 power_of_ten(int exponent) {
  Int128 power = 1;
  for (int i = 0; i < exponent; ++i) power *= 10;
  return power;
}

constexpr Int128 kBound = power_of_ten(kMaxDigits);

constexpr Int128 magnitude(Int128 number) { return number < 0 ? -number : number; }
constexpr bool fits(Int128 number) { return magnitude(number) < kBound; }

Int128 greatest_common_divisor(Int128 a, Int128 b) {
  while (b != 0) {
    const Int128 rest = a % b;
    a = b;
    b = rest;
  }
  return magnitude(a);
}

std::optional<Int128> product(Int128 a, Int128 b) {
  if (b != 0 && magnitude(a) > (kBound - 1) / magnitude(b)) return std::nullopt;
  return a * b;
}

std::optional<Int128> whole_power(Int128 base, int exponent) {
  Int128 result = 1;
  for (int i = 0; i < exponent; ++i) {
    const std::optional<Int128> next = product(result, base);
    if (!next) return std::nullopt;
    if (*next == result) return result;  // 0 and 1
    result = *next;
  }
  return result;
}

// `number` >= 0. By bisection: a power that is out of bounds is too large.
std::optional<Int128> whole_root(Int128 number, int degree) {
  Int128 low = 0;
  Int128 high = number;
  while (low <= high) {
    const Int128 middle = low + (high - low) / 2;
    const std::optional<Int128> power = whole_power(middle, degree);
    if (power == number) return middle;
    if (power && *power < number) {
      low = middle + 1;
    } else {
      high = middle - 1;
    }
  }
  return std::nullopt;
}

std::string digits_of(Int128 number) {
  std::string digits;
  do {
    digits += static_cast<char>('0' + static_cast<int>(number % 10));
    number /= 10;
  } while (number > 0);
  std::reverse(digits.begin(), digits.end());
  return digits;
}

}  // namespace

std::optional<Rational> Rational::make(Int128 numerator, Int128 denominator) {
  if (denominator == 0) return std::nullopt;
  if (denominator < 0) {
    numerator = -numerator;
    denominator = -denominator;
  }
  const Int128 divisor = greatest_common_divisor(numerator, denominator);
  Rational result;
  result.numerator_ = numerator / divisor;
  result.denominator_ = denominator / divisor;
  if (!fits(result.numerator_) || !fits(result.denominator_)) return std::nullopt;
  return result;
}

std::optional<Rational> Rational::parse(std::string_view digits) {
  Int128 numerator = 0;
  Int128 denominator = 1;
  bool after_point = false;
  for (const char c : digits) {
    if (c == '.' && !after_point) {
      after_point = true;
      continue;
    }
    if (!is_digit(c)) return std::nullopt;
    numerator = numerator * 10 + (c - '0');
    if (after_point) denominator *= 10;
    if (!fits(numerator) || !fits(denominator)) return std::nullopt;
  }
  if (digits.size() <= (after_point ? 1U : 0U)) return std::nullopt;
  return make(numerator, denominator);
}

std::optional<Rational> Rational::operator+(const Rational& other) const {
  // Over the least common denominator: fractions of one kind stay small.
  const Int128 divisor = greatest_common_divisor(denominator_, other.denominator_);
  const std::optional<Int128> left = product(numerator_, other.denominator_ / divisor);
  const std::optional<Int128> right = product(other.numerator_, denominator_ / divisor);
  const std::optional<Int128> denominator = product(denominator_, other.denominator_ / divisor);
  if (!left || !right || !denominator) return std::nullopt;
  return make(*left + *right, *denominator);
}

std::optional<Rational> Rational::operator-(const Rational& other) const { return *this + -other; }

std::optional<Rational> Rational::operator*(const Rational& other) const {
  const Int128 across = greatest_common_divisor(numerator_, other.denominator_);
  const Int128 back = greatest_common_divisor(other.numerator_, denominator_);
  const std::optional<Int128> numerator = product(numerator_ / across, other.numerator_ / back);
  const std::optional<Int128> denominator = product(denominator_ / back, other.denominator_ / across);
  if (!numerator || !denominator) return std::nullopt;
  return make(*numerator, *denominator);
}

std::optional<Rational> Rational::operator/(const Rational& other) const {
  const std::optional<Rational> inverse = make(other.denominator_, other.numerator_);
  return inverse ? *this * *inverse : std::nullopt;
}

Rational Rational::operator-() const {
  Rational result = *this;
  result.numerator_ = -numerator_;
  return result;
}

std::optional<Rational> Rational::power(const Rational& exponent) const {
  if (!exponent.is_whole()) {
    const std::optional<int> degree = make(exponent.denominator_)->small_whole();
    if (!degree || is_negative()) return std::nullopt;
    const std::optional<Rational> base = root(*degree);
    return base ? base->power(*make(exponent.numerator_)) : std::nullopt;
  }
  const std::optional<int> times = exponent.small_whole();
  if (!times) return std::nullopt;
  const std::optional<Int128> numerator = whole_power(numerator_, std::abs(*times));
  const std::optional<Int128> denominator = whole_power(denominator_, std::abs(*times));
  if (!numerator || !denominator) return std::nullopt;
  return *times < 0 ? make(*denominator, *numerator) : make(*numerator, *denominator);
}

std::optional<Rational> Rational::root(int degree) const {
  if (is_negative()) {
    const std::optional<Rational> positive = degree % 2 == 1 ? (-*this).root(degree) : std::nullopt;
    return positive ? std::optional<Rational>(-*positive) : std::nullopt;
  }
  const std::optional<Int128> numerator = whole_root(numerator_, degree);
  const std::optional<Int128> denominator = whole_root(denominator_, degree);
  if (!numerator || !denominator) return std::nullopt;
  return make(*numerator, *denominator);
}

std::optional<int> Rational::small_whole() const {
  if (!is_whole() || magnitude(numerator_) > kMaxSmall) return std::nullopt;
  return static_cast<int>(numerator_);
}

double Rational::approximate() const { return static_cast<double>(numerator_) / static_cast<double>(denominator_); }

std::string Rational::text() const {
  const std::string sign = is_negative() ? "-" : "";
  const Int128 positive = magnitude(numerator_);
  Int128 other_factors = denominator_;  // of the denominator: without twos and fives the decimals end
  while (other_factors % 2 == 0) other_factors /= 2;
  while (other_factors % 5 == 0) other_factors /= 5;
  if (other_factors != 1) return sign + digits_of(positive) + "/" + digits_of(denominator_);
  std::string text = sign + digits_of(positive / denominator_);
  Int128 rest = positive % denominator_;
  if (rest != 0) text += '.';
  while (rest != 0) {
    rest *= 10;
    text += static_cast<char>('0' + static_cast<int>(rest / denominator_));
    rest %= denominator_;
  }
  return text;
}

}  // namespace dts
