// Predictions made on the device against the oracle: statistics to rounding, tokens exactly, and what the device leaves
// to the host is rare.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "dts/native.h"
#include "engine/native/cuda/device_buffer.h"
#include "engine/native/cuda/device_spec.h"
#include "engine/native/cuda/kernels.h"
#include "oracle/distribution_oracle.h"

namespace dts::native::cuda {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Row {
  std::vector<float> logits;
  PredictionSpec spec;
  std::uint64_t draw = 0;
};

std::vector<DevicePrediction> predict_all(const std::vector<Row>& rows, int n_vocab) {
  const int stride = (n_vocab + 31) / 32 * 32;
  const std::size_t n = rows.size();
  std::vector<float> logits(n * static_cast<std::size_t>(stride), 7e30F);  // what pads a row must not be read
  std::vector<DeviceSpec> specs;
  for (std::size_t i = 0; i < n; ++i) {
    std::copy(rows[i].logits.begin(), rows[i].logits.end(), logits.begin() + static_cast<std::ptrdiff_t>(i) * stride);
    specs.push_back(device_spec(rows[i].spec, rows[i].draw));
  }
  const DeviceBuffer<float> d_logits(logits.size());
  const DeviceBuffer<DeviceSpec> d_specs(n);
  const DeviceBuffer<float> group_max(n * kMostGroups);
  const DeviceBuffer<DeviceBlockSums> sums(n * static_cast<std::size_t>(blocks_of(n_vocab)));
  const DeviceBuffer<DevicePrediction> out(n);
  check(cudaMemcpy(d_logits.get(), logits.data(), logits.size() * 4, cudaMemcpyHostToDevice), "sending");
  check(cudaMemcpy(d_specs.get(), specs.data(), n * sizeof(DeviceSpec), cudaMemcpyHostToDevice), "sending");
  check(cudaMemset(out.get(), 0, n * sizeof(DevicePrediction)), "clearing");  // not all of a ranking is written
  PredictArguments arguments;
  arguments.logits = d_logits.get();
  arguments.specs = d_specs.get();
  arguments.group_max = group_max.get();
  arguments.sums = sums.get();
  arguments.out = out.get();
  arguments.rows = static_cast<int>(n);
  arguments.n_vocab = n_vocab;
  arguments.stride = stride;
  predict(arguments, nullptr);
  check(cudaDeviceSynchronize(), "predicting");
  std::vector<DevicePrediction> got(n);
  check(cudaMemcpy(got.data(), out.get(), n * sizeof(DevicePrediction), cudaMemcpyDeviceToHost), "receiving");
  return got;
}

TEST(CudaPredict, AgreesWithTheOracle) {
  if (!why_no_native_gpu().empty()) GTEST_SKIP() << why_no_native_gpu();
  std::mt19937_64 random(3);
  const std::vector<SamplingOptions> samplings = {{.temperature = 0.6F},
                                                  {.temperature = 1.0F},
                                                  {.temperature = 0},
                                                  {.temperature = 0.6F, .top_k = 20, .top_p = 0.95F},
                                                  {.temperature = 0.8F, .top_p = 0.95F},
                                                  {.temperature = 0.7F, .min_p = 0.05F}};
  for (const int n_vocab : {33, 512, 2048, 50257, 151936}) {
    std::vector<Row> rows;
    for (int i = 0; i < 120; ++i) {
      Row row;
      std::normal_distribution<float> normal(0, i % 3 == 0 ? 4.0F : 2.0F);
      for (int t = 0; t < n_vocab; ++t)
        row.logits.push_back(normal(random) - (i % 5 == 0 ? 0.01F * static_cast<float>(t % 997) : 0));
      if (i % 4 == 1) row.logits[random() % row.logits.size()] = 20;  // a clear favourite
      if (i % 7 == 2) {
        for (float& z : row.logits) z = std::round(z * 2) / 2;  // ties
      }
      if (i % 11 == 3) {
        for (std::size_t t = 0; t < row.logits.size(); t += 3) row.logits[t] = -kInfinity;
      }
      row.spec.sampling = samplings[static_cast<std::size_t>(i) % samplings.size()];
      row.spec.top_k = 5;
      row.draw = random();
      rows.push_back(row);
    }
    const std::vector<DevicePrediction> got = predict_all(rows, n_vocab);
    int by_host = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      SCOPED_TRACE(testing::Message() << n_vocab << " tokens, row " << i);
      if (got[i].status == DevicePrediction::kByHost) {
        ++by_host;
        continue;
      }
      const Prediction expected = predict_oracle(rows[i].logits, rows[i].spec, rows[i].draw);
      ASSERT_EQ(got[i].status, DevicePrediction::kOk);
      EXPECT_NEAR(got[i].entropy, expected.entropy, 5e-5);
      EXPECT_NEAR(got[i].varentropy, expected.varentropy, 1e-4 + 3e-5 * static_cast<double>(expected.varentropy));
      EXPECT_NEAR(got[i].confidence, expected.confidence, 2e-5);
      EXPECT_EQ(got[i].sampled, expected.sampled);
      EXPECT_NEAR(got[i].sampled_logprob, expected.sampled_logprob, 3e-5);
      for (std::size_t k = 0; k < expected.top.size(); ++k) {
        EXPECT_EQ(got[i].tokens[k], expected.top[k].token) << "rank " << k;
        EXPECT_NEAR(got[i].logprobs[k], expected.top[k].logprob, 3e-5);
      }
    }
    // Flat rows under top-p or min-p, and ties by the thousand, are the host's.
    EXPECT_LE(by_host, 75) << n_vocab;
    std::printf("    %d tokens: %d of %zu rows left to the host\n", n_vocab, by_host, rows.size());
  }
}

TEST(CudaPredict, SeesWhatIsNotANumber) {
  if (!why_no_native_gpu().empty()) GTEST_SKIP() << why_no_native_gpu();
  const int n_vocab = 5000;
  std::vector<Row> rows(4, Row{.logits = std::vector<float>(n_vocab, 1.0F), .spec = {}});
  rows[0].logits[4999] = std::numeric_limits<float>::quiet_NaN();
  rows[1].logits[17] = kInfinity;
  rows[2].logits.assign(n_vocab, -kInfinity);
  rows[3].logits.assign(n_vocab, -kInfinity);
  rows[3].logits[4321] = -3.0F;  // one possible token
  const std::vector<DevicePrediction> got = predict_all(rows, n_vocab);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(got[i].status, DevicePrediction::kNotANumber) << i;
  EXPECT_EQ(got[3].status, DevicePrediction::kOk);
  EXPECT_EQ(got[3].sampled, 4321);
  EXPECT_EQ(got[3].n_ranked, 1);
  EXPECT_NEAR(got[3].entropy, 0, 1e-6);
}

}  // namespace
}  // namespace dts::native::cuda
