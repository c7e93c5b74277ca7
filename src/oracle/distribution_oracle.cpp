#include "oracle/distribution_oracle.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

#include "dts/rng.h"

namespace dts {
namespace {

// log of exp(z / temperature), relative to the most probable token. At most 0; -infinity stays. [n_vocab]
std::vector<double> scaled(std::span<const float> logits, double temperature) {
  const double max = *std::max_element(logits.begin(), logits.end());
  std::vector<double> result;
  for (const float z : logits) result.push_back((z - max) / temperature);
  return result;
}

// log softmax(z / temperature). [n_vocab]
std::vector<double> log_softmax(std::span<const float> logits, double temperature) {
  std::vector<double> result = scaled(logits, temperature);
  double sum = 0;
  for (const double value : result) sum += std::exp(value);
  const double log_sum = std::log(sum);
  for (double& value : result) value -= log_sum;
  return result;
}

// Tokens by logit descending; ties: lower id first. [n_vocab]
std::vector<Token> ranking(std::span<const float> logits) {
  std::vector<Token> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](Token a, Token b) {
    return logits[static_cast<std::size_t>(a)] > logits[static_cast<std::size_t>(b)];
  });
  return order;
}

// The tokens that may be drawn. `order` is the ranking, `q` proportional to the probabilities at the
// sampling temperature.
std::vector<Token> kept_tokens(std::vector<Token> order, const std::vector<double>& q, const SamplingOptions& options) {
  const auto q_of = [&](Token token) { return q[static_cast<std::size_t>(token)]; };
  if (options.top_k > 0) order.resize(std::min(order.size(), static_cast<std::size_t>(options.top_k)));
  if (options.top_p < 1) {
    double mass = 0;
    for (const Token token : order) mass += q_of(token);
    double cumulative = 0;
    std::size_t count = 0;
    while (count < order.size() && (count == 0 || cumulative < double{options.top_p} * mass)) {
      cumulative += q_of(order[count++]);
    }
    order.resize(count);
  }
  if (options.min_p > 0) {
    const double bar = std::min(1.0, double{options.min_p}) * q_of(order.front());
    std::erase_if(order, [&](Token token) { return q_of(token) < bar; });
  }
  return order;
}

Token sample(std::span<const float> logits, const std::vector<Token>& order, const SamplingOptions& options,
             std::uint64_t draw) {
  if (options.temperature == 0) return order.front();
  // Not normalised: every rule below compares with a total or a maximum, and equal logits then add up exactly.
  std::vector<double> q = scaled(logits, double{options.temperature});
  for (double& value : q) value = std::exp(value);
  std::vector<Token> kept = kept_tokens(order, q, options);
  std::sort(kept.begin(), kept.end());

  double total = 0;
  for (const Token token : kept) total += q[static_cast<std::size_t>(token)];
  const double target = to_unit(draw) * total;
  double cumulative = 0;
  Token last_possible = order.front();
  for (const Token token : kept) {
    const double mass = q[static_cast<std::size_t>(token)];
    cumulative += mass;
    if (cumulative > target) return token;
    if (mass > 0) last_possible = token;
  }
  return last_possible;  // the target rounded up to the total
}

float finite_float(double value) {
  const double limit = std::numeric_limits<float>::max();
  return static_cast<float>(std::clamp(value, -limit, limit));
}

}  // namespace

Prediction predict_oracle(std::span<const float> logits, const PredictionSpec& spec, std::uint64_t draw) {
  Prediction result;
  std::size_t finite = 0;
  for (const float z : logits) {
    if (std::isnan(z) || z == std::numeric_limits<float>::infinity()) {
      result.status = Prediction::Status::kNotANumber;
      return result;
    }
    finite += std::isfinite(z) ? 1 : 0;
  }
  if (finite == 0) {
    result.status = Prediction::Status::kNotANumber;
    return result;
  }

  double entropy = 0;
  const std::vector<double> log_p = log_softmax(logits, double{spec.stat_temperature});
  for (const double value : log_p) {
    const double p = std::exp(value);
    if (p > 0) entropy -= p * value;
  }
  double varentropy = 0;
  for (const double value : log_p) {
    const double p = std::exp(value);
    if (p > 0) varentropy += p * (-value - entropy) * (-value - entropy);
  }
  result.entropy = finite_float(entropy);
  result.varentropy = finite_float(varentropy);

  const std::vector<double> logprob = log_softmax(logits, 1.0);
  const auto logprob_of = [&](Token token) {
    const double value = logprob[static_cast<std::size_t>(token)];
    return std::isinf(value) ? -std::numeric_limits<float>::infinity() : finite_float(value);
  };
  const std::vector<Token> order = ranking(logits);
  const auto wanted = static_cast<std::size_t>(std::max(0, spec.top_k));
  for (std::size_t i = 0; i < std::min(wanted, order.size()); ++i) {
    result.top.push_back({.token = order[i], .logprob = logprob_of(order[i])});
  }
  const std::size_t k = std::min(static_cast<std::size_t>(std::max(0, spec.confidence_k)), finite);
  double confidence = 0;
  for (std::size_t i = 0; i < k; ++i)
    confidence -= logprob[static_cast<std::size_t>(order[i])] / static_cast<double>(k);
  result.confidence = finite_float(confidence);

  result.sampled = sample(logits, order, spec.sampling, draw);
  result.sampled_logprob = logprob_of(result.sampled);
  return result;
}

}  // namespace dts
