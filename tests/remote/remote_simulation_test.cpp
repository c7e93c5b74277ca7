// The remote engine, its fleet, streams and protocols, under a simulated network: whatever happens to requests, trees
// are those of an undisturbed run.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "dts/rng.h"
#include "dts/scheduler.h"
#include "dts/search.h"
#include "engine/remote/remote_engine.h"
#include "remote/no_pieces.h"
#include "remote/simulated_network.h"
#include "support/scripted_engine.h"

namespace dts {
namespace {

using namespace remote;

struct WireKind {
  RemoteKind kind;
  bool tells_decisions = false;
  auto operator<=>(const WireKind&) const = default;
};
constexpr WireKind kKinds[] = {
    {RemoteKind::kVllm}, {RemoteKind::kSglang}, {RemoteKind::kLlamaServer}, {RemoteKind::kVllm, true}};

WireModel make_model(std::uint64_t seed, WireKind kind) {
  WireModel model;
  model.kind = kind.kind;
  model.n_vocab = 10;
  if (kind.tells_decisions) model.decision_token = model.n_vocab;
  model.script = RandomScript{.seed = seed, .n_vocab = model.n_vocab, .end_token = 0, .end_bias = -1.0};
  model.incremental = seed % 2 == 0;
  return model;
}

SearchOptions make_options(std::uint64_t seed, const char* method = "dts-stable") {
  SearchOptions options;
  options.method = make_method(method, {.branch = {.tau_v = 0.3, .max_branches = 5}, .votes = 3});
  options.sampling.temperature = 0;
  options.max_tokens = 14;
  options.seed = seed;
  return options;
}

std::shared_ptr<Search> make_search(const SearchOptions& options, std::vector<Token> prompt) {
  return std::make_shared<Search>(
      std::move(prompt), options,
      SearchText{.is_end = [](Token token) { return token == 0; },
                 .answer_of = [](std::span<const Token> tokens) { return std::to_string(tokens.size() % 3); }},
      10);
}

// Everything that must not depend on the network. Statistics to the last bit.
std::string describe(const Search& search, bool statistics = true) {
  std::string text = fmt::format("{} ", to_string(search.outcome().reason));
  for (const Segment& segment : search.tree().segments()) {
    text += fmt::format("\n{} {}:", segment.parent, static_cast<int>(segment.state));
    for (const TokenRecord& token : segment.tokens) {
      text += fmt::format(" {}", token.token);
      if (statistics) text += fmt::format("/{:a}/{:a}/{:a}", token.logprob, token.entropy, token.varentropy);
    }
  }
  return text;
}

RemoteEngineOptions engine_options(const SimulatedNetwork& network, int n_vocab) {
  RemoteEngineOptions options;
  options.urls = network.urls();
  options.candidates = n_vocab;
  options.n_vocab = n_vocab;
  options.max_branches = 64;
  options.context_length = 4096;
  options.stream.first_token_seconds = 2;
  options.stream.stall_seconds = 1;
  return options;
}

struct Decoded {
  std::vector<std::string> trees;
  Traffic traffic;
  std::int64_t fed = 0;
};

Decoded run(const WireModel& model, SimulatedNetwork& network, const std::vector<std::shared_ptr<Search>>& searches,
            const RemoteEngineOptions& options) {
  const std::unique_ptr<Protocol> protocol = protocol_for(model);
  NoPieces pieces;
  Decoded result;
  {
    RemoteEngine engine(options, *protocol, pieces, network.transport(), network.clock());
    Scheduler scheduler(engine);
    for (const auto& search : searches) {
      Job job;
      job.search = search;
      scheduler.submit(std::move(job));
    }
    scheduler.run();
    for (int i = 0; i < engine.fleet().size(); ++i) EXPECT_EQ(engine.fleet().streams(i), 0) << "left open";
    result.traffic = engine.traffic();
  }
  for (const auto& search : searches) {
    EXPECT_EQ(search->outcome().error, "");
    result.trees.push_back(describe(*search));
    result.fed += search->outcome().account.fed_tokens;
  }
  EXPECT_EQ(network.open_calls(), 0) << "requests left open";
  EXPECT_EQ(result.traffic.received_tokens, result.fed + result.traffic.overshoot_tokens)
      << "every token received was used once, or is overshoot";
  return result;
}

Decoded run(const WireModel& model, SimulatedNetwork& network, const std::vector<std::shared_ptr<Search>>& searches) {
  return run(model, network, searches, engine_options(network, model.n_vocab));
}

std::vector<std::shared_ptr<Search>> two_questions(std::uint64_t seed) {
  return {make_search(make_options(seed), {1, 2, 3}), make_search(make_options(seed), {4, 5})};
}

NetworkOptions quiet(int endpoints) {
  NetworkOptions options;
  options.endpoints.resize(static_cast<std::size_t>(endpoints));
  return options;
}

NetworkOptions disturbed(std::uint64_t seed) {
  auto draw = [seed, n = std::uint64_t{0}]() mutable { return to_unit(draw_bits(seed ^ 0x5DEECE66DULL, ++n)); };
  NetworkOptions options;
  options.seed = seed;
  options.jitter = 4 * draw();
  options.fault_share = 0.5 * draw();
  options.most_faults = 10;
  options.endpoints.resize(1 + static_cast<std::size_t>(4 * draw()));
  for (SimulatedEndpoint& endpoint : options.endpoints) {
    endpoint.latency = 0.001 + 0.2 * draw() * draw();
    endpoint.per_token = 0.001 + 0.1 * draw() * draw();
    if (draw() < 0.4) {
      const double from = 2 * draw();
      endpoint.outages.emplace_back(from, from + 3 * draw());
    }
    if (draw() < 0.1) endpoint.room = 1 + static_cast<int>(3 * draw());
  }
  return options;
}

TEST(RemoteSimulation, TheTreeIsThatOfAnEngineInProcess) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    for (const WireKind kind : kKinds) {
      const WireModel model = make_model(seed, kind);
      SimulatedNetwork network(model, quiet(2));
      const auto remote = two_questions(seed);
      run(model, network, remote);
      ScriptedEngine engine({.n_vocab = model.n_vocab, .max_branches = 64}, model.script);
      Scheduler scheduler(engine);
      const auto local = two_questions(seed);
      for (const auto& search : local) {
        Job job;
        job.search = search;
        scheduler.submit(std::move(job));
      }
      scheduler.run();
      for (std::size_t i = 0; i < local.size(); ++i) {
        ASSERT_EQ(describe(*remote[i], false), describe(*local[i], false)) << "seed " << seed;
      }
    }
  }
}

