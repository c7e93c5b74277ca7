// Real numbers of about 31 digits: an unevaluated sum of two doubles. For closed forms, where the sixteen digits of one
// double cannot tell an irrational number from its long decimal.
#pragma once

namespace dts {

struct DoubleDouble {
  double high = 0;
  double low = 0;  // at most half a unit in the last place of `high`
};

DoubleDouble operator+(DoubleDouble a, DoubleDouble b);
DoubleDouble operator-(DoubleDouble a, DoubleDouble b);
DoubleDouble operator*(DoubleDouble a, DoubleDouble b);
DoubleDouble operator/(DoubleDouble a, DoubleDouble b);
DoubleDouble operator-(DoubleDouble a);

inline constexpr DoubleDouble kPi = {3.141592653589793116e+00, 1.224646799147353207e-16};
inline constexpr DoubleDouble kEuler = {2.718281828459045091e+00, 1.445646891729250158e-16};

// Of finite arguments within the domain of each; not finite where the result does not fit a double.
DoubleDouble square_root(DoubleDouble a);  // a >= 0
DoubleDouble exponential(DoubleDouble a);
DoubleDouble logarithm(DoubleDouble a);  // a > 0
DoubleDouble sine(DoubleDouble a);       // |a| well below 10^15, as the error of the reduction grows with it
DoubleDouble cosine(DoubleDouble a);
DoubleDouble arc_tangent(DoubleDouble y, DoubleDouble x);  // of y/x in its quadrant; not both zero

}  // namespace dts
