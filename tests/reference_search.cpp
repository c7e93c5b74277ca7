#include "reference_search.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace dts {
namespace {

struct Trajectory {
  std::vector<Token> tokens;  // generated
  PathKey key = 0;
  double logprob = 0;
};

std::vector<double> softmax(const std::vector<double>& logits, double temperature) {
  const double top = *std::max_element(logits.begin(), logits.end());
  std::vector<double> p;
  double sum = 0;
  for (const double z : logits) {
    p.push_back(std::exp((z - top) / temperature));
    sum += p.back();
  }
  for (double& x : p) x /= sum;
  return p;
}

bool close(double a, double b, double tolerance) { return std::abs(a - b) < tolerance; }

// Token ids, most probable first; ties: lower id.
std::vector<Token> ranking(const std::vector<double>& logits) {
  std::vector<Token> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](Token a, Token b) {
    return logits[static_cast<std::size_t>(a)] > logits[static_cast<std::size_t>(b)];
  });
  return order;
}

Token sample(const std::vector<double>& logits, const SamplingOptions& options, double u, bool& fragile) {
  const std::vector<Token> order = ranking(logits);
  if (options.temperature == 0) return order.front();
  const std::vector<double> q = softmax(logits, static_cast<double>(options.temperature));
  const auto at = [&](Token t) { return q[static_cast<std::size_t>(t)]; };

  std::vector<Token> kept = order;
  if (options.top_k > 0 && static_cast<std::size_t>(options.top_k) < kept.size()) {
    kept.resize(static_cast<std::size_t>(options.top_k));
  }
  if (options.top_p < 1) {
    double mass = 0;
    for (const Token t : kept) mass += at(t);
    double cumulative = 0;
    std::size_t n = 0;
    while (n < kept.size()) {
      cumulative += at(kept[n++]) / mass;
      if (close(cumulative, static_cast<double>(options.top_p), 1e-5)) fragile = true;
      if (cumulative >= static_cast<double>(options.top_p)) break;
    }
    kept.resize(n);
  }
  if (options.min_p > 0) {
    const double bar = static_cast<double>(options.min_p) * at(order.front());
    for (const Token t : kept) {
      if (close(at(t), bar, 1e-5)) fragile = true;
    }
    std::erase_if(kept, [&](Token t) { return at(t) < bar; });
  }
  std::sort(kept.begin(), kept.end());
  double mass = 0;
  for (const Token t : kept) mass += at(t);
  double cumulative = 0;
  for (const Token t : kept) {
    cumulative += at(t);
    if (t != kept.back() && close(cumulative, u * mass, 1e-5)) fragile = true;
    if (cumulative > u * mass) return t;
  }
  return kept.back();
}

bool is_decision(const BranchRule& rule, double entropy, double varentropy) {
  if (rule.criterion == Criterion::kDecision) return varentropy >= rule.tau_v && entropy <= rule.tau_h;
  if (rule.criterion == Criterion::kHighEntropy) return entropy >= rule.tau_h;
  return entropy >= rule.tau_h || varentropy >= rule.tau_v;
}

}  // namespace

