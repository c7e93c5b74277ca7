#include "eval/report/interval.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>

#include "eval/report/beta.h"

namespace dts::eval {
namespace {

std::span<const Stratum> only(const Stratum& stratum) { return {&stratum, 1}; }

Stratum constant(std::size_t questions, std::size_t seeds, double value) {
  return {1, std::vector(questions, std::vector(seeds, value))};
}

// --- the distributions, against tables and against their definitions ---

TEST(Beta, AgreesWithItsDensity) {
  for (const auto& [a, b] : {std::pair(0.5, 3.0), {2.0, 5.0}, {30.5, 1.2}, {100.0, 100.0}}) {
    constexpr int kParts = 200000;
    double all = 0;
    double below = 0;
    const double x = a / (a + b) * 0.9;
    for (int i = 0; i < kParts; ++i) {
      const double at = std::pow((i + 0.5) / kParts, 2);  // finer near 0, where a < 1 has a pole
      const double density = std::exp((a - 1) * std::log(at) + (b - 1) * std::log1p(-at)) * std::sqrt(at);
      all += density;
      if (at <= x) below += density;
    }
    EXPECT_NEAR(beta_cdf(x, a, b), below / all, 2e-4) << a << ' ' << b;
  }
}

TEST(Beta, TheQuantileIsTheInverse) {
  for (const double a : {0.3, 1.0, 4.5, 200.0}) {
    for (const double b : {0.5, 1.0, 31.0, 990.0}) {
      for (const double p : {0.001, 0.025, 0.5, 0.975, 0.999}) {
        const double x = beta_quantile(p, a, b);
        EXPECT_NEAR(beta_cdf(x, a, b), p, 1e-7) << a << ' ' << b << ' ' << p;
      }
    }
  }
}

TEST(Beta, StudentsQuantilesAreThoseOfTables) {
  EXPECT_NEAR(student_quantile(0.975, 1), 12.7062, 1e-3);
  EXPECT_NEAR(student_quantile(0.975, 29), 2.0452, 1e-4);
  EXPECT_NEAR(student_quantile(0.975, 100000), 1.95998, 1e-4);
}

// --- intervals ---

TEST(Interval, IsClopperAndPearsonsForOneSeed) {
  Stratum stratum = constant(30, 1, 1.0);
  EXPECT_NEAR(share_interval(only(stratum)).low, 0.8843, 1e-4);
  EXPECT_DOUBLE_EQ(share_interval(only(stratum)).high, 1.0);
  for (std::size_t i = 0; i < 15; ++i) stratum.clusters[i] = {0.0};
  const Interval half = share_interval(only(stratum));
  EXPECT_DOUBLE_EQ(half.mean, 0.5);
  EXPECT_NEAR(half.low, 0.3130, 5e-3);
  EXPECT_NEAR(half.high, 0.6870, 5e-3);
}

TEST(Interval, KnowsThatSeedsAreNotQuestions) {
  // Each question always right or always wrong: five seeds tell no more than one.
  Stratum five = constant(30, 5, 1.0);
  Stratum one = constant(30, 1, 1.0);
  EXPECT_NEAR(share_interval(only(five)).low, share_interval(only(one)).low, 1e-9);
  for (std::size_t i = 0; i < 30; i += 2) {
    five.clusters[i].assign(5, 0.0);
    one.clusters[i].assign(1, 0.0);
  }
  const Interval a = share_interval(only(five));
  const Interval b = share_interval(only(one));
  EXPECT_NEAR(a.high - a.low, b.high - b.low, 0.03);
  EXPECT_GE(a.high - a.low, b.high - b.low);  // and know the variance a little worse
}

TEST(Interval, NeverHasZeroWidth) {
  for (const std::size_t questions : {1U, 2U, 30U}) {
    for (const std::size_t seeds : {1U, 5U}) {
      for (const double value : {0.0, 0.5, 1.0}) {
        const Interval share = share_interval(only(constant(questions, seeds, value)));
        EXPECT_LT(share.low, share.high);
        EXPECT_LE(share.low, value);
        EXPECT_GE(share.high, value);
        for (const double sign : {-1.0, 1.0}) {
          const Interval difference = difference_interval(only(constant(questions, seeds, sign * value)));
          EXPECT_LT(difference.low, difference.high);
          EXPECT_LE(difference.low, sign * value);
          EXPECT_GE(difference.high, sign * value);
        }
      }
    }
  }
  const std::vector<Stratum> tasks = {constant(50, 1, 1.0), constant(50, 1, 0.0)};
  const Interval mean = share_interval(tasks);
  EXPECT_DOUBLE_EQ(mean.mean, 0.5);
  EXPECT_LT(mean.low, 0.48);
  EXPECT_GT(mean.high, 0.52);
}

TEST(Interval, OfADifferenceTurnsWithItsSign) {
  std::mt19937_64 rng(3);
  for (int round = 0; round < 200; ++round) {
    Stratum gains;
    Stratum losses;
    for (int i = 0; i < 20; ++i) {
      std::vector<double> values;
      for (int seed = 0; seed < 3; ++seed) values.push_back(static_cast<double>(rng() % 3) - 1);
      gains.clusters.push_back(values);
      for (double& value : values) value = -value;
      losses.clusters.push_back(values);
    }
    const Interval a = difference_interval(only(gains));
    const Interval b = difference_interval(only(losses));
    EXPECT_NEAR(a.low, -b.high, 1e-12);
    EXPECT_NEAR(a.high, -b.low, 1e-12);
  }
}

TEST(Interval, OfACostIsStudents) {
  const Stratum stratum{1, {{1}, {2}, {3}, {4}}};
  const Interval cost = cost_interval(stratum);
  EXPECT_DOUBLE_EQ(cost.mean, 2.5);
  EXPECT_NEAR(cost.high - 2.5, 3.1824 * std::sqrt(5.0 / 3 / 4), 1e-3);
  EXPECT_GE(cost.low, 0);
}

// --- coverage, simulated ---

// How alike a question's seeds are: 0 independent, 1 identical, between them Beta-distributed chances.
double chance_of_question(double p, double alike, std::mt19937_64& rng) {
  if (alike == 0) return p;
  std::uniform_real_distribution<double> uniform(0, 1);
  if (alike == 1) return uniform(rng) < p ? 1 : 0;
  const double size = 1 / alike - 1;
  std::gamma_distribution<double> right(p * size, 1);
  std::gamma_distribution<double> wrong((1 - p) * size, 1);
  const double a = right(rng);
  const double b = wrong(rng);
  return a + b > 0 ? a / (a + b) : (uniform(rng) < p ? 1 : 0);
}

struct Design {
  int questions, seeds;
  double alike;
};
const std::vector<Design> kDesigns = {{30, 1, 0},  {30, 5, 0},  {30, 5, 0.3},  {30, 5, 0.6},  {30, 5, 1},
                                      {198, 1, 0}, {198, 5, 0}, {198, 5, 0.3}, {198, 5, 0.6}, {198, 5, 1}};
constexpr double kLeastCoverage = 0.93;

// Simulated experiments for each point of a grid. `make soak` has many more (DTS_COVERAGE_ROUNDS).
int coverage_rounds() {
  const char* asked = std::getenv("DTS_COVERAGE_ROUNDS");
  return asked == nullptr ? 700 : std::max(700, std::atoi(asked));
}

TEST(IntervalCoverage, OfSharesHoldsFromEdgeToEdge) {
  std::mt19937_64 rng(11);
  std::uniform_real_distribution<double> uniform(0, 1);
  const int rounds = coverage_rounds();
  for (const Design& design : kDesigns) {
    for (const double p : {0.02, 0.05, 0.1, 0.3, 0.5, 0.8, 0.9, 0.95, 0.98}) {
      int covered = 0;
      for (int round = 0; round < rounds; ++round) {
        Stratum stratum;
        stratum.clusters.resize(static_cast<std::size_t>(design.questions));
        for (auto& cluster : stratum.clusters) {
          const double chance = chance_of_question(p, design.alike, rng);
          for (int seed = 0; seed < design.seeds; ++seed) cluster.push_back(uniform(rng) < chance ? 1.0 : 0.0);
        }
        const Interval interval = share_interval(only(stratum));
        covered += interval.low <= p && p <= interval.high ? 1 : 0;
      }
      EXPECT_GE(covered, kLeastCoverage * rounds)
          << "p " << p << ", " << design.questions << " x " << design.seeds << ", alike " << design.alike;
    }
  }
}

// Two methods on the same questions: the second is right where the first is but for a share it loses, and gains some of
// the others.
TEST(IntervalCoverage, OfPairedDifferencesHoldsFromEdgeToEdge) {
  std::mt19937_64 rng(13);
  std::uniform_real_distribution<double> uniform(0, 1);
  const int rounds = coverage_rounds();
  struct Change {
    double gain, loss;  // shares of all questions
  };
  for (const Design& design : kDesigns) {
    for (const Change& change :
         {Change{0, 0.02}, {0.02, 0.02}, {0.05, 0}, {0.1, 0.05}, {0.3, 0.1}, {0.45, 0.45}, {0.95, 0.02}, {0.9, 0}}) {
      int covered = 0;
      const double truth = change.gain - change.loss;
      for (int round = 0; round < rounds; ++round) {
        Stratum stratum;
        stratum.clusters.resize(static_cast<std::size_t>(design.questions));
        for (auto& cluster : stratum.clusters) {
          // A question changes, with its own chance; and then for better or worse, with another.
          const double changes = chance_of_question(change.gain + change.loss, design.alike, rng);
          const double better = chance_of_question(change.gain / (change.gain + change.loss), design.alike, rng);
          for (int seed = 0; seed < design.seeds; ++seed) {
            const bool changed = uniform(rng) < changes;
            cluster.push_back(!changed ? 0.0 : uniform(rng) < better ? 1.0 : -1.0);
          }
        }
        const Interval interval = difference_interval(only(stratum));
        covered += interval.low <= truth && truth <= interval.high ? 1 : 0;
      }
      EXPECT_GE(covered, kLeastCoverage * rounds)
          << "+" << change.gain << " -" << change.loss << ", " << design.questions << " x " << design.seeds
          << ", alike " << design.alike;
    }
  }
}

// LiveBench: the mean of three tasks' means, one of them at an edge.
TEST(IntervalCoverage, OfMeansOverTasksHolds) {
  std::mt19937_64 rng(17);
  std::uniform_real_distribution<double> uniform(0, 1);
  const std::vector<double> chances = {0.98, 0.5, 0.1};
  const double truth = (0.98 + 0.5 + 0.1) / 3;
  const int rounds = coverage_rounds();
  int covered = 0;
  for (int round = 0; round < rounds; ++round) {
    std::vector<Stratum> tasks(3);
    for (std::size_t t = 0; t < 3; ++t) {
      for (int i = 0; i < 50; ++i) tasks[t].clusters.push_back({uniform(rng) < chances[t] ? 1.0 : 0.0});
    }
    const Interval interval = share_interval(tasks);
    covered += interval.low <= truth && truth <= interval.high ? 1 : 0;
  }
  EXPECT_GE(covered, kLeastCoverage * rounds);
}

}  // namespace
}  // namespace dts::eval
