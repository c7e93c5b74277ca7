#include "answer/value/residue.h"

#include <cstddef>

#include "answer/value/scrambled.h"

namespace dts {
namespace {

__extension__ using Unsigned128 = unsigned __int128;

constexpr std::array<std::uint64_t, 2> kPrimes = {1358257346346187283U, 1627057515217520819U};
constexpr std::uint64_t kMaxDivisor = 2000;  // what is left without smaller factors, and below its square, is prime

std::uint64_t sum_of(std::uint64_t a, std::uint64_t b, std::uint64_t prime) {
  const std::uint64_t sum = a + b;  // both below 2^61
  return sum >= prime ? sum - prime : sum;
}

std::uint64_t minus(std::uint64_t a, std::uint64_t prime) { return a == 0 ? 0 : prime - a; }

std::uint64_t product_of(std::uint64_t a, std::uint64_t b, std::uint64_t prime) {
  return static_cast<std::uint64_t>(Unsigned128{a} * b % prime);
}

std::uint64_t power_of(std::uint64_t base, std::uint64_t exponent, std::uint64_t prime) {
  std::uint64_t result = 1;
  for (; exponent > 0; exponent >>= 1U) {
    if ((exponent & 1U) != 0) result = product_of(result, base, prime);
    base = product_of(base, base, prime);
  }
  return result;
}

// sqrt(number), number > 0, as a whole number times the product of square roots of primes.
std::optional<Residue> root_of_whole(Int128 number, Residue (*root_of_prime)(std::uint64_t)) {
  Residue root = Residue::whole(1);
  for (std::uint64_t divisor = 2; divisor <= kMaxDivisor; ++divisor) {
    const Int128 by = static_cast<Int128>(divisor);
    if (by * by > number) break;
    bool odd = false;
    while (number % by == 0) {
      number /= by;
      if (odd) root = root * Residue::whole(by);
      odd = !odd;
    }
    if (odd) root = root * root_of_prime(divisor);
  }
  if (number == 1) return root;
  if (const auto exact = Rational::make(number)->root(2)) return root * *Residue::of(*exact);
  if (number >= static_cast<Int128>(kMaxDivisor) * static_cast<Int128>(kMaxDivisor)) return std::nullopt;
  return root * root_of_prime(static_cast<std::uint64_t>(number));
}

}  // namespace

Residue Residue::whole(Int128 number) {
  Residue result;
  for (std::size_t i = 0; i < kPrimes.size(); ++i) {
    const Int128 prime = static_cast<Int128>(kPrimes[i]);
    result.elements_[i].re = static_cast<std::uint64_t>((number % prime + prime) % prime);
  }
  return result;
}

std::optional<Residue> Residue::of(const Rational& number) {
  if (number.is_whole()) return whole(number.numerator());
  const std::optional<Residue> inverse = whole(number.denominator()).inverse();
  return inverse ? std::optional(whole(number.numerator()) * *inverse) : std::nullopt;
}

Residue Residue::imaginary_unit() {
  Residue result;
  for (Element& element : result.elements_) element.im = 1;
  return result;
}

Residue Residue::independent(std::uint64_t code) {
  Residue result;
  for (std::size_t i = 0; i < kPrimes.size(); ++i) {
    result.elements_[i].re = scrambled(code ^ (i * 0x517cc1b727220a95U)) % kPrimes[i];
  }
  return result;
}

std::optional<Residue> Residue::square_root(const Rational& number) {
  const auto root_of_prime = [](std::uint64_t of) {
    Residue result;
    for (std::size_t i = 0; i < kPrimes.size(); ++i) {
      const std::uint64_t prime = kPrimes[i];
      const std::uint64_t root = power_of(of, (prime + 1) / 4, prime);
      if (product_of(root, root, prime) == of) {
        result.elements_[i].re = root;
      } else {  // of its negative there is one
        result.elements_[i].im = power_of(prime - of, (prime + 1) / 4, prime);
      }
    }
    return result;
  };
  if (number.numerator() == 0) return Residue{};
  const Int128 numerator = number.is_negative() ? -number.numerator() : number.numerator();
  const std::optional<Residue> above = root_of_whole(numerator, root_of_prime);
  const std::optional<Residue> below = root_of_whole(number.denominator(), root_of_prime);
  const std::optional<Residue> inverse = below ? below->inverse() : std::nullopt;
  if (!above || !inverse) return std::nullopt;
  const Residue root = *above * *inverse;
  return number.is_negative() ? root * imaginary_unit() : root;
}

Residue Residue::operator+(const Residue& other) const {
  Residue result;
  for (std::size_t i = 0; i < kPrimes.size(); ++i) {
    result.elements_[i] = {sum_of(elements_[i].re, other.elements_[i].re, kPrimes[i]),
                           sum_of(elements_[i].im, other.elements_[i].im, kPrimes[i])};
  }
  return result;
}

Residue Residue::operator-(const Residue& other) const { return *this + other * whole(-1); }

Residue Residue::operator*(const Residue& other) const {
  Residue result;
  for (std::size_t i = 0; i < kPrimes.size(); ++i) {
    const std::uint64_t prime = kPrimes[i];
    const Element& a = elements_[i];
    const Element& b = other.elements_[i];
    result.elements_[i] = {sum_of(product_of(a.re, b.re, prime), minus(product_of(a.im, b.im, prime), prime), prime),
                           sum_of(product_of(a.re, b.im, prime), product_of(a.im, b.re, prime), prime)};
  }
  return result;
}

std::optional<Residue> Residue::inverse() const {
  Residue result;
  for (std::size_t i = 0; i < kPrimes.size(); ++i) {
    const std::uint64_t prime = kPrimes[i];
    const Element& a = elements_[i];
    const std::uint64_t norm = sum_of(product_of(a.re, a.re, prime), product_of(a.im, a.im, prime), prime);
    if (norm == 0) return std::nullopt;
    const std::uint64_t inverse = power_of(norm, prime - 2, prime);
    result.elements_[i] = {product_of(a.re, inverse, prime), product_of(minus(a.im, prime), inverse, prime)};
  }
  return result;
}

std::optional<Residue> Residue::power(Int128 exponent) const {
  if (exponent < 0) {
    const std::optional<Residue> inverted = inverse();
    return inverted ? inverted->power(-exponent) : std::nullopt;
  }
  Residue result = whole(1);
  for (Residue base = *this; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) result = result * base;
    base = base * base;
  }
  return result;
}

}  // namespace dts