// Scenarios, each a seed, in parts that can run side by side. DTS_SIMULATIONS: how many; all that were run for the
// documentation are 10,000.
class RemoteScenarios : public ::testing::TestWithParam<std::uint64_t> {};
constexpr std::uint64_t kParts = 4;

TEST_P(RemoteScenarios, TreesDoNotDependOnTheNetwork) {
  const char* asked = std::getenv("DTS_SIMULATIONS");
  const std::uint64_t scenarios = (asked != nullptr ? std::strtoull(asked, nullptr, 10) : 2000) / kParts;
  int faults = 0;
  std::int64_t retries = 0;
  std::int64_t branched = 0;
  std::map<std::pair<std::uint64_t, WireKind>, std::vector<std::string>> undisturbed;
  for (std::uint64_t seed = GetParam() * scenarios; seed < (GetParam() + 1) * scenarios; ++seed) {
    const std::uint64_t tree = seed / 16;
    const WireKind kind = kKinds[seed % std::size(kKinds)];
    const WireModel model = make_model(tree, kind);
    std::vector<std::string>& expected = undisturbed[{tree, kind}];
    if (expected.empty()) {
      SimulatedNetwork network(model, quiet(1));
      expected = run(model, network, two_questions(tree)).trees;
    }
    SimulatedNetwork network(model, disturbed(seed));
    const auto searches = two_questions(tree);
    RemoteEngineOptions options = engine_options(network, model.n_vocab);
    if (seed % 5 == 0) options.stream.most_ahead = seed % 40;  // numbers: a few tokens, or not even one
    const Decoded result = run(model, network, searches, options);
    ASSERT_EQ(result.trees, expected) << "scenario " << seed;
    if (HasFailure()) FAIL() << "scenario " << seed;
    faults += network.faults();
    retries += result.traffic.retries;
    for (const auto& search : searches) branched += search->outcome().account.branch_events;
  }
  // The scenarios are what they claim to be.
  EXPECT_GT(static_cast<double>(faults) / static_cast<double>(scenarios), 0.5);
  EXPECT_GT(retries, 0);
  EXPECT_GT(static_cast<double>(branched) / static_cast<double>(scenarios), 1.0);
  RecordProperty("faults", faults);
}

