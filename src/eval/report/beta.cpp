#include "eval/report/beta.h"

#include <cmath>

namespace dts::eval {
namespace {

// The continued fraction of the incomplete Beta function, evaluated from the front (Lentz); converges fast for
// x < (a + 1) / (a + b + 2).
double beta_fraction(double x, double a, double b) {
  constexpr double kTiny = 1e-300;  // in the place of a zero denominator
  const auto kept_from_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1;
  double d = 1 / kept_from_zero(1 - (a + b) * x / (a + 1));
  double fraction = d;
  for (int m = 1; m <= 1000; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / kept_from_zero(1 + even * d);
    c = kept_from_zero(1 + even / c);
    fraction *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / kept_from_zero(1 + odd * d);
    c = kept_from_zero(1 + odd / c);
    fraction *= d * c;
    if (std::abs(d * c - 1) < 1e-14) break;
  }
  return fraction;
}

// log of x^a (1-x)^b / B(a, b)
double log_power(double x, double a, double b) {
  return std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x);
}

}  // namespace

double beta_cdf(double x, double a, double b) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - beta_cdf(1 - x, b, a);
  return std::exp(log_power(x, a, b)) / a * beta_fraction(x, a, b);
}

double beta_quantile(double p, double a, double b) {
  // Newton's steps from the mean, halving the bracket where one would leave it.
  double low = 0;
  double high = 1;
  double x = a / (a + b);
  for (int i = 0; i < 300 && high - low > 1e-13 * high; ++i) {
    const double excess = beta_cdf(x, a, b) - p;
    (excess < 0 ? low : high) = x;
    const double density = std::exp(log_power(x, a, b)) / (x * (1 - x));
    const double next = x - excess / density;
    if (std::abs(next - x) < 1e-13 * x) return next;
    x = next > low && next < high ? next : (low + high) / 2;
  }
  return x;
}

double student_quantile(double p, double df) {
  // T^2 / (df + T^2) has the distribution Beta(1/2, df/2), and half of its tail is above.
  const double share = beta_quantile(2 * p - 1, 0.5, df / 2);
  return std::sqrt(df * share / (1 - share));
}

}  // namespace dts::eval
