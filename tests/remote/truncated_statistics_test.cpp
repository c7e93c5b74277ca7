// Bounds of H and VE from a part of a distribution, against the whole of it.
#include "engine/remote/truncated_statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "oracle/distribution_oracle.h"

namespace dts::remote {
namespace {

std::vector<double> log_softmax(const std::vector<float>& logits) {
  double largest = -1e300;
  for (const float logit : logits) largest = std::max(largest, static_cast<double>(logit));
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - largest);
  std::vector<double> out;
  for (const float logit : logits) out.push_back(static_cast<double>(logit) - largest - std::log(sum));
  return out;
}

// Peaked, flat, heavy-tailed, stepped: what models do, and what they could do.
std::vector<float> draw_logits(std::mt19937_64& random, int n_vocab) {
  std::uniform_real_distribution<double> unit(1e-12, 1.0);
  std::vector<float> logits;
  const auto shape = static_cast<int>(unit(random) * 6);
  const double scale = std::exp(3 * unit(random) - 1);
  for (int i = 0; i < n_vocab; ++i) {
    double z = 0;
    if (shape == 0) z = scale * std::log(1 / unit(random));          // exponential
    if (shape == 1) z = scale * std::sqrt(-std::log(unit(random)));  // like a normal's tail
    if (shape == 2) z = -scale * std::log(i + 1.0);                  // Zipf
    if (shape == 3) z = i < 3 ? 8 : (i % 2 == 0 ? 0 : -scale * 10);  // a few over two plateaus
    if (shape == 4) z = 0.01 * unit(random);                         // flat
    if (shape == 5) z = i == 0 ? 20 : -20 * unit(random);            // one
    logits.push_back(static_cast<float>(z));
  }
  return logits;
}

TEST(TruncatedStatistics, ContainTheTruth) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  double width_sum = 0;
  int peaked = 0;
  for (int i = 0; i < 6000; ++i) {
    const int n_vocab = 5 + static_cast<int>(unit(random) * unit(random) * 3000);
    const std::vector<float> logits = draw_logits(random, n_vocab);
    std::vector<double> logprobs = log_softmax(logits);
    std::sort(logprobs.rbegin(), logprobs.rend());
    const auto known = static_cast<std::size_t>(1 + unit(random) * std::min(n_vocab, 40));
    const bool size_known = i % 3 != 0;
    PredictionSpec spec;
    spec.stat_temperature = i % 5 == 0 ? static_cast<float>(0.3 + 1.5 * unit(random)) : 0.6F;
    const Prediction truth = predict_oracle(logits, spec, 0);
    const TruncatedDistribution seen{.logprobs = std::span(logprobs).first(std::min(known, logprobs.size())),
                                     .ranked = std::min(known, logprobs.size()),
                                     .n_vocab = size_known ? n_vocab : 0};
    const StatisticsBounds bounds = bound_statistics(seen, static_cast<double>(spec.stat_temperature));
    const Statistics taken = estimate_statistics(seen, bounds, static_cast<double>(spec.stat_temperature));
    ASSERT_TRUE(taken.entropy >= bounds.entropy.low && taken.entropy <= bounds.entropy.high) << i;
    ASSERT_TRUE(taken.varentropy >= bounds.varentropy.low && taken.varentropy <= bounds.varentropy.high) << i;
    const auto h = static_cast<double>(truth.entropy);
    const auto ve = static_cast<double>(truth.varentropy);
    const double slack = 1e-5 * (1 + h + ve);  // the oracle's float
    ASSERT_LE(bounds.entropy.low, h + slack) << i;
    ASSERT_GE(bounds.entropy.high, h - slack) << i;
    ASSERT_LE(bounds.varentropy.low, ve + slack) << i;
    ASSERT_GE(bounds.varentropy.high, ve - slack) << i;
    if (spec.stat_temperature < 1 || size_known) {
      ASSERT_TRUE(std::isfinite(bounds.entropy.high) && std::isfinite(bounds.varentropy.high)) << i;
    }
    // Where little mass is hidden at 0.6, the bounds say something.
    double mass = 0;
    for (std::size_t k = 0; k < std::min(known, logprobs.size()); ++k) mass += std::exp(logprobs[k]);
    if (mass > 0.99 && spec.stat_temperature == 0.6F) {
      width_sum += bounds.varentropy.high - bounds.varentropy.low;
      ++peaked;
    }
  }
  ASSERT_GT(peaked, 100);
  EXPECT_LT(width_sum / peaked, 0.2);
}