INSTANTIATE_TEST_SUITE_P(Parts, RemoteScenarios, ::testing::Range(std::uint64_t{0}, kParts));

TEST(RemoteSimulation, OneRequestABranchAndOnlyWhatChildrenNeed) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const WireModel model = make_model(seed, {RemoteKind::kVllm});
    SimulatedNetwork network(model, quiet(1));
    const auto search = make_search(make_options(seed), {1, 2, 3});
    const Decoded result = run(model, network, {search});
    const auto& segments = search->tree().segments();
    const auto children = std::count_if(segments.begin(), segments.end(),
                                        [](const Segment& segment) { return segment.parent != kNoSegment; });
    EXPECT_LE(result.traffic.requests, children + 1) << "seed " << seed;
    EXPECT_EQ(result.traffic.retries, 0);
  }
}

// A server that tells decision tokens sends no more than the children's log-probabilities, and the tree is exact: three
// of ten candidates would leave most steps undecided.
TEST(RemoteSimulation, ServersThatTellDecisionsNeedFewCandidates) {
  std::int64_t split = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const WireModel model = make_model(seed, {RemoteKind::kVllm, true});
    SimulatedNetwork network(model, quiet(1));
    const auto search = make_search(make_options(seed), {1, 2, 3});
    const Decoded result = run(model, network, {search});
    EXPECT_LE(network.most_candidates(), 3);
    const Account account = search->outcome().account;
    EXPECT_EQ(account.undecided, 0) << "seed " << seed;
    split += account.branch_events;
    const auto& segments = search->tree().segments();
    const auto children = std::count_if(segments.begin(), segments.end(),
                                        [](const Segment& segment) { return segment.parent != kNoSegment; });
    // One for each decision token, also where nothing can branch; and what was open when the tree froze meets one more.
    EXPECT_LE(result.traffic.requests, children + 1 + account.capped_decisions + account.peak_live) << "seed " << seed;
  }
  EXPECT_GT(split, 50);
}

TEST(RemoteSimulation, LogProbabilitiesAreAskedForOnlyWhileTheyMatter) {
  const WireModel model = make_model(3, {RemoteKind::kVllm});
  {
    SimulatedNetwork network(model, quiet(1));
    run(model, network, {make_search(make_options(3, "self-consistency"), {1, 2, 3})});
    EXPECT_EQ(network.with_logprobs(), 0);
    EXPECT_EQ(network.requests(), 3);
  }
  int without = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const WireModel other = make_model(seed, {RemoteKind::kVllm});
    SimulatedNetwork network(other, quiet(1));
    SearchOptions options = make_options(seed);
    options.method.branch.freeze = Freeze::kPermanent;
    options.method.branch.max_branches = 3;
    const auto search = make_search(options, {1, 2, 3});
    run(other, network, {search});
    without += network.requests() - network.with_logprobs();
  }
  EXPECT_GT(without, 10) << "children that can never branch do without";
  // The first to finish ends the search: once the cap is reached, nothing makes room before that.
  without = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const WireModel other = make_model(seed, {RemoteKind::kVllm});
    SimulatedNetwork network(other, quiet(1));
    SearchOptions options = make_options(seed, "dts-greedy");
    options.method.branch.max_branches = 3;
    run(other, network, {make_search(options, {1, 2, 3})});
    without += network.requests() - network.with_logprobs();
  }
  EXPECT_GT(without, 5);
}

