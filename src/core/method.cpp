#include "dts/method.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "dts/error.h"

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
    MethodInfo{"max-logit", "The same tree, grown until nothing lives; the trajectory most probable per token wins.",
               "the paper's comparison with early stopping; length normalisation as in beam search"},
    MethodInfo{"dts-greedy", "A tree that splits at decision tokens; the first trajectory to finish wins.",
               "Decoding Tree Sketching, B = 1"},
    MethodInfo{"dts-stable", "A tree that splits at decision tokens; the first B trajectories to finish vote.",
               "Decoding Tree Sketching, B = 8"},
};

Error out_of_range(std::string_view flag, const auto& value, std::string_view range) {
  return usage_error(fmt::format("{} is {}: it must be {}", flag, value, range));
}

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
  if (options.votes < 1) throw out_of_range("--votes", options.votes, "at least 1");
  if (options.samples < 1) throw out_of_range("--samples", options.samples, "at least 1");
  Method method;
  method.name = name;
  method.stop.consensus = options.consensus;
  method.stop.certainty = options.certainty;
  method.branch = options.branch;
  method.branch.enabled = false;
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
      throw usage_error(fmt::format("--votes is {}: of {} trajectories (--samples) no more than that many can vote",
                                    options.votes, options.samples));
    }
    independent(options.samples, options.votes, SelectRule::kMajority);
  } else if (name == "max-logit") {
    // Selection in place of early stopping: with both, the stop would have decided before the selection.
    tree(StopRule::kAll, SelectRule::kMaxMeanLogprob);
  } else if (name == "dts-greedy") {
    tree(1, SelectRule::kFirst);
  } else if (name == "dts-stable") {
    tree(options.votes, SelectRule::kMajority);
  } else {
    std::string known;
    for (const MethodInfo& info : kMethods) known += fmt::format("{}{}", known.empty() ? "" : ", ", info.name);
    throw usage_error(fmt::format("--method is '{}': it must be one of {}", name, known));
  }
  return method;
}

void validate(const Method& method, int n_vocab) {
  if (method.width < 1) throw out_of_range("the number of trajectories", method.width, "at least 1");
  if (method.retire.enabled) {
    if (method.retire.warmup < 1) throw out_of_range("--warmup", method.retire.warmup, "at least 1");
    if (method.retire.window < 0) throw out_of_range("--window", method.retire.window, "at least 1 token");
  }
  const auto share = [](double value) { return value >= 0 && value <= 1; };
  if (!share(method.stop.consensus)) {
    throw out_of_range("--consensus", method.stop.consensus, "between 0 (off) and 1");
  }
  if (!share(method.stop.certainty)) {
    throw out_of_range("--adaptive", method.stop.certainty, "between 0 (off) and 1");
  }
  if (method.stop.finished < 1) throw out_of_range("--votes", method.stop.finished, "at least 1");
  const BranchRule& rule = method.branch;
  if (!(rule.tau_v >= 0)) throw out_of_range("--tau-v", rule.tau_v, "0 or more nats^2 ('inf' never branches)");
  if (!(rule.tau_h >= 0)) throw out_of_range("--tau-h", rule.tau_h, "0 or more nats");
  if (rule.k < 1 || (rule.enabled && rule.k > n_vocab)) {
    throw out_of_range("--branch-k", rule.k, fmt::format("between 1 and the vocabulary's {} tokens", n_vocab));
  }
  if (rule.max_branches < 1) throw out_of_range("--max-branches", rule.max_branches, "at least 1");
}

void validate(const SamplingOptions& sampling) {
  if (!(sampling.temperature >= 0) || std::isinf(sampling.temperature)) {
    throw out_of_range("--temp", sampling.temperature, "a finite number, 0 (most probable token) or more");
  }
  if (sampling.top_k < 0) throw out_of_range("--top-k", sampling.top_k, "0 (no limit) or more");
  if (!(sampling.top_p > 0 && sampling.top_p <= 1)) {
    throw out_of_range("--top-p", sampling.top_p, "above 0 and at most 1 (no limit)");
  }
  if (!(sampling.min_p >= 0 && sampling.min_p <= 1)) {
    throw out_of_range("--min-p", sampling.min_p, "between 0 (no limit) and 1");
  }
}

}  // namespace dts
