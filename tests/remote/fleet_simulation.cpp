// Fleets of up to 1,000 endpoints, ten questions each, with the real engine, fleet and scheduler under a simulated
// network and clock: one CSV line for each size, calm and with endpoints that fail. scripts/fleet_figure.mjs draws it.
//
// The endpoints cost what was measured (docs/distributed.md): so many seconds a token, more for every stream beside it,
// and so many for a prompt's token that the prefix cache does not have.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "dts/rng.h"
#include "dts/scheduler.h"
#include "engine/remote/remote_engine.h"
#include "remote/no_pieces.h"
#include "remote/simulated_network.h"

namespace dts {
namespace {

using namespace remote;

constexpr int kQuestionsAnEndpoint = 10;
constexpr int kBranches = 6;  // of a tree
constexpr int kAtOnce = 2;    // questions an endpoint has at a time
constexpr int kPrompt = 64;   // tokens, of which the first half is the same for all
constexpr int kTokens = 64;   // a trajectory

struct Costs {
  double latency = 0.0005;
  double per_token = 0.0011;
  double per_stream = 0.0002;
  double per_prompt_token = 0.0001;
};

NetworkOptions network_of(int endpoints, const Costs& costs, bool failing, std::uint64_t seed) {
  auto draw = [seed, n = std::uint64_t{0}]() mutable { return to_unit(draw_bits(seed, ++n)); };
  NetworkOptions options;
  options.seed = seed;
  options.jitter = 0.5;
  options.endpoints.resize(static_cast<std::size_t>(endpoints));
  for (SimulatedEndpoint& endpoint : options.endpoints) {
    endpoint.latency = costs.latency;
    endpoint.per_token = costs.per_token;
    endpoint.per_stream = costs.per_stream;
    endpoint.per_prompt_token = costs.per_prompt_token;
    endpoint.cache_blocks = 4096;
    if (!failing) continue;
    // One in ten is away for half a second, one in twenty is five times as slow.
    if (draw() < 0.1) {
      const double from = draw();
      endpoint.outages.emplace_back(from, from + 0.5);
    }
    if (draw() < 0.05) endpoint.per_token *= 5;
  }
  return options;
}

struct Line {
  double seconds = 0;  // simulated
  double cpu = 0;      // real
  std::int64_t tokens = 0;
  std::int64_t failed = 0;
  double cached = 0;  // share of the prefixes' tokens
  std::vector<double> latencies;
  Traffic traffic;
};

Line simulate(int endpoints, const Costs& costs, bool failing) {
  WireModel model;
  model.kind = RemoteKind::kVllm;
  model.n_vocab = 8;
  model.decision_token = model.n_vocab;
  // An end grows likely with the length: trajectories of some fifty tokens.
  model.script = RandomScript{.seed = 11, .n_vocab = model.n_vocab, .end_token = 0, .end_bias = -8.5};
  SimulatedNetwork network(model, network_of(endpoints, costs, failing, static_cast<std::uint64_t>(endpoints)));
  const auto protocol = protocol_for(model);
  NoPieces pieces;
  RemoteEngineOptions options;
  options.urls = network.urls();
  options.candidates = model.n_vocab;
  options.n_vocab = model.n_vocab;
  options.max_branches = endpoints * kAtOnce * kBranches;
  options.context_length = kPrompt + kTokens;
  options.stream.first_token_seconds = 5;
  options.stream.stall_seconds = 1;
  Line line;
  const auto start = std::chrono::steady_clock::now();
  {
    RemoteEngine engine(options, *protocol, pieces, network.transport(), network.clock());
    Scheduler scheduler(engine);
    SearchOptions search;
    search.method = make_method("dts-stable", {.branch = {.tau_v = 1.0, .max_branches = kBranches}, .votes = 4});
    search.sampling.temperature = 0;
    search.max_tokens = kTokens;
    for (int question = 0; question < endpoints * kQuestionsAnEndpoint; ++question) {
      std::vector<Token> prompt;
      for (int i = 0; i < kPrompt; ++i) {
        const bool shared = i < kPrompt / 2;
        const std::uint64_t bits =
            draw_bits(shared ? 0 : static_cast<std::uint64_t>(question) + 1, static_cast<std::uint64_t>(i));
        prompt.push_back(static_cast<Token>(1 + bits % 7));
      }
      Job job;
      job.search = std::make_shared<Search>(
          std::move(prompt), search,
          SearchText{.is_end = [](Token token) { return token == 0; },
                     .answer_of = [](std::span<const Token> tokens) { return std::to_string(tokens.size() % 3); }},
          model.n_vocab);
      auto begun = std::make_shared<double>(0);
      job.on_prefill = [&network, begun](const JobProgress&) { *begun = network.now(); };
      job.on_done = [&, begun, of = std::weak_ptr<Search>(job.search)](const JobTimes&) {
        const auto done = of.lock();
        line.latencies.push_back(network.now() - *begun);
        line.tokens += done->outcome().account.fed_tokens;
        line.failed += done->outcome().error.empty() ? 0 : 1;
      };
      scheduler.submit(std::move(job));
    }
    scheduler.run();
    line.traffic = engine.traffic();
  }
  line.cpu = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  line.seconds = network.now();
  line.cached = static_cast<double>(network.cached_tokens()) / static_cast<double>(network.prefix_tokens());
  std::sort(line.latencies.begin(), line.latencies.end());
  return line;
}

double quantile(const std::vector<double>& sorted, double share) {
  return sorted[std::min(sorted.size() - 1, static_cast<std::size_t>(share * static_cast<double>(sorted.size())))];
}

int run(int most, const Costs& costs, const std::string& network) {
  fmt::print(
      "network,endpoints,questions,seconds,tokens,tokens_per_s,tokens_per_s_endpoint,cached_share,latency_p50_s,"
      "latency_p99_s,latency_max_s,requests,retries,overshoot_tokens,failed\n");
  for (const bool failing : {false, true}) {
    if (!network.empty() && network != (failing ? "failing" : "calm")) continue;
    for (const int endpoints : {1, 3, 10, 30, 100, 300, 1000}) {
      if (endpoints > most) continue;
      const Line line = simulate(endpoints, costs, failing);
      const double rate = static_cast<double>(line.tokens) / line.seconds;
      fmt::print("{},{},{},{:.3f},{},{:.0f},{:.1f},{:.4f},{:.4f},{:.4f},{:.4f},{},{},{},{}\n",
                 failing ? "failing" : "calm", endpoints, line.latencies.size(), line.seconds, line.tokens, rate,
                 rate / endpoints, line.cached, quantile(line.latencies, 0.5), quantile(line.latencies, 0.99),
                 line.latencies.back(), line.traffic.requests, line.traffic.retries, line.traffic.overshoot_tokens,
                 line.failed);
      std::fflush(stdout);
      fmt::print(stderr, "{} endpoints: {:.1f} s here, {:.1f} us a token\n", endpoints, line.cpu,
                 1e6 * line.cpu / static_cast<double>(line.tokens));
    }
  }
  return 0;
}

}  // namespace
}  // namespace dts

// fleet_simulation [most endpoints [latency, per token, per stream, per prompt token: seconds [calm or failing]]]
int main(int count, char** arguments) {
  dts::Costs costs;
  const auto number = [&](int i, double otherwise) { return count > i ? std::atof(arguments[i]) : otherwise; };
  costs.latency = number(2, costs.latency);
  costs.per_token = number(3, costs.per_token);
  costs.per_stream = number(4, costs.per_stream);
  costs.per_prompt_token = number(5, costs.per_prompt_token);
  return dts::run(static_cast<int>(number(1, 1000)), costs, count > 6 ? arguments[6] : "");
}