TEST(RemoteSimulation, BranchesOfAQuestionStayTogetherAndQuestionsSpread) {
  const WireModel model = make_model(5, {RemoteKind::kVllm});
  SimulatedNetwork network(model, quiet(4));
  std::vector<std::shared_ptr<Search>> searches;
  for (Token first = 1; first <= 4; ++first) searches.push_back(make_search(make_options(5), {first, 2, 3}));
  run(model, network, searches);
  for (const int requests : network.requests_at()) EXPECT_GT(requests, 0);
}

TEST(RemoteSimulation, ASlowEndpointHoldsUpNobodyElse) {
  const WireModel model = make_model(5, {RemoteKind::kVllm});
  NetworkOptions one_slow = quiet(2);
  one_slow.endpoints[1].latency = one_slow.endpoints[1].per_token = 0.9;
  SimulatedNetwork network(model, one_slow);
  const auto protocol = protocol_for(model);
  NoPieces pieces;
  RemoteEngine engine(engine_options(network, model.n_vocab), *protocol, pieces, network.transport(), network.clock());
  Scheduler scheduler(engine);
  std::vector<double> done;
  for (Token first = 1; first <= 2; ++first) {
    Job job;
    job.search = make_search(make_options(5), {first, 2, 3});
    job.on_done = [&](const JobTimes&) { done.push_back(network.now()); };
    scheduler.submit(std::move(job));
  }
  scheduler.run();
  ASSERT_EQ(done.size(), 2U);
  EXPECT_GT(network.requests_at()[1], 0);
  EXPECT_LT(done[0], 0.9) << "before the slow one has given its first token";
  EXPECT_GT(done[1], 0.9);
}

TEST(RemoteSimulation, AnEndpointThatRefusesTheRequestFailsTheSearchAtOnce) {
  const WireModel model = make_model(5, {RemoteKind::kVllm});
  NetworkOptions options = quiet(1);
  options.endpoints[0].outages.emplace_back(0.0, 1e9);
  SimulatedNetwork network(model, options);
  const std::unique_ptr<Protocol> protocol = protocol_for(model);
  NoPieces pieces;
  RemoteEngine engine(engine_options(network, model.n_vocab), *protocol, pieces, network.transport(), network.clock());
  Scheduler scheduler(engine);
  const auto search = make_search(make_options(5), {1, 2, 3});
  Job job;
  job.search = search;
  scheduler.submit(std::move(job));
  scheduler.run();
  EXPECT_EQ(search->outcome().reason, StopReason::kFailed);
  EXPECT_TRUE(search->outcome().error.starts_with("http://0: connection refused (12 requests in a row gave no token)"))
      << search->outcome().error;
  EXPECT_LT(network.now(), 300) << "not for ever";
}

// One server will not have what another does: its word is not the fleet's, also while the other is away for a moment.
TEST(RemoteSimulation, ARefusalOfOneIsNotBelievedWhileAnotherComesBack) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const WireModel model = make_model(seed, {RemoteKind::kVllm});
    SimulatedNetwork alone(model, quiet(1));
    const std::vector<std::string> expected = run(model, alone, two_questions(seed)).trees;
    NetworkOptions options = quiet(2);
    options.endpoints[0].refuses = true;
    options.endpoints[1].outages.emplace_back(0.05 + 0.01 * static_cast<double>(seed), 5.0);
    SimulatedNetwork network(model, options);
    EXPECT_EQ(run(model, network, two_questions(seed)).trees, expected) << "seed " << seed;
    EXPECT_GT(network.requests_at()[0], 0) << "nobody was refused";
  }
}

