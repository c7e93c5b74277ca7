#include "dts/method.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "dts/error.h"

namespace dts {
namespace {

constexpr std::array kMethods = {
    MethodInfo{"standard", "One trajectory, sampled token by token.", "plain autoregressive decoding"},
    MethodInfo{"self-consistency", "N independent trajectories, all to their end; the majority answer wins.",
               "Wang et al. 2022, arXiv:2203.11171"},
    MethodInfo{"first-finish", "N independent trajectories; the first to finish wins and stops the rest.",
               "First Finish Search, Agarwal et al. 2025, arXiv:2505.18149"},
    MethodInfo{"short-m@k", "k independent trajectories; the first m to finish vote and stop the rest.",
               "Hassid et al. 2025, arXiv:2505.17813"},
    MethodInfo{"max-logit", "The tree of dts-stable; of its finished trajectories, the most probable per token wins.",
               "the paper's comparison with early stopping; length normalisation as in beam search"},
    MethodInfo{"dts-greedy", "A tree that splits at decision tokens; the first trajectory to finish wins.",
               "Decoding Tree Sketching, B = 1"},
    MethodInfo{"dts-stable", "A tree that splits at decision tokens; the first B trajectories to finish vote.",
               "Decoding Tree Sketching, B = 8"},
};

Error out_of_range(std::string_view flag, const auto& value, std::string_view range) {
  return usage_error(fmt::format("{} is {}: it must be {}", flag, value, range));
}

}  // namespace

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
  } else if (name == "first-finish") {
    independent(options.votes, 1, SelectRule::kFirst);
  } else if (name == "short-m@k") {
    if (options.votes > options.samples) {
      throw usage_error(fmt::format("--votes is {}: of {} trajectories (--samples) no more than that many can vote",
                                    options.votes, options.samples));
    }
    independent(options.samples, options.votes, SelectRule::kMajority);
  } else if (name == "max-logit") {
    tree(options.votes, SelectRule::kMaxMeanLogprob);
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
