// Exact arithmetic without growing numbers: the image of a value in two large finite fields.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "answer/value/rational.h"

namespace dts {

// In each of two fields of p^2 elements, p prime, about 2^60 and of the form 4k+3, so that i is in them. Whatever is
// made of whole numbers, letters, i and square roots of whole numbers by + - * / and whole powers has one image however
// it is written, and different values have different images but for one chance in 2^120. So x^2023 is told from x^2024,
// and one in the hundredth digit from zero.
class Residue {
 public:
  Residue() = default;
  static Residue whole(Int128 number);
  static std::optional<Residue> of(const Rational& number);  // nothing when a prime divides its denominator
  static Residue imaginary_unit();
  // Of no value: for a letter or pi, which no formula with whole numbers relates to another. One for each `code`.
  static Residue independent(std::uint64_t code);
  // sqrt(a)*sqrt(b) is sqrt(a*b), and that of a negative number i times the other's. Nothing when the number has prime
  // factors too large to find.
  static std::optional<Residue> square_root(const Rational& number);

  friend bool operator==(const Residue&, const Residue&) = default;
  Residue operator+(const Residue& other) const;
  Residue operator-(const Residue& other) const;
  Residue operator*(const Residue& other) const;
  std::optional<Residue> inverse() const;  // nothing for zero
  std::optional<Residue> power(Int128 exponent) const;

 private:
  struct Element {  // re + im*i
    std::uint64_t re = 0;
    std::uint64_t im = 0;
    friend bool operator==(const Element&, const Element&) = default;
  };

  std::array<Element, 2> elements_;
};

}  // namespace dts
