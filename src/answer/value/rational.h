// Exact fractions of whole numbers, for answers that must be equal rather than close.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace dts {

__extension__ using Int128 = __int128;

// In lowest terms, with a positive denominator; both below 10^36, so that a product with ten still fits. Whatever would
// leave that range has no value: better none than a wrong one.
class Rational {
 public:
  Rational() = default;

  // Nothing when the denominator is zero or a number is too large.
  static std::optional<Rational> make(Int128 numerator, Int128 denominator = 1);
  // Digits with an optional point, and no sign: "12", "0.5", ".5".
  static std::optional<Rational> parse(std::string_view digits);

  friend bool operator==(const Rational&, const Rational&) = default;
  std::optional<Rational> operator+(const Rational& other) const;
  std::optional<Rational> operator-(const Rational& other) const;
  std::optional<Rational> operator*(const Rational& other) const;
  std::optional<Rational> operator/(const Rational& other) const;
  Rational operator-() const;

  std::optional<Rational> power(const Rational& exponent) const;  // nothing when it is not rational
  std::optional<Rational> root(int degree) const;                 // degree >= 2; nothing when it is not rational

  Int128 numerator() const { return numerator_; }
  Int128 denominator() const { return denominator_; }
  bool is_whole() const { return denominator_ == 1; }
  bool is_negative() const { return numerator_ < 0; }
  std::optional<int> small_whole() const;  // a whole number up to 4096 either way
  double approximate() const;
  // One text for each value: a decimal where it ends (-0.5, 12), else a fraction in lowest terms (1/3).
  std::string text() const;

 private:
  Int128 numerator_ = 0;
  Int128 denominator_ = 1;
};

}  // namespace dts
