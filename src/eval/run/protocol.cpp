#include "eval/run/protocol.h"

#include <numeric>

namespace dts::eval {

int paper_samples(std::string_view dataset) { return dataset == "nano-bench-mini" ? 40 : 100; }

PlannedVariant sampling_study(int samples) {
  PlannedVariant study{std::string(kSamplesLabel), "standard", "Figure 2: length and accuracy; maj@k, pass@k", {}};
  study.seeds.resize(static_cast<std::size_t>(samples));
  std::iota(study.seeds.begin(), study.seeds.end(), kFirstSampleSeed);
  return study;
}

std::vector<PlannedVariant> paper_protocol(const std::vector<std::uint64_t>& seeds, int samples) {
  std::vector<PlannedVariant> plan;
  const auto add = [&](const std::string& spec, const std::string& purpose) {
    plan.push_back({spec, spec, purpose, seeds});
  };
  add("standard", "Tables 1 and 2, Figures 1 and 5");
  add("self-consistency", "Table 1, Figures 1 and 5");
  add("deepconf-low", "Table 1, Figures 1 and 5");
  add("deepconf-high", "Table 1, Figures 1 and 5");
  add("dts-greedy", "Tables 1 to 4, Figures 1 and 5");
  add("dts-stable", "Tables 1 and 4, Figures 1 and 5");
  add("max-logit", "Table 3");
  for (const char* variant : {"criterion=high-entropy", "criterion=either", "tau-h=1.2"}) {
    for (const char* method : {"dts-greedy", "dts-stable"}) add(std::string(method) + ":" + variant, "Table 4");
  }
  // The paper's voting budget, N = 8, for the independent samples that DTS should be compared with first.
  add("best-of-n", "a control");
  add("first-finish", "a control");
  add("short-m@k:votes=3:samples=8", "a control");
  if (samples > 0) plan.push_back(sampling_study(samples));
  return plan;
}

}  // namespace dts::eval
