// The same file on the native engine and on llama.cpp: distributions, tokens and decisions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <ostream>
#include <vector>

#include "dts/error.h"
#include "dts/llama.h"
#include "native/native_models.h"

namespace dts {
namespace {

struct Compared {
  double mean_kl = 0;
  double worst_kl = 0;
  int tokens = 0;
  int other_tokens = 0;     // another most probable token where the margin is not small
  int other_decisions = 0;  // VE >= 1.5 and H <= 2.5 differ where neither is near its threshold
};

// How far apart two engines may be on the same file.
struct Tolerance {
  double kl = 1e-3;      // a token, mean; ten times that for the worst
  double margin = 0.05;  // nats, and nats^2 of VE: closer than this, rounding may decide
};
// llama.cpp rounds activations to 8 bits where weights are quantised; we expand the weights instead.
constexpr Tolerance kBf16 = {.margin = 0.25};  // weights and activations on the GPU
constexpr Tolerance kQuantised = {.kl = 1e-2, .margin = 1.0};

Tolerance unquantised(NativeDevice device) { return device == NativeDevice::kCpu ? Tolerance() : kBf16; }
bool is_quantised(const RandomModelOptions& options) { return options.weight_type.find('q') != std::string::npos; }

double divergence(const Prediction& p, const Prediction& q) {
  std::map<Token, float> other;
  for (const Candidate& candidate : q.top) other[candidate.token] = candidate.logprob;
  double sum = 0;
  for (const Candidate& candidate : p.top) {
    const double logprob = static_cast<double>(candidate.logprob);
    sum += std::exp(logprob) * (logprob - static_cast<double>(other.at(candidate.token)));
  }
  return sum;
}

// Both are fed the tokens that llama.cpp draws.
Compared compare(const std::string& path, NativeDevice device, int tokens, double limit) {
  const LlamaModel llama({.path = path, .gpu_layers = 0});
  const NativeModel native({.path = path, .device = device});
  // llama.cpp rounds a lone row of f16 weights more coarsely (a KL of 1.3e-5 from ours, against 5e-6 of several rows):
  // the reference is the closer of the two.
  const auto reference = llama.make_engine({.max_branches = 1, .context_length = tokens + 40, .throughput = true});
  const auto engine = native.make_engine({.max_branches = 1, .context_length = tokens + 40});
  const PredictionSpec spec{.top_k = reference->info().n_vocab, .sampling = {.temperature = 1.0F}};
  std::vector<Token> prompt;
  for (Token token = 0; token < 33; ++token) prompt.push_back((7 + token * 13) % reference->info().n_vocab);
  Compared out;
  const BranchId a = reference->open();
  const BranchId b = engine->open();
  reference->prefill(a, prompt);
  engine->prefill(b, prompt);
  Token token = 5;
  for (int i = 0; i < tokens; ++i) {
    Prediction p;
    Prediction q;
    const std::uint64_t draw = 0x9E3779B97F4A7C15ULL * static_cast<std::uint64_t>(i + 1);
    const Feed to_a{.branch = a, .tokens = {&token, 1}, .draw = draw, .spec = &spec};
    const Feed to_b{.branch = b, .tokens = {&token, 1}, .draw = draw, .spec = &spec};
    reference->step({&to_a, 1}, {&p, 1});
    engine->step({&to_b, 1}, {&q, 1});
    const double kl = divergence(p, q);
    out.mean_kl += kl / tokens;
    out.worst_kl = std::max(out.worst_kl, kl);
    ++out.tokens;
    const double margin = static_cast<double>(p.top[0].logprob - p.top[1].logprob);
    if (p.top[0].token != q.top[0].token && margin > limit) ++out.other_tokens;
    const auto decides = [](const Prediction& x) { return x.varentropy >= 1.5F && x.entropy <= 2.5F; };
    const bool near = std::fabs(static_cast<double>(p.varentropy) - 1.5) < limit ||
                      std::fabs(static_cast<double>(p.entropy) - 2.5) < limit;
    if (decides(p) != decides(q) && !near) ++out.other_decisions;
    token = p.sampled;
  }
  return out;
}

void expect_close(const std::string& path, NativeDevice device, int tokens, const Tolerance& tolerance) {
  SCOPED_TRACE(name_of(device));
  const Compared compared = compare(path, device, tokens, tolerance.margin);
  std::printf("    %-4s %d tokens: KL %.2e, worst %.2e\n", name_of(device), compared.tokens, compared.mean_kl,
              compared.worst_kl);
  EXPECT_LT(compared.mean_kl, tolerance.kl);
  EXPECT_LT(compared.worst_kl, 10 * tolerance.kl);
  EXPECT_EQ(compared.other_tokens, 0);
  EXPECT_EQ(compared.other_decisions, 0);
}

struct File {
  const char* architecture;
  const char* weights;
};
std::ostream& operator<<(std::ostream& out, const File& file) {
  return out << file.architecture << " " << file.weights;
}
class NativeAgainstLlama : public ::testing::TestWithParam<File> {};

TEST_P(NativeAgainstLlama, PredictsTheSame) {
  RandomModelOptions options = family_options(GetParam().architecture);
  options.weight_type = GetParam().weights;
  if (options.weight_type.ends_with("_K")) {  // blocks of 256
    options.embedding = 256;
    options.heads = 8;
    options.feed_forward = 512;
  }
  const std::string path =
      write_model(std::string("close_") + GetParam().architecture + "_" + GetParam().weights, options);
  for (const NativeDevice device : native_devices()) {
    expect_close(path, device, 300, is_quantised(options) ? kQuantised : unquantised(device));
  }
}

INSTANTIATE_TEST_SUITE_P(Files, NativeAgainstLlama,
                         ::testing::Values(File{"qwen2", "f32"}, File{"qwen3", "f16"}, File{"llama", "bf16"},
                                           File{"phi3", "f32"}, File{"qwen3", "q8_0"}, File{"llama", "q4_0"},
                                           File{"qwen2", "q4_K"}, File{"phi3", "q5_K"}, File{"qwen3", "q6_K"},
                                           File{"qwen3", "iq4_nl"}),
                         [](const auto& test) {
                           return std::string(test.param.architecture) + "_" + test.param.weights;
                         });

TEST(NativeAgainstLlama, PredictsTheSameOnTheBuiltInModel) {
  for (const NativeDevice device : native_devices()) expect_close(DTS_NANO_MODEL, device, 500, unquantised(device));
}

TEST(NativeModel, SaysWhatItDoesNotKnow) {
  EXPECT_EQ(why_not_native(DTS_NANO_MODEL), "");
  EXPECT_THROW(why_not_native("/nowhere.gguf"), Error);
}

}  // namespace
}  // namespace dts
