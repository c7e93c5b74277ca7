#include "dts/distribution.h"

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "core/distribution_kernels.h"
#include "core/distribution_scan.h"
#include "dts/rng.h"
#include "oracle/distribution_oracle.h"

namespace dts {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kLargest = std::numeric_limits<float>::max();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

using Logits = std::vector<float>;

Prediction predict(Predictor& predictor, const Logits& logits, const PredictionSpec& spec, std::uint64_t draw) {
  Prediction result;
  const LogitsRow row{.logits = logits, .draw = draw, .spec = &spec, .out = &result};
  predictor.predict({&row, 1});
  return result;
}

Prediction predict(const Logits& logits, const PredictionSpec& spec = {}, std::uint64_t draw = 0) {
  Predictor predictor;
  return predict(predictor, logits, spec, draw);
}

// Statistics to what float sums allow; tokens exactly.
void expect_agrees(const Prediction& actual, const Logits& logits, const PredictionSpec& spec, std::uint64_t draw) {
  const Prediction expected = predict_oracle(logits, spec, draw);
  EXPECT_EQ(actual.status, expected.status);
  if (expected.status != Prediction::Status::kOk) return;

  EXPECT_NEAR(actual.entropy, expected.entropy, 2e-5);
  EXPECT_NEAR(actual.varentropy, expected.varentropy, 5e-5 + 1e-5 * expected.varentropy);
  EXPECT_GE(actual.varentropy, 0);
  EXPECT_NEAR(actual.confidence, expected.confidence, 1e-5 + 1e-6 * expected.confidence);
  EXPECT_EQ(actual.top.size(), expected.top.size());
  for (std::size_t i = 0; i < std::min(actual.top.size(), expected.top.size()); ++i) {
    EXPECT_EQ(actual.top[i].token, expected.top[i].token) << "rank " << i;
    const float wanted = expected.top[i].logprob;
    if (std::isinf(wanted)) {
      EXPECT_EQ(actual.top[i].logprob, wanted);
    } else {
      EXPECT_NEAR(actual.top[i].logprob, wanted, 1e-5 + 1e-6 * std::abs(wanted));
    }
  }

  EXPECT_EQ(actual.sampled, expected.sampled) << "at u = " << to_unit(draw);
  EXPECT_NEAR(actual.sampled_logprob, expected.sampled_logprob, 1e-5 + 1e-6 * std::abs(expected.sampled_logprob));
}

using Random = std::mt19937_64;

float normal(Random& random, float deviation) { return std::normal_distribution<float>(0.0F, deviation)(random); }

Logits make_logits(std::size_t n, const std::function<float(std::size_t)>& value) {
  Logits logits(n);
  for (std::size_t i = 0; i < n; ++i) logits[i] = value(i);
  return logits;
}

struct Shape {
  std::string name;
  std::function<Logits(std::size_t, Random&)> make;
};

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = {
      {"flat", [](std::size_t n, Random& r) { return make_logits(n, [&](std::size_t) { return normal(r, 0.3F); }); }},
      {"normal", [](std::size_t n, Random& r) { return make_logits(n, [&](std::size_t) { return normal(r, 2.5F); }); }},
      {"wide", [](std::size_t n, Random& r) { return make_logits(n, [&](std::size_t) { return normal(r, 60.0F); }); }},
      {"nearly equal",
       [](std::size_t n, Random& r) { return make_logits(n, [&](std::size_t) { return 7.0F + normal(r, 1e-5F); }); }},
      {"equal", [](std::size_t n, Random&) { return Logits(n, -3.25F); }},
      {"tied", [](std::size_t n,
                  Random& r) { return make_logits(n, [&](std::size_t) { return std::round(normal(r, 2.0F)); }); }},
      {"signed zeros",
       [](std::size_t n, Random& r) {
         return make_logits(n, [&](std::size_t) { return (r() & 1U) != 0 ? -0.0F : 0.0F; });
       }},
      {"ascending",
       [](std::size_t n, Random&) {
         return make_logits(n, [n](std::size_t i) { return 30.0F * static_cast<float>(i) / static_cast<float>(n); });
       }},
      {"descending",
       [](std::size_t n, Random&) {
         return make_logits(n, [n](std::size_t i) { return -9.0F * static_cast<float>(i) / static_cast<float>(n); });
       }},
      {"peaked",
       [](std::size_t n, Random& r) {
         Logits logits = make_logits(n, [&](std::size_t) { return normal(r, 2.0F); });
         for (int i = 0; i < 8; ++i) logits[r() % n] = 18.0F - 0.5F * static_cast<float>(i);
         return logits;
       }},
      {"one above a floor",
       [](std::size_t n, Random& r) {
         Logits logits(n, 0.3F);
         logits[r() % n] = 8.7F;
         return logits;
       }},
      {"mostly masked",
       [](std::size_t n, Random& r) {
         Logits logits = make_logits(n, [&](std::size_t) { return r() % 50 == 0 ? normal(r, 1.0F) : -kInfinity; });
         logits[r() % n] = 0.5F;
         return logits;
       }},
      {"all but one masked",
       [](std::size_t n, Random& r) {
         Logits logits(n, -kInfinity);
         logits[r() % n] = -1e4F;
         return logits;
       }},
      {"one at 1e30",
       [](std::size_t n, Random& r) {
         Logits logits = make_logits(n, [&](std::size_t) { return normal(r, 2.0F); });
         logits[r() % n] = 1e30F;
         return logits;
       }},
      {"largest and smallest",
       [](std::size_t n, Random& r) {
         return make_logits(n, [&](std::size_t) { return r() % 3 == 0 ? kLargest : -kLargest; });
       }},
      {"all -1e30", [](std::size_t n, Random&) { return Logits(n, -1e30F); }},
  };
  return all;
}