// As servers print them, and at temperatures at which a mere hair of a difference counts.
TEST(TruncatedStatistics, ContainTheTruthAtSmallTemperaturesAndFewDigits) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> unit(1e-12, 1.0);
  for (int i = 0; i < 8000; ++i) {
    const bool huge = i % 400 == 0;
    const int n_vocab = huge ? 150000 : 5 + static_cast<int>(unit(random) * unit(random) * 1500);
    std::vector<float> logits = draw_logits(random, n_vocab);
    const int twist = i % 7;
    for (int k = 0; k < n_vocab; ++k) {
      float& logit = logits[static_cast<std::size_t>(k)];
      if (twist == 1) logit = std::round(logit);              // ties
      if (twist == 2) logit = k < n_vocab / 3 ? 3.0F : 0.5F;  // plateaus
      if (twist == 3) logit *= 40;                            // next to nothing is hidden
      if (twist == 4) logit = k < 4 ? logit : -9000.0F;       // nothing is, and the rest is said to be -9999
    }
    std::vector<double> logprobs = log_softmax(logits);
    std::sort(logprobs.rbegin(), logprobs.rend());
    const auto seen = std::min(logprobs.size(), static_cast<std::size_t>(1 + unit(random) * 30));
    std::vector<double> printed(logprobs.begin(), logprobs.begin() + static_cast<std::ptrdiff_t>(seen));
    const double digits = std::vector{0.0, 1e-6, 1e-4, 1e-3, 1e-2}[static_cast<std::size_t>(i) % 5];
    for (double& logprob : printed) {
      if (digits > 0) logprob = std::round(logprob / digits) * digits;
      logprob = static_cast<double>(static_cast<float>(std::max(logprob, -1e4)));
    }
    PredictionSpec spec;
    spec.stat_temperature = static_cast<float>(0.05 * std::exp(3.5 * unit(random)));  // 0.05 to 1.65
    const auto t = static_cast<double>(spec.stat_temperature);
    const Prediction truth = predict_oracle(logits, spec, 0);
    const TruncatedDistribution known{.logprobs = printed,
                                      .ranked = seen,
                                      .n_vocab = i % 3 == 0 ? 0 : n_vocab,
                                      .rounding = printed_rounding(printed)};
    const StatisticsBounds bounds = bound_statistics(known, t);
    const Statistics taken = estimate_statistics(known, bounds, t);
    const auto inside = [](const Bounds& interval, double value, double slack) {
      return value >= interval.low - slack && value <= interval.high + slack;
    };
    ASSERT_TRUE(inside(bounds.entropy, taken.entropy, 0) && inside(bounds.varentropy, taken.varentropy, 0)) << i;
    const auto h = static_cast<double>(truth.entropy);
    const auto ve = static_cast<double>(truth.varentropy);
    const double slack = 2e-6 * (1 + h + ve);  // the oracle's float
    ASSERT_TRUE(inside(bounds.entropy, h, slack))
        << i << ": H " << h << " not in [" << bounds.entropy.low << ", " << bounds.entropy.high << "] at " << t;
    ASSERT_TRUE(inside(bounds.varentropy, ve, slack))
        << i << ": VE " << ve << " not in [" << bounds.varentropy.low << ", " << bounds.varentropy.high << "] at " << t;
    if (t < 1 || known.n_vocab > 0) {
      ASSERT_TRUE(std::isfinite(bounds.entropy.high + bounds.varentropy.high)) << i;
    }
  }
}

TEST(TruncatedStatistics, DigitsThatWerePrintedAreSeen) {
  const auto of = [](std::vector<double> logprobs) {
    for (double& logprob : logprobs) logprob = static_cast<double>(static_cast<float>(logprob));
    return printed_rounding(logprobs);
  };
  EXPECT_NEAR(of({-0.12, -2.5, -7.31}), 0.005, 1e-5);
  EXPECT_NEAR(of({0.0, -2.512, -7.31, -9999.0}), 0.0005, 1e-5);
  EXPECT_NEAR(of({-0.1234, -2.5}), 0.00005, 1e-5);
  EXPECT_EQ(of({-0.123456789, -2.7182818284}), 0);
  EXPECT_EQ(of({0.0}), 0) << "that says nothing";
}