// But nobody is waited for who has never answered: what the one server says is said soon.
TEST(RemoteSimulation, ARefusalBesideAServerThatIsDeadIsSaidSoon) {
  const WireModel model = make_model(5, {RemoteKind::kVllm});
  for (const bool all_refuse : {false, true}) {
    NetworkOptions options = quiet(2);
    options.endpoints[1].refuses = true;
    if (all_refuse) {
      options.endpoints[0].refuses = true;
    } else {
      options.endpoints[0].outages.emplace_back(0.0, 1e9);
    }
    SimulatedNetwork network(model, options);
    const std::unique_ptr<Protocol> protocol = protocol_for(model);
    NoPieces pieces;
    RemoteEngine engine(engine_options(network, model.n_vocab), *protocol, pieces, network.transport(),
                        network.clock());
    Scheduler scheduler(engine);
    const auto search = make_search(make_options(5), {1, 2, 3});
    Job job;
    job.search = search;
    scheduler.submit(std::move(job));
    scheduler.run();
    EXPECT_EQ(search->outcome().error, all_refuse ? "http://0: HTTP 400: no" : "http://1: HTTP 400: no");
    EXPECT_LT(network.now(), all_refuse ? 0.1 : 10.0);
    EXPECT_LT(network.requests(), 10);
  }
}

TEST(RemoteSimulation, AStragglerIsWaitedForAsLongAsTheUserSays) {
  const WireModel model = make_model(5, {RemoteKind::kVllm});
  NetworkOptions slow = quiet(1);
  slow.endpoints[0].latency = 1.5;
  SimulatedNetwork network(model, slow);
  const std::unique_ptr<Protocol> protocol = protocol_for(model);
  NoPieces pieces;
  RemoteEngineOptions options = engine_options(network, model.n_vocab);
  options.patience = 1;
  RemoteEngine engine(options, *protocol, pieces, network.transport(), network.clock());
  Scheduler scheduler(engine);
  const auto search = make_search(make_options(5), {1, 2, 3});
  Job job;
  job.search = search;
  scheduler.submit(std::move(job));
  scheduler.run();
  EXPECT_EQ(search->outcome().reason, StopReason::kFailed);
  EXPECT_EQ(search->outcome().error, "a branch was given up: no server had its next token in 1 s");
  EXPECT_EQ(engine.traffic().given_up, 1);
}

// A server that bears fewer streams than a question has branches, each slower than a branch is patient: those that are
// sent away wait for their turn.
TEST(RemoteSimulation, ABranchThatFindsNoRoomIsNotGivenUpWhileTheServerWorks) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const WireModel model = make_model(seed, {RemoteKind::kVllm});
    SimulatedNetwork roomy(model, quiet(1));
    const std::vector<std::string> expected = run(model, roomy, two_questions(seed)).trees;
    NetworkOptions crowded = quiet(1);
    crowded.endpoints[0].room = 2;
    crowded.endpoints[0].per_token = 10;
    SimulatedNetwork network(model, crowded);
    RemoteEngineOptions options = engine_options(network, model.n_vocab);
    options.stream.stall_seconds = options.stream.first_token_seconds = 60;
    const Decoded result = run(model, network, two_questions(seed), options);
    EXPECT_EQ(result.trees, expected) << "seed " << seed;
    EXPECT_GT(result.traffic.retries, 0) << "there was no lack of room";
    EXPECT_LT(static_cast<double>(result.traffic.retries), network.now()) << "no more than one a second asks in vain";
  }
}

