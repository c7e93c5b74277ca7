#include "answer/value/double_double.h"

#include <cmath>

namespace dts {
namespace {

constexpr DoubleDouble kLn2 = {6.931471805599452862e-01, 2.319046813846299558e-17};
constexpr double kSmallest = 1e-34;  // terms of a series that no longer count beside one
constexpr int kHalvings = 9;         // of the argument of the exponential's series

// Both exact: the error of a sum, and of a product, is a double.
DoubleDouble two_sum(double a, double b) {
  const double sum = a + b;
  const double rounded = sum - a;
  return {sum, (a - (sum - rounded)) + (b - rounded)};
}

DoubleDouble quick_two_sum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

DoubleDouble two_product(double a, double b) {
  const double product = a * b;
  return {product, std::fma(a, b, -product)};
}

DoubleDouble times(DoubleDouble a, double power_of_two) { return {a.high * power_of_two, a.low * power_of_two}; }

struct SineCosine {
  DoubleDouble sine;
  DoubleDouble cosine;
};

DoubleDouble series(DoubleDouble first, DoubleDouble square, double from) {
  DoubleDouble sum = first;
  DoubleDouble term = first;
  for (double k = from; std::abs(term.high) > kSmallest; k += 2) {
    term = -(term * square) / DoubleDouble{k * (k + 1), 0};
    sum = sum + term;
  }
  return sum;
}

SineCosine sine_and_cosine(DoubleDouble a) {
  const DoubleDouble half_pi = times(kPi, 0.5);
  const double turns = std::nearbyint((a / half_pi).high);
  const DoubleDouble rest = a - half_pi * DoubleDouble{turns, 0};
  const DoubleDouble square = rest * rest;
  const DoubleDouble sine = series(rest, square, 2);
  const DoubleDouble cosine = series({1, 0}, square, 1);
  switch (static_cast<int>(std::fmod(std::fmod(turns, 4) + 4, 4))) {
    case 0:
      return {sine, cosine};
    case 1:
      return {cosine, -sine};
    case 2:
      return {-sine, -cosine};
    default:
      return {-cosine, sine};
  }
}

}  // namespace

DoubleDouble operator+(DoubleDouble a, DoubleDouble b) {
  DoubleDouble high = two_sum(a.high, b.high);
  const DoubleDouble low = two_sum(a.low, b.low);
  high = quick_two_sum(high.high, high.low + low.high);
  return quick_two_sum(high.high, high.low + low.low);
}

DoubleDouble operator-(DoubleDouble a) { return {-a.high, -a.low}; }

DoubleDouble operator-(DoubleDouble a, DoubleDouble b) { return a + -b; }

DoubleDouble operator*(DoubleDouble a, DoubleDouble b) {
  DoubleDouble product = two_product(a.high, b.high);
  product.low += a.high * b.low + a.low * b.high;
  return quick_two_sum(product.high, product.low);
}

DoubleDouble operator/(DoubleDouble a, DoubleDouble b) {
  const double first = a.high / b.high;
  DoubleDouble rest = a - b * DoubleDouble{first, 0};
  const double second = rest.high / b.high;
  rest = rest - b * DoubleDouble{second, 0};
  return quick_two_sum(first, second) + DoubleDouble{rest.high / b.high, 0};
}

DoubleDouble square_root(DoubleDouble a) {
  if (a.high <= 0) return {0, 0};
  DoubleDouble root = {std::sqrt(a.high), 0};
  for (int i = 0; i < 2; ++i) root = times(root + a / root, 0.5);
  return root;
}

DoubleDouble exponential(DoubleDouble a) {
  if (a.high > 709 || a.high < -700) return {a.high > 0 ? HUGE_VAL : 0, 0};
  const double power = std::nearbyint(a.high / kLn2.high);
  const DoubleDouble rest = times(a - kLn2 * DoubleDouble{power, 0}, std::ldexp(1.0, -kHalvings));
  // e^r - 1, so that doubling it back loses no digits.
  DoubleDouble less_one = rest;
  DoubleDouble term = rest;
  for (double k = 2; std::abs(term.high) > kSmallest * 1e-3; ++k) {
    term = term * rest / DoubleDouble{k, 0};
    less_one = less_one + term;
  }
  for (int i = 0; i < kHalvings; ++i) less_one = times(less_one, 2) + less_one * less_one;
  return times(less_one + DoubleDouble{1, 0}, std::ldexp(1.0, static_cast<int>(power)));
}

DoubleDouble logarithm(DoubleDouble a) {
  DoubleDouble result = {std::log(a.high), 0};
  for (int i = 0; i < 2; ++i) result = result + a * exponential(-result) - DoubleDouble{1, 0};
  return result;
}

DoubleDouble sine(DoubleDouble a) { return sine_and_cosine(a).sine; }

DoubleDouble cosine(DoubleDouble a) { return sine_and_cosine(a).cosine; }

DoubleDouble arc_tangent(DoubleDouble y, DoubleDouble x) {
  const DoubleDouble radius = square_root(x * x + y * y);
  const DoubleDouble across = x / radius;
  const DoubleDouble up = y / radius;
  const DoubleDouble angle = {std::atan2(y.high, x.high), 0};
  const SineCosine at = sine_and_cosine(angle);
  // The sine of what is missing: exact to three times the digits of the first guess.
  return angle + (up * at.cosine - across * at.sine);
}

}  // namespace dts