TEST(TruncatedStatistics, AreExactWhenNothingIsHidden) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 200; ++i) {
    const std::vector<float> logits = draw_logits(random, 50);
    const std::vector<double> logprobs = log_softmax(logits);
    const StatisticsBounds bounds = bound_statistics({logprobs, logprobs.size(), 50}, 0.6);
    PredictionSpec spec;
    const Prediction truth = predict_oracle(logits, spec, 0);
    EXPECT_EQ(bounds.entropy.low, bounds.entropy.high);
    EXPECT_EQ(bounds.varentropy.low, bounds.varentropy.high);
    EXPECT_NEAR(bounds.entropy.low, truth.entropy, 1e-4);
    EXPECT_NEAR(bounds.varentropy.low, truth.varentropy, 1e-3);
  }
}

// A tail that does fall by one factor from rank to rank is estimated as it is.
TEST(TruncatedStatistics, TheEstimateIsExactForAGeometricTail) {
  for (const double factor : {0.3, 0.7, 0.95}) {
    std::vector<float> logits = {0.0F, -1.0F, -2.5F};
    for (int i = 1; i < 2000; ++i) logits.push_back(static_cast<float>(-2.5 + i * std::log(factor)));
    const std::vector<double> logprobs = log_softmax(logits);
    const Prediction truth = predict_oracle(logits, PredictionSpec{}, 0);
    for (const std::size_t seen : {std::size_t{3}, std::size_t{5}, std::size_t{20}}) {
      const TruncatedDistribution known{std::span(logprobs).first(seen), seen, static_cast<int>(logits.size())};
      const Statistics taken = estimate_statistics(known, bound_statistics(known, 0.6), 0.6);
      EXPECT_NEAR(taken.entropy, static_cast<double>(truth.entropy), 1e-3) << factor << ", " << seen;
      EXPECT_NEAR(taken.varentropy, static_cast<double>(truth.varentropy), 1e-2) << factor << ", " << seen;
    }
  }
}

// So is one that goes on as the known ones do, and ends: many tokens that are nearly alike, as at a decision.
TEST(TruncatedStatistics, TheEstimateIsExactForAPlateauThatEnds) {
  for (const double fall : {0.0, 0.002, 0.01}) {
    for (const int alike : {30, 60, 200, 1500}) {
      std::vector<float> logits = {5.0F, 4.0F};
      for (int i = 0; i < alike; ++i) logits.push_back(static_cast<float>(1.0 - i * fall));
      for (int i = 0; i < 500; ++i) logits.push_back(-20.0F);
      const std::vector<double> logprobs = log_softmax(logits);
      const Prediction truth = predict_oracle(logits, PredictionSpec{}, 0);
      for (const std::size_t seen : {std::size_t{10}, std::size_t{20}}) {
        const TruncatedDistribution known{std::span(logprobs).first(seen), seen, static_cast<int>(logits.size())};
        const Statistics taken = estimate_statistics(known, bound_statistics(known, 0.6), 0.6);
        EXPECT_NEAR(taken.entropy, static_cast<double>(truth.entropy), 5e-3) << fall << ", " << alike << ", " << seen;
        EXPECT_NEAR(taken.varentropy, static_cast<double>(truth.varentropy), 2e-2) << fall << ", " << alike;
      }
    }
  }
}

// The worst that can hide: the bounds are reached, so they cannot be made tighter by much.
TEST(TruncatedStatistics, AreNearlyReached) {
  const double cap = 0.01;
  std::vector<double> known = {std::log(0.5), std::log(0.3), std::log(cap)};
  const double residual = 1 - 0.8 - cap;
  const auto exact = [&](int hidden) {  // all alike
    std::vector<float> logits;
    for (const double logprob : known) logits.push_back(static_cast<float>(logprob));
    for (int i = 0; i < hidden; ++i) logits.push_back(static_cast<float>(std::log(residual / hidden)));
    return predict_oracle(logits, PredictionSpec{}, 0);
  };
  const StatisticsBounds bounds = bound_statistics({known, 3, 0}, 0.6);
  double highest = 0;
  double lowest = 1e9;
  for (int hidden = 19; hidden < 40000; hidden = hidden * 5 / 4) {
    highest = std::max(highest, static_cast<double>(exact(hidden).entropy));
    lowest = std::min(lowest, static_cast<double>(exact(hidden).entropy));
  }
  EXPECT_NEAR(bounds.entropy.high, highest, 0.02);
  EXPECT_LE(bounds.entropy.low, lowest);
}

}  // namespace
}  // namespace dts::remote
