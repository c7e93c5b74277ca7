#include "dts/method.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "dts/error.h"
#include "dts/options.h"

namespace dts {
namespace {

constexpr std::array kMethods = {
    MethodInfo{"standard", "One trajectory, sampled token by token.", "plain autoregressive decoding"},
    MethodInfo{"self-consistency", "N independent trajectories, all to their end; the majority answer wins.",
               "Wang et al. 2022, arXiv:2203.11171"},
    MethodInfo{"best-of-n", "N independent trajectories, all to their end; the most confident one wins.",
               "best-of-N by mean token confidence, DeepConf's measure"},
    MethodInfo{"deepconf-low",
               "A warm-up sets a high confidence bar; later trajectories below it are given up; weighted vote.",
               "DeepConf online, top 10%: Fu et al. 2025, arXiv:2508.15260"},
    MethodInfo{"deepconf-high",
               "A warm-up sets a low confidence bar; later trajectories below it are given up; weighted vote.",
               "DeepConf online, top 90%: Fu et al. 2025, arXiv:2508.15260"},
    MethodInfo{"first-finish", "N independent trajectories; the first to finish wins and stops the rest.",
               "First Finish Search, Agarwal et al. 2025, arXiv:2505.18149"},
    MethodInfo{"short-m@k", "k independent trajectories; the first m to finish vote and stop the rest.",
               "Hassid et al. 2025, arXiv:2505.17813"},
    MethodInfo{"max-logit",
               "The same tree, grown until nothing lives; the most probable trajectory for its length wins.",
               "the paper's comparison with early stopping; length as in Wu et al. 2016, arXiv:1609.08144"},
    MethodInfo{"dts-greedy", "A tree that splits at decision tokens; the first trajectory to finish wins.",
               "Decoding Tree Sketching, B = 1"},
    MethodInfo{"dts-stable", "A tree that splits at decision tokens; the first few trajectories to finish vote.",
               "Decoding Tree Sketching, B = 8"},
    MethodInfo{"dts-lean", "dts-stable without improbable children, and done as soon as the vote is clear.",
               "ours: a floor under children, and Adaptive-Consistency's stop (arXiv:2305.11860)"},
};

// Chosen on validation problems, before anything was measured on nano-bench: docs/results.md.
constexpr double kLeanMinP = 0.02;
constexpr double kLeanCertainty = 0.8;

// The published numbers (16 of 256 or more trajectories warm up, windows of 2048 tokens) make no sense for eight
// trajectories or a short budget, so both shrink with them; a window of 0 is chosen by the search: docs/methods.md.
RetireRule deepconf(const MethodOptions& options, double keep) {
  RetireRule rule;
  rule.enabled = true;
  rule.keep = keep;
  rule.warmup = options.warmup > 0 ? options.warmup : std::clamp((options.votes + 1) / 2, 1, 16);
  rule.window = options.window;
  return rule;
}

}  // namespace

int Method::max_live() const {
  if (!retire.enabled) return branch.enabled ? std::max(branch.max_branches, width) : width;
  const int first = std::min(retire.warmup, width);
  const int later = width - first;
  return std::max(first + (later > 0 ? 1 : 0), later);
}

bool BranchRule::is_decision(double entropy, double varentropy) const {
  const bool decision = varentropy >= tau_v && entropy <= tau_h;
  const bool high_entropy = entropy >= tau_h;
  switch (criterion) {
    case Criterion::kDecision:
      return decision;
    case Criterion::kHighEntropy:
      return high_entropy;
    case Criterion::kEither:
      return decision || high_entropy;
  }
  return false;
}

std::span<const MethodInfo> methods() { return kMethods; }

Method make_method(std::string_view name, const MethodOptions& options) {
  check_option("votes", options.votes);
  check_option("samples", options.samples);
  Method method;
  method.name = name;
  method.stop.consensus = options.consensus;
  method.stop.adaptive = options.adaptive;
  method.branch = options.branch;
  method.branch.enabled = false;
  method.length_alpha = options.length_alpha;
  const auto tree = [&](int finished, SelectRule select) {
    method.branch.enabled = true;
    method.stop.finished = finished;
    method.select = select;
  };
  const auto independent = [&](int width, int finished, SelectRule select) {
    method.width = width;
    method.stop.finished = finished;
    method.select = select;
  };
  if (name == "standard") {
    independent(1, 1, SelectRule::kFirst);
  } else if (name == "self-consistency") {
    independent(options.votes, StopRule::kAll, SelectRule::kMajority);
  } else if (name == "best-of-n") {
    independent(options.votes, StopRule::kAll, SelectRule::kMaxConfidence);
  } else if (name == "deepconf-low" || name == "deepconf-high") {
    independent(options.votes, StopRule::kAll, SelectRule::kWeightedMajority);
    method.retire = deepconf(options, name == "deepconf-low" ? 0.1 : 0.9);
  } else if (name == "first-finish") {
    independent(options.votes, 1, SelectRule::kFirst);
  } else if (name == "short-m@k") {
    if (options.votes > options.samples) {
      throw out_of_range(
          "votes", fmt::format("{}", options.votes),
          fmt::format("at most {}, the trajectories that start ({})", options.samples, option_name("samples")));
    }
    independent(options.samples, options.votes, SelectRule::kMajority);
  } else if (name == "max-logit") {
    // Selection in place of early stopping: with both, the stop would have decided before the selection.
    tree(StopRule::kAll, SelectRule::kMaxLogprob);
  } else if (name == "dts-greedy") {
    tree(1, SelectRule::kFirst);
  } else if (name == "dts-stable") {
    tree(options.votes, SelectRule::kMajority);
  } else if (name == "dts-lean") {
    tree(options.votes, SelectRule::kMajority);
    if (method.branch.min_p <= 0) method.branch.min_p = kLeanMinP;
    if (method.stop.adaptive <= 0) method.stop.adaptive = kLeanCertainty;
  } else {
    std::string known;
    for (const MethodInfo& info : kMethods) known += fmt::format("{}{}", known.empty() ? "" : ", ", info.name);
    throw out_of_range("method", fmt::format("'{}'", name), "one of " + known);
  }
  return method;
}

void validate(const Method& method, int n_vocab) {
  if (method.width < 1)
    throw usage_error(fmt::format("the number of trajectories is {}: it must be at least 1", method.width));
  if (method.retire.enabled) {
    check_option("warmup", method.retire.warmup);
    if (method.retire.window != 0) check_option("window", method.retire.window);  // 0: chosen by the search
  }
  check_option("consensus", method.stop.consensus);
  check_option("adaptive", method.stop.adaptive);
  check_option("votes", method.stop.finished);
  const BranchRule& rule = method.branch;
  check_option("tau_v", rule.tau_v);
  check_option("tau_h", rule.tau_h);
  check_option("branch_k", rule.k);
  if (rule.enabled && rule.k > n_vocab) {
    throw out_of_range("branch_k", fmt::format("{}", rule.k),
                       fmt::format("between 1 and the vocabulary's {} tokens", n_vocab));
  }
  check_option("max_branches", rule.max_branches);
  check_option("branch_min_p", rule.min_p);
  check_option("length_alpha", method.length_alpha);
}

void validate(const SamplingOptions& sampling) {
  check_option("temperature", static_cast<double>(sampling.temperature));
  check_option("top_k", sampling.top_k);
  check_option("top_p", static_cast<double>(sampling.top_p));
  check_option("min_p", static_cast<double>(sampling.min_p));
}

}  // namespace dts