// A server that hangs when it has sent all of a branch: the room that the request takes there is needed by the others.
TEST(RemoteSimulation, ARequestThatIsNeverEndedIsLeft) {
  const WireModel model = make_model(7, {RemoteKind::kVllm});
  SimulatedNetwork roomy(model, quiet(1));
  const std::vector<std::string> expected = run(model, roomy, two_questions(7)).trees;
  NetworkOptions crowded = quiet(1);
  crowded.endpoints[0].room = 1;
  crowded.endpoints[0].hangs_at_end = true;
  SimulatedNetwork network(model, crowded);
  EXPECT_EQ(run(model, network, two_questions(7)).trees, expected);
}

// A branch whose tokens nobody takes is read ahead so far and no further, and goes on from there when they are taken.
TEST(RemoteSimulation, ABranchIsReadAheadOnlySoFar) {
  WireModel model = make_model(7, {RemoteKind::kVllm});
  model.script = RandomScript{.seed = 7, .n_vocab = model.n_vocab, .end_token = 0, .end_bias = -100.0};
  NetworkOptions one_slow = quiet(2);
  one_slow.endpoints[1].per_token = 50;
  SimulatedNetwork network(model, one_slow);
  const auto protocol = protocol_for(model);
  NoPieces pieces;
  RemoteEngineOptions options = engine_options(network, model.n_vocab);
  options.stream.stall_seconds = options.stream.first_token_seconds = 1000;
  options.stream.most_ahead = 100;  // numbers: nine tokens with ten candidates each
  RemoteEngine engine(options, *protocol, pieces, network.transport(), network.clock());
  PredictionSpec spec[2];
  std::vector<BranchId> branches;
  std::vector<Token> next = {3, 3};
  for (const Token first : {1, 2}) {
    branches.push_back(engine.open());
    engine.prefill(branches.back(), std::vector<Token>{first, 2});
    spec[first - 1].sampling.temperature = 0;
    spec[first - 1].most_tokens = 400;
  }
  std::vector<Token> taken = {1, 2, 3};
  const auto step = [&](std::size_t from, std::size_t to) {
    std::vector<Feed> feeds;
    for (std::size_t i = from; i < to; ++i) {
      feeds.push_back({.branch = branches[i], .tokens = {&next[i], 1}, .draw = 0, .spec = &spec[i]});
    }
    std::vector<Prediction> out(feeds.size());
    engine.step(feeds, out);
    for (std::size_t i = from; i < to; ++i) {
      if (out[i - from].status == Prediction::Status::kOk) next[i] = out[i - from].sampled;
    }
    if (from == 0) taken.push_back(next[0]);
  };
  step(0, 2);  // the slow one is pending
  for (int i = 0; i < 3; ++i) step(1, 2);
  EXPECT_GT(network.now(), 100) << "time for some ten thousand tokens";
  EXPECT_LT(engine.traffic().received_tokens, 20);
  for (int i = 0; i < 60; ++i) step(0, 1);
  ASSERT_EQ(taken.size(), 64U);
  for (std::size_t n = 3; n < taken.size(); ++n) {
    std::vector<float> logits(static_cast<std::size_t>(model.n_vocab));
    model.script(std::span(taken).first(n), logits);
    ASSERT_EQ(taken[n], std::max_element(logits.begin(), logits.end()) - logits.begin()) << "token " << n;
  }
}

// A transport that has no room for one request.
struct FullTransport final : Transport {
  explicit FullTransport(std::unique_ptr<Transport> real) : transport(std::move(real)) {}
  CallId start(const OutgoingRequest& request, CallListener& listener) override {
    if (++started == 1) throw Error("no room for another request");
    return transport->start(request, listener);
  }
  void cancel(CallId call) override { transport->cancel(call); }
  void poll(double seconds) override { transport->poll(seconds); }
  std::unique_ptr<Transport> transport;
  int started = 0;
};

