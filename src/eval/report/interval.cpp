#include "eval/report/interval.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "eval/report/beta.h"

namespace dts::eval {
namespace {

constexpr double kTail = 0.025;      // beyond each end
constexpr double kAgreement = 0.25;  // weight, in questions, of the belief that the seeds of a question agree

// What is known of one stratum's mean.
struct Moments {
  double mean = 0;
  double variance = 0;  // of the mean, from that among questions; 0 for a single question
  double questions = 0;
  double rows = 0;
};

double identity(double value) { return value; }
double gain(double value) { return std::max(value, 0.0); }
double loss(double value) { return std::max(-value, 0.0); }

using Portion = double (*)(double);

// A question's total less what the mean would have it be.
std::vector<double> residuals(const Stratum& stratum, Portion part, double mean) {
  std::vector<double> out;
  out.reserve(stratum.clusters.size());
  for (const std::vector<double>& cluster : stratum.clusters) {
    double residual = 0;
    for (const double value : cluster) residual += part(value) - mean;
    out.push_back(residual);
  }
  return out;
}

Moments moments_of(const Stratum& stratum, Portion part) {
  Moments moments;
  moments.questions = static_cast<double>(stratum.clusters.size());
  for (const std::vector<double>& cluster : stratum.clusters) {
    for (const double value : cluster) moments.mean += part(value);
    moments.rows += static_cast<double>(cluster.size());
  }
  if (moments.rows == 0) return moments;
  moments.mean /= moments.rows;
  if (moments.questions < 2) return moments;
  double squares = 0;
  for (const double residual : residuals(stratum, part, moments.mean)) squares += residual * residual;
  moments.variance = squares * moments.questions / (moments.questions - 1) / (moments.rows * moments.rows);
  return moments;
}

// Independent trials that would know the mean as well as these rows do, but no more than there are rows.
//
// Near 0 and 1 few questions show a variance at all, and a lucky few make the seeds look independent. So the
// variance leans towards that of seeds which agree; with many such questions it does not matter how much. The weight is
// the least at which simulated coverage holds near the edges (interval_test.cpp).
double trials_worth(const Moments& moments) {
  if (moments.questions < 2 || moments.variance <= 0) return moments.questions;
  const double spread = moments.mean * (1 - moments.mean);
  const double telling = moments.questions * spread;   // questions that tell anything of the variance
  const double agreeing = spread / moments.questions;  // the variance, were all seeds of a question to agree
  const double variance = (telling * moments.variance + kAgreement * agreeing) / (telling + kAgreement);
  const double alike = spread / variance;
  const double t_rows = student_quantile(1 - kTail, std::max(1.0, moments.rows - 1));
  const double t_questions = student_quantile(1 - kTail, moments.questions - 1);
  return std::min(moments.rows, alike) * std::pow(t_rows / t_questions, 2);
}

Interval exact_share(const Moments& moments) {
  const double n = trials_worth(moments);
  const double right = std::clamp(moments.mean, 0.0, 1.0) * n;
  // Rounding must not make a mean of 1 fall short of it.
  const double low = moments.mean <= 1e-12 ? 0 : beta_quantile(kTail, right, n - right + 1);
  const double high = moments.mean >= 1 - 1e-12 ? 1 : beta_quantile(1 - kTail, right + 1, n - right);
  return {moments.mean, std::min(low, moments.mean), std::max(high, moments.mean)};
}

double correlation(const Stratum& stratum, const Moments& gains, const Moments& losses) {
  const std::vector<double> a = residuals(stratum, gain, gains.mean);
  const std::vector<double> b = residuals(stratum, loss, losses.mean);
  double ab = 0;
  double aa = 0;
  double bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += a[i] * b[i];
    aa += a[i] * a[i];
    bb += b[i] * b[i];
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

// Distance from the difference of two means to an end of its interval, from theirs.
double distance(double a, double b, double correlation) {
  return std::sqrt(std::max(0.0, a * a + b * b - 2 * correlation * a * b));
}

Interval difference_of(const Stratum& stratum) {
  const Moments gains = moments_of(stratum, gain);
  const Moments losses = moments_of(stratum, loss);
  const Interval up = exact_share(gains);
  const Interval down = exact_share(losses);
  const double together = correlation(stratum, gains, losses);
  const double mean = up.mean - down.mean;
  return {mean, std::max(-1.0, mean - distance(up.mean - up.low, down.high - down.mean, together)),
          std::min(1.0, mean + distance(up.high - up.mean, down.mean - down.low, together))};
}

double weight_of_all(std::span<const Stratum> strata) {
  double weights = 0;
  for (const Stratum& stratum : strata) weights += stratum.clusters.empty() ? 0.0 : stratum.weight;
  return weights;
}

Interval together(std::span<const Stratum> strata, const std::function<Interval(const Stratum&)>& interval_of) {
  const double weights = weight_of_all(strata);
  if (weights <= 0) return {};
  Interval all;
  double below = 0;
  double above = 0;
  for (const Stratum& stratum : strata) {
    if (stratum.clusters.empty()) continue;
    const double weight = stratum.weight / weights;
    const Interval part = interval_of(stratum);
    all.mean += weight * part.mean;
    below += std::pow(weight * (part.mean - part.low), 2);
    above += std::pow(weight * (part.high - part.mean), 2);
  }
  all.low = all.mean - std::sqrt(below);
  all.high = all.mean + std::sqrt(above);
  return all;
}

}  // namespace

double mean_of(std::span<const Stratum> strata) {
  const double weights = weight_of_all(strata);
  double mean = 0;
  for (const Stratum& stratum : strata) {
    if (!stratum.clusters.empty()) mean += stratum.weight / weights * moments_of(stratum, identity).mean;
  }
  return mean;
}

Interval share_interval(std::span<const Stratum> strata) {
  Interval out = together(strata, [](const Stratum& s) { return exact_share(moments_of(s, identity)); });
  out.low = std::max(0.0, out.low);
  out.high = std::min(1.0, out.high);
  return out;
}

Interval difference_interval(std::span<const Stratum> strata) { return together(strata, difference_of); }

Interval cost_interval(const Stratum& stratum) {
  const Moments moments = moments_of(stratum, identity);
  if (moments.questions < 2) return {moments.mean, moments.mean, moments.mean};
  const double half = student_quantile(1 - kTail, moments.questions - 1) * std::sqrt(moments.variance);
  return {moments.mean, std::max(0.0, moments.mean - half), moments.mean + half};
}

}  // namespace dts::eval