ReferenceResult reference_search(const LogitsScript& script, const std::vector<Token>& prompt,
                                 const SearchOptions& options, const SearchText& text, int n_vocab) {
  const Method& method = options.method;
  ReferenceResult result;
  std::vector<Trajectory> live;
  for (int i = 0; i < method.width; ++i) {
    live.push_back({{}, root_key(options.seed, static_cast<std::uint64_t>(i)), 0.0});
  }
  result.peak_live = method.width;
  std::vector<double> finished_mean_logprob;
  bool reached_cap = false;

  while (result.reason == StopReason::kRunning) {
    ++result.steps;
    std::vector<Trajectory> older;
    std::vector<Trajectory> younger;
    int taken = static_cast<int>(live.size());  // places under the cap: every live branch, and every fork of this step

    const auto settle = [&](Trajectory trajectory, std::vector<Trajectory>& where) {
      ++result.unique_tokens;
      if (text.is_end(trajectory.tokens.back())) {
        result.finished.push_back(trajectory.tokens);
        result.answers.push_back(text.answer_of(trajectory.tokens));
        finished_mean_logprob.push_back(trajectory.logprob / static_cast<double>(trajectory.tokens.size()));
        result.leaves.push_back({trajectory.tokens, SegmentState::kFinished});
      } else if (static_cast<int>(trajectory.tokens.size()) == options.max_tokens) {
        result.leaves.push_back({trajectory.tokens, SegmentState::kExhausted});
      } else {
        where.push_back(std::move(trajectory));
      }
    };

    for (const Trajectory& branch : live) {
      reached_cap = reached_cap || taken >= method.branch.max_branches;
      std::vector<Token> context = prompt;
      context.insert(context.end(), branch.tokens.begin(), branch.tokens.end());
      std::vector<float> raw(static_cast<std::size_t>(n_vocab));
      script(context, raw);
      const std::vector<double> logits(raw.begin(), raw.end());

      const std::vector<double> p = softmax(logits, static_cast<double>(options.stat_temperature));
      double entropy = 0;
      for (const double x : p) entropy += x > 0 ? -x * std::log(x) : 0;
      double varentropy = 0;
      for (const double x : p) varentropy += x > 0 ? x * (-std::log(x) - entropy) * (-std::log(x) - entropy) : 0;
      const std::vector<double> p1 = softmax(logits, 1.0);
      const std::uint64_t position = branch.tokens.size();

      int children = 0;
      if (method.branch.enabled) {
        if (close(entropy, method.branch.tau_h, 1e-4) || close(varentropy, method.branch.tau_v, 1e-3)) {
          result.fragile = true;
        }
        if (is_decision(method.branch, entropy, varentropy)) {
          children = std::min(method.branch.k, method.branch.max_branches - taken + 1);
          if (children < 2 && method.branch.k > 1) children = 0;
          if (reached_cap && method.branch.freeze == Freeze::kPermanent && method.branch.k > 1) children = 0;
        }
      }
      const auto grown = [&](Token token, PathKey key) {
        Trajectory longer = branch;
        longer.tokens.push_back(token);
        longer.key = key;
        longer.logprob += std::log(p1[static_cast<std::size_t>(token)]);
        return longer;
      };
      if (children == 0) {
        const Token token = sample(logits, options.sampling, to_unit(draw_bits(branch.key, position)), result.fragile);
        settle(grown(token, branch.key), older);
        continue;
      }
      const std::vector<Token> best = ranking(logits);
      if (children > 1) {
        result.decisions.push_back({branch.tokens, {best.begin(), best.begin() + children}});
        taken += children - 1;
        reached_cap = reached_cap || taken >= method.branch.max_branches;
      }
      for (int c = 0; c < children; ++c) {
        const PathKey key = c == 0 ? branch.key : child_key(branch.key, position, static_cast<std::uint64_t>(c));
        settle(grown(best[static_cast<std::size_t>(c)], key), c == 0 ? older : younger);
      }
    }
    live = std::move(older);
    live.insert(live.end(), younger.begin(), younger.end());
    result.peak_live = std::max(result.peak_live, static_cast<int>(live.size()));

    if (static_cast<int>(result.finished.size()) >= method.stop.finished) {
      result.reason = StopReason::kEnoughFinished;
    } else if (live.empty()) {
      result.reason = StopReason::kNothingLive;
    } else if (options.max_total_tokens > 0 &&
               static_cast<std::int64_t>(result.unique_tokens) >= options.max_total_tokens) {
      result.reason = StopReason::kTokenBudget;
    }
  }
  for (const Trajectory& branch : live) result.leaves.push_back({branch.tokens, SegmentState::kCut});

  if (result.finished.empty()) return result;
  result.winner = 0;
  if (method.select == SelectRule::kMaxMeanLogprob) {
    for (std::size_t i = 1; i < result.finished.size(); ++i) {
      const double gain = finished_mean_logprob[i] - finished_mean_logprob[*result.winner];
      if (close(gain, 0, 1e-5) && result.finished[i] != result.finished[*result.winner]) result.fragile = true;
      if (gain > 0) result.winner = i;
    }
  } else if (method.select == SelectRule::kMajority) {
    std::map<std::string, int> votes;
    for (const std::string& answer : result.answers) {
      if (!answer.empty()) ++votes[answer];
    }
    int most = 0;
    for (const auto& [answer, n] : votes) most = std::max(most, n);
    std::string chosen;  // of the answers with the most votes, the one that finished first
    for (const std::string& answer : result.answers) {
      if (chosen.empty() && !answer.empty() && votes[answer] == most) chosen = answer;
    }
    bool found = false;
    for (std::size_t i = 0; i < result.finished.size(); ++i) {
      if (chosen.empty() || result.answers[i] != chosen) continue;
      if (!found || result.finished[i].size() < result.finished[*result.winner].size()) result.winner = i;
      found = true;
    }
  }
  return result;
}

}  // namespace dts