TEST(RemoteSimulation, ARequestThatCannotBeMadeFailsItsOwnSearchAlone) {
  const WireModel model = make_model(5, {RemoteKind::kVllm});
  SimulatedNetwork network(model, quiet(1));
  const auto expected = run(model, network, two_questions(5)).trees;
  const auto protocol = protocol_for(model);
  NoPieces pieces;
  RemoteEngine engine(engine_options(network, model.n_vocab), *protocol, pieces,
                      std::make_unique<FullTransport>(network.transport()), network.clock());
  Scheduler scheduler(engine);
  const auto searches = two_questions(5);
  for (const auto& search : searches) {
    Job job;
    job.search = search;
    scheduler.submit(std::move(job));
  }
  scheduler.run();
  EXPECT_EQ(searches[0]->outcome().error, "no room for another request");
  EXPECT_EQ(describe(*searches[1]), expected[1]);
  EXPECT_EQ(engine.fleet().streams(0), 0);
}

// An engine that has had many branches holds no more than one that had few. DTS_BRANCHES: how many.
TEST(RemoteSimulation, ManyBranchesLeaveNothingBehind) {
  const char* asked = std::getenv("DTS_BRANCHES");
  const std::int64_t branches = asked != nullptr ? std::atoll(asked) : 1000;
  const WireModel model = make_model(2, {RemoteKind::kVllm});
  NetworkOptions shaky = quiet(3);
  shaky.fault_share = 0.1;
  shaky.most_faults = 1 << 30;
  SimulatedNetwork network(model, shaky);
  const auto protocol = protocol_for(model);
  NoPieces pieces;
  RemoteEngine engine(engine_options(network, model.n_vocab), *protocol, pieces, network.transport(), network.clock());
  const auto decode_until = [&](std::int64_t requests) {
    for (std::uint64_t seed = 0; engine.traffic().requests < requests; ++seed) {
      Scheduler scheduler(engine);
      Job job;
      job.search = make_search(make_options(seed), {1, 2, 3});
      scheduler.submit(std::move(job));
      scheduler.run();
    }
    EXPECT_EQ(network.open_calls(), 0);
    network.settle();
    return mallinfo2().uordblks;  // bytes in use; 0 where a sanitizer has its own heap
  };
  const std::size_t few = decode_until(branches / 4);
  const std::size_t many = decode_until(branches);
  EXPECT_LE(many, few + (64U << 10U));
  std::printf("%lld requests: %zu KiB in use after a quarter of them, %zu KiB after all\n",
              static_cast<long long>(engine.traffic().requests), few >> 10U, many >> 10U);
}

TEST(RemoteSimulation, AnInterruptedStepLeavesEverythingAsItWas) {
  const WireModel model = make_model(7, {RemoteKind::kVllm});
  SimulatedNetwork network(model, quiet(1));
  const std::unique_ptr<Protocol> protocol = protocol_for(model);
  NoPieces pieces;
  RemoteEngine engine(engine_options(network, model.n_vocab), *protocol, pieces, network.transport(), network.clock());
  const BranchId branch = engine.open();
  const std::vector<Token> prompt = {1, 2, 3};
  engine.prefill(branch, prompt);
  PredictionSpec spec;
  spec.sampling.temperature = 0;
  Token fed = 4;
  const Feed feed{.branch = branch, .tokens = {&fed, 1}, .draw = 0, .spec = &spec};
  Prediction prediction;
  engine.interruption().now();
  EXPECT_THROW(engine.step({&feed, 1}, {&prediction, 1}), Interrupted);
  engine.interruption().clear();
  engine.step({&feed, 1}, {&prediction, 1});
  EXPECT_EQ(engine.traffic().requests, 1) << "the request of the interrupted step is the same";
  std::vector<float> logits(static_cast<std::size_t>(model.n_vocab));
  model.script(std::vector<Token>{1, 2, 3, 4}, logits);
  const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
  EXPECT_EQ(prediction.sampled, static_cast<Token>(best));
}

}  // namespace
}  // namespace dts
