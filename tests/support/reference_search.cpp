#include "support/reference_search.h"

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
  std::vector<double> confidences;  // of each token's distribution
  bool warmup = false;
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

// Minus the mean log-probability of the 20 most probable tokens.
double confidence_of(const std::vector<double>& p1, const std::vector<Token>& ranked) {
  const std::size_t k = std::min<std::size_t>(20, ranked.size());
  double sum = 0;
  for (std::size_t i = 0; i < k; ++i) sum -= std::log(p1[static_cast<std::size_t>(ranked[i])]);
  return sum / static_cast<double>(k);
}

double mean_of(const std::vector<double>& values, std::size_t begin, std::size_t end) {
  return std::accumulate(values.begin() + static_cast<std::ptrdiff_t>(begin),
                         values.begin() + static_cast<std::ptrdiff_t>(end), 0.0) /
         static_cast<double>(end - begin);
}

double lowest_window(const std::vector<double>& values, std::size_t window) {
  if (values.size() < window) return mean_of(values, 0, values.size());
  double lowest = mean_of(values, 0, window);
  for (std::size_t end = window; end <= values.size(); ++end) {
    lowest = std::min(lowest, mean_of(values, end - window, end));
  }
  return lowest;
}

// P(p > 1/2) under Beta(a + 1, b + 1), by integrating the density.
double certainty_of(int a, int b) {
  double above = 0;
  double all = 0;
  constexpr int kParts = 20000;
  for (int i = 0; i < kParts; ++i) {
    const double p = (i + 0.5) / kParts;
    const double density = std::pow(p, a) * std::pow(1 - p, b);
    all += density;
    if (p > 0.5) above += density;
  }
  return above / all;
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
  int started = 0;
  const auto start = [&](int until, bool warmup) {
    for (; started < until; ++started) {
      live.push_back({{}, root_key(options.seed, static_cast<std::uint64_t>(started)), 0.0, {}, warmup});
    }
  };
  const RetireRule& retire = method.retire;
  start(retire.enabled ? std::min(retire.warmup, method.width) : method.width, retire.enabled);
  result.peak_live = static_cast<int>(live.size());
  std::vector<Trajectory> finished;
  std::vector<double> warmup_lows;
  std::optional<double> bar;
  const auto window =
      static_cast<std::size_t>(retire.window > 0 ? retire.window : std::min(2048, std::max(1, options.max_tokens / 8)));
  const auto weight_of = [&](const Trajectory& trajectory) {
    const double lowest = lowest_window(trajectory.confidences, window);
    if (bar && !trajectory.warmup && close(lowest, *bar, 1e-4)) result.fragile = true;
    if (bar && lowest < *bar) return 0.0;
    return method.select == SelectRule::kWeightedMajority ? lowest_window(trajectory.confidences, window) : 1.0;
  };
  bool reached_cap = false;
  std::map<std::string, std::string> written_as;  // an answer -> how its class is spelled

  while (result.reason == StopReason::kRunning) {
    ++result.steps;
    const std::size_t finished_before = result.finished.size();
    std::vector<Trajectory> older;
    std::vector<Trajectory> younger;
    int taken = static_cast<int>(live.size());  // places under the cap: every live branch, and every fork of this step

    const auto settle = [&](Trajectory trajectory, std::vector<Trajectory>& where) {
      ++result.unique_tokens;
      const bool ended = text.is_end(trajectory.tokens.back());
      const bool full = static_cast<int>(trajectory.tokens.size()) == options.max_tokens;
      if ((ended || full) && trajectory.warmup) warmup_lows.push_back(lowest_window(trajectory.confidences, window));
      const std::size_t n = trajectory.confidences.size();
      bool retired = false;
      if (bar && n >= window) {
        const double current = mean_of(trajectory.confidences, n - window, n);
        if (close(current, *bar, 1e-4)) result.fragile = true;
        retired = current < *bar;
      }
      if (ended) {
        result.finished.push_back(trajectory.tokens);
        // As the first before it that means the same has it; of those only the ones that stand for themselves.
        std::string answer = text.answer_of(trajectory.tokens);
        for (const std::string& earlier : result.answers) {
          if (answer.empty() || written_as.count(answer) > 0) break;
          if (earlier.empty()) continue;
          if (earlier == answer || (text.same_answer && text.same_answer(earlier, answer))) {
            written_as[answer] = earlier;
            break;
          }
        }
        if (!answer.empty()) answer = written_as.try_emplace(answer, answer).first->second;
        result.answers.push_back(answer);
        finished.push_back(trajectory);
        result.leaves.push_back({trajectory.tokens, SegmentState::kFinished});
      } else if (full) {
        result.leaves.push_back({trajectory.tokens, SegmentState::kExhausted});
      } else if (retired) {
        result.leaves.push_back({trajectory.tokens, SegmentState::kRetired});
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

      const std::vector<Token> best = ranking(logits);
      int children = 0;
      if (method.branch.enabled) {
        if (close(entropy, method.branch.tau_h, 1e-4) || close(varentropy, method.branch.tau_v, 1e-3)) {
          result.fragile = true;
        }
        if (is_decision(method.branch, entropy, varentropy)) {
          children = std::min(method.branch.k, method.branch.max_branches - taken + 1);
          if (children < 2 && method.branch.k > 1) children = 0;
          if (reached_cap && method.branch.freeze == Freeze::kPermanent && method.branch.k > 1) children = 0;
          // Of the K, those probable enough; with only one of them there is nothing to decide.
          int worthy = 1;
          for (int i = 1; i < std::min(method.branch.k, n_vocab); ++i) {
            const double share =
                p1[static_cast<std::size_t>(best[static_cast<std::size_t>(i)])] / p1[static_cast<std::size_t>(best[0])];
            if (method.branch.min_p > 0 && close(share, method.branch.min_p, 1e-5)) result.fragile = true;
            if (share >= method.branch.min_p) ++worthy;
          }
          children = std::min(children, worthy);
          if (children == 1 && method.branch.k > 1) children = 0;
        }
      }
      const auto grown = [&](Token token, PathKey key) {
        Trajectory longer = branch;
        longer.tokens.push_back(token);
        longer.key = key;
        longer.logprob += std::log(p1[static_cast<std::size_t>(token)]);
        longer.confidences.push_back(confidence_of(p1, best));
        return longer;
      };
      if (children == 0) {
        const Token token = sample(logits, options.sampling, to_unit(draw_bits(branch.key, position)), result.fragile);
        settle(grown(token, branch.key), older);
        continue;
      }
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
    if (live.empty() && retire.enabled && !bar) {
      // The bar: the (1 - keep) quantile, interpolated between its neighbours.
      std::sort(warmup_lows.begin(), warmup_lows.end());
      const double at = (1 - retire.keep) * static_cast<double>(warmup_lows.size() - 1);
      const auto below = static_cast<std::size_t>(at);
      const std::size_t above = std::min(below + 1, warmup_lows.size() - 1);
      bar = warmup_lows[below] + (at - static_cast<double>(below)) * (warmup_lows[above] - warmup_lows[below]);
      for (const double low : warmup_lows) {
        if (close(low, *bar, 1e-4)) result.fragile = result.fragile || low != *bar;
      }
      start(method.width, false);
    }
    result.peak_live = std::max(result.peak_live, static_cast<int>(live.size()));

    // Do the answers agree?
    bool agreed = false;
    std::map<std::string, double> weights;
    std::map<std::string, int> counts;
    double total = 0;
    for (std::size_t i = 0; i < finished.size(); ++i) {
      if (result.answers[i].empty() || weight_of(finished[i]) <= 0) continue;
      weights[result.answers[i]] += weight_of(finished[i]);
      ++counts[result.answers[i]];
      total += weight_of(finished[i]);
    }
    if (total > 0 && finished.size() > finished_before && (!retire.enabled || bar)) {
      double leader = 0;
      for (const auto& [answer, weight] : weights) leader = std::max(leader, weight);
      int voters = 0;
      for (const auto& [answer, n] : counts) voters += n;
      if (method.stop.consensus > 0 && voters >= 2) {  // one vote is no consensus
        if (close(leader / total, method.stop.consensus, 1e-4)) result.fragile = true;
        agreed = leader / total >= method.stop.consensus;
      }
      if (method.stop.adaptive > 0) {
        std::vector<int> sizes;
        for (const auto& [answer, n] : counts) sizes.push_back(n);
        std::sort(sizes.rbegin(), sizes.rend());
        const double certainty = certainty_of(sizes[0], sizes.size() > 1 ? sizes[1] : 0);
        if (close(certainty, method.stop.adaptive, 1e-4)) result.fragile = true;
        agreed = agreed || certainty >= method.stop.adaptive;
      }
    }
    if (static_cast<int>(result.finished.size()) >= method.stop.finished) {
      result.reason = StopReason::kEnoughFinished;
    } else if (agreed) {
      result.reason = StopReason::kAgreement;
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
  const auto n_tokens = [&](std::size_t i) { return static_cast<double>(finished[i].tokens.size()); };
  if (method.select == SelectRule::kMaxLogprob || method.select == SelectRule::kMaxConfidence) {
    const auto score = [&](std::size_t i) {
      return method.select == SelectRule::kMaxConfidence
                 ? mean_of(finished[i].confidences, 0, finished[i].confidences.size())
                 : finished[i].logprob / std::pow((5 + n_tokens(i)) / 6, method.length_alpha);
    };
    for (std::size_t i = 1; i < finished.size(); ++i) {
      const double gain = score(i) - score(*result.winner);
      if (close(gain, 0, 1e-4) && result.finished[i] != result.finished[*result.winner]) result.fragile = true;
      if (gain > 0) result.winner = i;
    }
  } else if (method.select != SelectRule::kFirst) {
    std::map<std::string, double> weights;
    for (std::size_t i = 0; i < finished.size(); ++i) {
      if (!result.answers[i].empty()) weights[result.answers[i]] += weight_of(finished[i]);
    }
    double heaviest = 0;
    for (const auto& [answer, weight] : weights) heaviest = std::max(heaviest, weight);
    for (const auto& [answer, weight] : weights) {
      if (weight != heaviest && close(weight, heaviest, 1e-4)) result.fragile = true;
    }
    // Of the heaviest answers the one that finished first; of its trajectories the shortest.
    std::string chosen;
    for (std::size_t i = 0; i < finished.size(); ++i) {
      if (chosen.empty() && weight_of(finished[i]) > 0 && weights[result.answers[i]] == heaviest)
        chosen = result.answers[i];
    }
    bool found = false;
    for (std::size_t i = 0; i < finished.size(); ++i) {
      if (chosen.empty() || result.answers[i] != chosen || weight_of(finished[i]) <= 0) continue;
      if (!found || n_tokens(i) < n_tokens(*result.winner)) result.winner = i;
      found = true;
    }
    if (!found && method.select == SelectRule::kWeightedMajority) result.winner.reset();
  }
  return result;
}

}  // namespace dts