std::vector<SamplingOptions> all_truncations() {
  std::vector<SamplingOptions> all;
  for (const float temperature : {0.0F, 0.6F, 1.0F, 1.7F}) {
    for (const int top_k : {0, 1, 5, 40, 1 << 20}) {
      for (const float top_p : {1.0F, 0.95F, 0.5F, 0.0F}) {
        for (const float min_p : {0.0F, 0.05F, 1.0F}) {
          all.push_back({.temperature = temperature, .top_k = top_k, .top_p = top_p, .min_p = min_p});
        }
      }
    }
  }
  return all;
}

TEST(Distribution, AgreesWithTheOracleOverShapesSizesAndTruncations) {
  Predictor predictor;
  const auto truncations = all_truncations();
  for (const std::size_t n : {1U, 2U, 3U, 7U, 31U, 33U, 128U, 500U, 2048U, 5000U}) {
    for (const Shape& shape : shapes()) {
      SCOPED_TRACE(shape.name + " of " + std::to_string(n));
      Random random(n);
      const Logits logits = shape.make(n, random);
      const std::size_t stride = n < 1000 ? 1 : 7;  // coprime to the number of choices of each option
      for (std::size_t i = random() % stride; i < truncations.size(); i += stride) {
        PredictionSpec spec;
        spec.stat_temperature = std::array{0.6F, 1.0F, 2.0F}[random() % 3];
        spec.top_k = std::array{0, 1, 3, 50}[random() % 4];
        spec.confidence_k = std::array{0, 1, 20, 300}[random() % 4];
        spec.sampling = truncations[i];
        const std::uint64_t draw = random();
        SCOPED_TRACE(testing::Message() << "T " << spec.sampling.temperature << " top_k " << spec.sampling.top_k
                                        << " top_p " << spec.sampling.top_p << " min_p " << spec.sampling.min_p);
        expect_agrees(predict(predictor, logits, spec, draw), logits, spec, draw);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(Distribution, AgreesWithTheOracleOnRealVocabularies) {
  Predictor predictor;
  for (const std::size_t n : {151936U, 256000U}) {
    for (const Shape& shape : shapes()) {
      SCOPED_TRACE(shape.name + " of " + std::to_string(n));
      Random random(n);
      const Logits logits = shape.make(n, random);
      PredictionSpec spec;
      spec.sampling = std::array<SamplingOptions, 3>{
          {{.top_p = 0.95F}, {.temperature = 1.0F}, {.temperature = 0.8F, .min_p = 0.01F}}}[random() % 3];
      const std::uint64_t draw = random();
      expect_agrees(predict(predictor, logits, spec, draw), logits, spec, draw);
    }
  }
}

TEST(Distribution, TopPCutsWithinTiesAndFarDownTheRanking) {
  Predictor predictor;
  for (const float top_p : {0.1F, 0.5F, 0.9F, 0.999F}) {
    for (const char* name : {"flat", "nearly equal", "equal", "tied", "descending", "signed zeros"}) {
      SCOPED_TRACE(testing::Message() << name << " " << top_p);
      const auto shape = std::find_if(shapes().begin(), shapes().end(), [&](const Shape& s) { return s.name == name; });
      Random random(9);
      const Logits logits = shape->make(9000, random);
      PredictionSpec spec;
      spec.sampling.top_p = top_p;
      for (int i = 0; i < 12; ++i) {
        const std::uint64_t draw = i == 0 ? 0 : i == 1 ? ~std::uint64_t{0} : random();
        expect_agrees(predict(predictor, logits, spec, draw), logits, spec, draw);
      }
    }
  }
}

// Draws that float sums would get wrong: a ten-billionth beside the boundary between two tokens.
TEST(Distribution, BoundariesBetweenTokensAreExact) {
  Random random(12);
  const Logits logits = shapes()[0].make(20000, random);
  PredictionSpec spec;
  const double temperature = spec.sampling.temperature;
  std::vector<double> cumulative;
  for (const float z : logits) {
    cumulative.push_back(std::exp(z / temperature) + (cumulative.empty() ? 0.0 : cumulative.back()));
  }
  Predictor predictor;
  for (std::size_t i = 0; i + 1 < logits.size(); i += 97) {
    const double u = cumulative[i] / cumulative.back();
    const auto bits_of = [](double unit) { return static_cast<std::uint64_t>(unit * 0x1p53) << 11U; };
    EXPECT_EQ(predict(predictor, logits, spec, bits_of(u - 1e-10)).sampled, static_cast<Token>(i));
    EXPECT_EQ(predict(predictor, logits, spec, bits_of(u + 1e-10)).sampled, static_cast<Token>(i + 1));
  }
}

// The draw trusts the scan's float sums only outside this margin, so it must be honest.
TEST(Distribution, ScanIsWithinItsStatedError) {
  RowScan scan;
  for (const Shape& shape : shapes()) {
    SCOPED_TRACE(shape.name);
    Random random(8);
    const Logits logits = shape.make(60000, random);
    for (const float temperature : {0.3F, 0.6F, 1.0F, 2.5F}) {
      ASSERT_TRUE(scan.run(logits, {.stat_temperature = 1.0F, .sample_temperature = temperature, .top = 1}));
      const double max = *std::max_element(logits.begin(), logits.end());
      double weight = 0;
      for (const float z : logits) weight += std::exp((z - max) / temperature);
      EXPECT_NEAR(scan.sample_weight() / weight, 1.0, kRoughError / 5);
    }
  }
}

TEST(Distribution, EqualLogitsAreUniform) {
  const Prediction p = predict(Logits(1000, 2.5F));
  EXPECT_FLOAT_EQ(p.entropy, std::log(1000.0F));
  EXPECT_EQ(p.varentropy, 0.0F);
  EXPECT_FLOAT_EQ(p.confidence, std::log(1000.0F));
  ASSERT_EQ(p.top.size(), 3U);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(p.top[static_cast<std::size_t>(i)].token, i);
}

TEST(Distribution, OneOverwhelmingLogitIsCertain) {
  for (const float huge : {1e4F, 1e30F, kLargest}) {
    Logits logits(40000, -1.0F);
    logits[33333] = huge;
    for (const std::uint64_t draw : {std::uint64_t{0}, ~std::uint64_t{0}}) {
      const Prediction p = predict(logits, {}, draw);
      EXPECT_EQ(p.status, Prediction::Status::kOk);
      EXPECT_EQ(p.entropy, 0.0F);
      EXPECT_EQ(p.varentropy, 0.0F);
      EXPECT_EQ(p.sampled, 33333);
      EXPECT_EQ(p.sampled_logprob, 0.0F);
      EXPECT_EQ(p.top[1], (Candidate{.token = 0, .logprob = -1.0F - huge}));
    }
  }
}

TEST(Distribution, MaskedTokensAreNeverDrawnAndRankLast) {
  Logits logits(5000, -kInfinity);
  logits[4000] = 1.0F;
  logits[70] = 1.0F;
  PredictionSpec spec;
  spec.top_k = 4;
  for (std::uint64_t i = 0; i < 64; ++i) {
    const Prediction p = predict(logits, spec, i << 58U);
    EXPECT_EQ(p.sampled, i < 32 ? 70 : 4000);
    ASSERT_EQ(p.top.size(), 4U);
    EXPECT_EQ(p.top[0].token, 70);
    EXPECT_EQ(p.top[1].token, 4000);
    EXPECT_EQ(p.top[2], (Candidate{.token = 0, .logprob = -kInfinity}));
    EXPECT_EQ(p.top[3], (Candidate{.token = 1, .logprob = -kInfinity}));
    EXPECT_FLOAT_EQ(p.confidence, std::log(2.0F)) << "over the two that are possible";
  }
}

TEST(Distribution, NotANumberIsReportedWhereverItIs) {
  for (const std::size_t n : {1U, 17U, 2048U, 5001U}) {
    for (const float bad : {kNan, -kNan, kInfinity}) {
      for (const std::size_t at : {std::size_t{0}, n / 2, n - 1}) {
        Logits logits(n, 1.0F);
        logits[at] = bad;
        EXPECT_EQ(predict(logits).status, Prediction::Status::kNotANumber) << bad << " at " << at << " of " << n;
      }
    }
    EXPECT_EQ(predict(Logits(n, -kInfinity)).status, Prediction::Status::kNotANumber);
  }
  EXPECT_EQ(predict({}).status, Prediction::Status::kNotANumber);
}

TEST(Distribution, ABadRowLeavesNothingBehind) {
  Predictor predictor;
  Random random(4);
  const Logits good = shapes()[1].make(3000, random);
  const PredictionSpec spec;
  const Prediction before = predict(predictor, good, spec, 77);
  Prediction after = before;  // reused, as an engine does from step to step
  LogitsRow row{.logits = good, .draw = 77, .spec = &spec, .out = &after};
  const Logits bad(5000, kNan);
  row.logits = bad;
  predictor.predict({&row, 1});
  EXPECT_EQ(after.status, Prediction::Status::kNotANumber);
  row.logits = good;
  predictor.predict({&row, 1});
  predictor.predict({&row, 1});
  EXPECT_EQ(after.status, Prediction::Status::kOk);
  EXPECT_EQ(before.sampled, after.sampled);
  EXPECT_EQ(before.entropy, after.entropy);
  EXPECT_EQ(before.top, after.top);
}

// Pearson's statistic of many draws against the oracle's distribution, which is read off one draw per token's share.
void expect_follows(const Logits& logits, const PredictionSpec& spec, const std::vector<double>& probability) {
  Predictor predictor;
  Random random(2024);
  constexpr int kDraws = 30000;
  std::map<Token, int> counts;
  for (int i = 0; i < kDraws; ++i) ++counts[predict(predictor, logits, spec, random()).sampled];
  double chi_square = 0;
  int cells = 0;
  for (std::size_t i = 0; i < probability.size(); ++i) {
    const int count = counts[static_cast<Token>(i)];
    if (probability[i] == 0) {
      EXPECT_EQ(count, 0) << "token " << i << " is not among the kept";
      continue;
    }
    const double expected = probability[i] * kDraws;
    chi_square += (count - expected) * (count - expected) / expected;
    ++cells;
  }
  // Mean cells - 1, deviation sqrt(2 (cells - 1)); four deviations.
  EXPECT_LT(chi_square, cells - 1 + 4 * std::sqrt(2.0 * (cells - 1)));
}

std::vector<double> normalised(std::vector<double> weights) {
  double sum = 0;
  for (const double w : weights) sum += w;
  for (double& w : weights) w /= sum;
  return weights;
}

TEST(Distribution, SamplesFollowTheDistribution) {
  const Logits logits = {0.5F, 2.0F, -1.0F, 1.0F, 1.5F, -kInfinity, 0.0F, 1.9F};
  std::vector<double> weights;
  for (const float z : logits) weights.push_back(std::exp(z / 0.8));
  PredictionSpec spec;
  spec.sampling.temperature = 0.8F;
  expect_follows(logits, spec, normalised(weights));

  // Ranking 1, 7, 4, 3, 0, 6, 2: top-k keeps the first five; of their mass 0.92 needs the first four, since three have
  // 0.80 of it; min-p then drops what is less than 0.4 times as probable as token 1, which is token 3.
  spec.sampling.top_k = 5;
  for (const std::size_t dropped : {2U, 6U}) weights[dropped] = 0;
  expect_follows(logits, spec, normalised(weights));
  spec.sampling.top_p = 0.92F;
  weights[0] = 0;
  expect_follows(logits, spec, normalised(weights));
  spec.sampling.min_p = 0.4F;
  weights[3] = 0;
  expect_follows(logits, spec, normalised(weights));
}

TEST(Distribution, TemperatureZeroTakesTheLowestOfTheMostProbable) {
  Logits logits(10000, 1.0F);
  logits[9000] = 5.0F;
  logits[9999] = 5.0F;
  PredictionSpec spec;
  spec.sampling.temperature = 0;
  EXPECT_EQ(predict(logits, spec, ~std::uint64_t{0}).sampled, 9000);
}

TEST(Distribution, ExtremeTemperaturesStayFinite) {
  Random random(11);
  const Logits logits = shapes()[1].make(3000, random);
  for (const float t : {1e-30F, 1e-6F, 1e6F, 1e30F}) {
    PredictionSpec spec;
    spec.stat_temperature = t;
    spec.sampling.temperature = t;
    spec.sampling.top_p = 0.9F;
    SCOPED_TRACE(t);
    const std::uint64_t draw = random();
    expect_agrees(predict(logits, spec, draw), logits, spec, draw);
  }
}

bool identical(const Prediction& a, const Prediction& b) {
  return a.status == b.status && a.entropy == b.entropy && a.varentropy == b.varentropy &&
         a.confidence == b.confidence && a.sampled == b.sampled && a.sampled_logprob == b.sampled_logprob &&
         a.top == b.top;
}

TEST(Distribution, ThreadsNeighboursAndRepetitionChangeNothing) {
  Random random(5);
  std::vector<Logits> logits;
  PredictionSpec spec;
  spec.sampling.top_p = 0.9F;
  for (std::size_t i = 0; i < 12; ++i) logits.push_back(shapes()[i].make(30000 + 7 * i, random));
  logits[3][17] = kNan;
  Predictor alone(1);
  std::vector<Prediction> expected;
  for (std::size_t i = 0; i < logits.size(); ++i) expected.push_back(predict(alone, logits[i], spec, i << 60U));

  Predictor together(3);
  for (int repetition = 0; repetition < 5; ++repetition) {
    std::vector<Prediction> out(logits.size());
    std::vector<LogitsRow> rows;
    for (std::size_t i = 0; i < logits.size(); ++i) {
      rows.push_back({.logits = logits[i], .draw = i << 60U, .spec = &spec, .out = &out[i]});
    }
    together.predict(rows);
    for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_TRUE(identical(out[i], expected[i])) << "row " << i;
  }
}

TEST(Distribution, EveryInstructionSetAgreesWithTheOracle) {
  const std::vector<std::int64_t> targets = hwy::SupportedAndGeneratedTargets();
  ASSERT_FALSE(targets.empty());
  std::vector<const DistributionKernels*> seen;
  for (const std::int64_t target : targets) {
    hwy::SetSupportedTargetsForTest(target);
    SCOPED_TRACE(hwy::TargetName(target));
    EXPECT_EQ(std::count(seen.begin(), seen.end(), &distribution_kernels()), 0) << "the dispatch did not change";
    seen.push_back(&distribution_kernels());
    Predictor predictor;
    Random random(3);
    for (const std::size_t n : {1U, 33U, 3000U}) {
      for (const Shape& shape : shapes()) {
        SCOPED_TRACE(shape.name + " of " + std::to_string(n));
        const Logits logits = shape.make(n, random);
        for (const SamplingOptions& sampling :
             {SamplingOptions{}, {.top_p = 0.9F}, {.temperature = 1.3F, .min_p = 0.02F}, {.top_k = 7, .top_p = 0.8F}}) {
          PredictionSpec spec;
          spec.sampling = sampling;
          const std::uint64_t draw = random();
          expect_agrees(predict(predictor, logits, spec, draw), logits, spec, draw);
        }
        Logits bad = logits;
        bad[random() % n] = kNan;
        EXPECT_EQ(predict(predictor, bad, {}, 0).status, Prediction::Status::kNotANumber);
      }
    }
  }
  hwy::SetSupportedTargetsForTest(0);
}

}  // namespace
}  // namespace dts
