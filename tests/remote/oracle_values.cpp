// Distributions with their H and VE by the oracle, one JSON object a line, for who computes them elsewhere
// (python/dts_vllm).
#include <cmath>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

#include "dts/method.h"
#include "oracle/distribution_oracle.h"

int main() {
  std::mt19937_64 random(13);
  std::uniform_real_distribution<double> unit(0, 1);
  std::normal_distribution<double> normal;
  constexpr float kForbidden = -std::numeric_limits<float>::infinity();
  for (int i = 0; i < 400; ++i) {
    const int n_vocab = 2 + static_cast<int>(unit(random) * unit(random) * 1500);
    const double spread = 6 * unit(random);
    std::vector<float> logits;
    for (int token = 0; token < n_vocab; ++token) {
      const bool peak = token < 1 + i % 4;  // a few strong candidates over a long tail make decision tokens
      logits.push_back(static_cast<float>(spread * normal(random) + (peak ? 12 * unit(random) : 0)));
    }
    if (i % 5 == 0) logits.back() = kForbidden;
    dts::PredictionSpec spec;
    spec.stat_temperature = i % 3 == 0 ? static_cast<float>(0.2 + 1.5 * unit(random)) : 0.6F;
    const dts::Prediction truth = dts::predict_oracle(logits, spec, 0);
    dts::BranchRule rule;
    rule.tau_v = 3 * unit(random);
    rule.tau_h = 4 * unit(random);
    nlohmann::json line = {{"logits", nlohmann::json::array()},
                           {"stat_temperature", spec.stat_temperature},
                           {"entropy", truth.entropy},
                           {"varentropy", truth.varentropy},
                           {"tau_v", rule.tau_v},
                           {"tau_h", rule.tau_h}};
    for (const float logit : logits)
      line["logits"].push_back(std::isinf(logit) ? nlohmann::json() : nlohmann::json(logit));
    for (const auto& [name, criterion] :
         {std::pair("decision", dts::Criterion::kDecision), std::pair("high-entropy", dts::Criterion::kHighEntropy),
          std::pair("either", dts::Criterion::kEither)}) {
      rule.criterion = criterion;
      line["decisions"][name] =
          rule.is_decision(static_cast<double>(truth.entropy), static_cast<double>(truth.varentropy));
    }
    std::puts(line.dump().c_str());
  }
}
