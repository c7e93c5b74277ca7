// The Beta distribution: what exact intervals of shares are made of.
#pragma once

namespace dts::eval {

// P(X <= x) for X ~ Beta(a, b); a, b > 0. Relative error about 1e-12.
double beta_cdf(double x, double a, double b);

// The x with P(X <= x) = p.
double beta_quantile(double p, double a, double b);

// The x with P(T <= x) = p for Student's t with `df` > 0 degrees of freedom; 0.5 <= p < 1.
double student_quantile(double p, double df);

}  // namespace dts::eval
