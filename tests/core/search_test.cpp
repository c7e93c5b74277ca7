// The search against an independent implementation, and the properties every tree must have.
#include "dts/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <tuple>

#include "dts/error.h"
#include "dts/options.h"
#include "dts/scheduler.h"
#include "support/reference_search.h"

namespace dts {
namespace {

constexpr Token kEnd = 1;

// Answers are a function of the trajectory with few values, so that votes meet and tie; some are empty.
SearchText test_text() {
  return {[](Token token) { return token == kEnd; },
          [](std::span<const Token> tokens) -> std::string {
            int sum = 0;
            for (const Token token : tokens) sum += token;
            return sum % 4 == 3 ? "" : std::to_string(sum % 4);
          }};
}

// The same, but 0 is 1 and 1 is 2: a relation that is not transitive.
SearchText loose_text() {
  SearchText text = test_text();
  text.same_answer = [](const std::string& a, const std::string& b) { return std::abs(a[0] - b[0]) == 1; };
  return text;
}

struct Case {
  RandomScript script;
  std::vector<Token> prompt;
  SearchOptions options;
  bool loose = false;  // which answers are one
};

// A random model, method, sampler and budget.
Case random_case(std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(rng); };
  const auto unit = [&] { return std::uniform_real_distribution<double>(0, 1)(rng); };
  Case c;
  c.script.seed = rng();
  c.script.n_vocab = pick(2, 40);
  c.script.end_token = kEnd;
  c.script.end_bias = unit() * 4 - 2;
  for (int i = pick(1, 9); i > 0; --i) c.prompt.push_back(pick(0, c.script.n_vocab - 1));

  MethodOptions method;
  method.branch.k = std::min(c.script.n_vocab, pick(0, 9) == 0 ? 1 : pick(2, 5));
  method.branch.max_branches = pick(1, 20);
  method.branch.tau_v = pick(0, 9) == 0 ? std::numeric_limits<double>::infinity() : unit() * 2;
  method.branch.tau_h = 0.5 + unit() * 3;
  method.branch.criterion = static_cast<Criterion>(std::max(0, pick(-2, 2)));
  method.branch.freeze = pick(0, 3) == 0 ? Freeze::kPermanent : Freeze::kTemporary;
  method.votes = pick(1, 10);
  method.samples = method.votes + pick(0, 6);
  method.warmup = pick(0, 5) == 0 ? method.votes + pick(0, 2) : pick(0, 4);  // also one that nobody waits for
  method.window = pick(0, 12);
  method.consensus = pick(0, 4) == 0 ? 0.5 + 0.5 * unit() : 0.0;
  method.adaptive = pick(0, 4) == 0 ? 0.7 + 0.3 * unit() : 0.0;
  method.branch.min_p = pick(0, 2) == 0 ? unit() : 0.0;
  method.length_alpha = pick(0, 2) == 0 ? 0.0 : 1.5 * unit();
  // Every method, the trees more often than the rest.
  const auto names = methods();
  const int last = static_cast<int>(names.size()) - 1;
  c.options.method =
      make_method(names[static_cast<std::size_t>(pick(0, 1) == 0 ? pick(0, last) : pick(last - 3, last))].name, method);

  c.options.sampling.temperature = pick(0, 5) == 0 ? 0.0F : static_cast<float>(0.3 + unit());
  c.options.sampling.top_k = pick(0, 2) == 0 ? pick(1, 10) : 0;
  c.options.sampling.top_p = pick(0, 2) == 0 ? static_cast<float>(0.3 + 0.69 * unit()) : 1.0F;
  c.options.sampling.min_p = pick(0, 3) == 0 ? static_cast<float>(0.3 * unit()) : 0.0F;
  c.options.stat_temperature = static_cast<float>(0.4 + unit());
  c.options.seed = rng();
  c.options.max_tokens = pick(1, 40);
  limit_tokens(c.options, c.options.max_tokens);
  c.options.max_total_tokens = pick(0, 5) == 0 ? pick(1, 200) : 0;
  c.loose = pick(0, 3) == 0;
  return c;
}

std::shared_ptr<Search> make_search(const Case& c) {
  return std::make_shared<Search>(c.prompt, c.options, c.loose ? loose_text() : test_text(), c.script.n_vocab);
}

ScriptedEngineOptions engine_options(const Case& c, int max_branches = 64) {
  ScriptedEngineOptions options;
  options.n_vocab = c.script.n_vocab;
  options.max_branches = max_branches;
  return options;
}

std::shared_ptr<Search> run_alone(const Case& c) {
  ScriptedEngine engine(engine_options(c, c.options.method.max_live()), c.script);
  Scheduler scheduler(engine);
  auto search = make_search(c);
  scheduler.submit({.search = search, .max_seconds = 0, .on_prefill = nullptr, .on_done = nullptr});
  scheduler.run();
  EXPECT_EQ(engine.open_branches(), 0);
  EXPECT_LE(engine.peak_branches(), c.options.method.max_live());
  return search;
}

std::vector<ReferenceDecision> decisions_of(const Tree& tree) {
  std::vector<ReferenceDecision> decisions;
  for (std::size_t id = 0; id < tree.segments().size(); ++id) {
    const Segment& segment = tree.segments()[id];
    if (segment.children.empty()) continue;
    ReferenceDecision decision{tree.tokens_of(static_cast<SegmentId>(id)), {}};
    for (const SegmentId child : segment.children)
      decision.children.push_back(tree.segment(child).tokens.front().token);
    decisions.push_back(std::move(decision));
  }
  return decisions;
}

std::multimap<std::vector<Token>, SegmentState> leaves_of(const Tree& tree) {
  std::multimap<std::vector<Token>, SegmentState> leaves;
  for (std::size_t id = 0; id < tree.segments().size(); ++id) {
    if (!tree.segments()[id].children.empty()) continue;
    leaves.emplace(tree.tokens_of(static_cast<SegmentId>(id)), tree.segments()[id].state);
  }
  return leaves;
}

template <typename T>
std::vector<T> sorted(std::vector<T> values) {
  std::sort(values.begin(), values.end());
  return values;
}

void expect_same(const Search& search, const ReferenceResult& reference) {
  const Tree& tree = search.tree();
  EXPECT_EQ(sorted(decisions_of(tree)), sorted(reference.decisions));
  std::multimap<std::vector<Token>, SegmentState> leaves;
  for (const ReferenceLeaf& leaf : reference.leaves) leaves.emplace(leaf.tokens, leaf.state);
  EXPECT_EQ(leaves_of(tree), leaves);
  const Outcome outcome = search.outcome();
  EXPECT_EQ(outcome.reason, reference.reason);
  EXPECT_EQ(outcome.winner, reference.winner);
  EXPECT_EQ(outcome.account.steps, reference.steps);
  EXPECT_EQ(outcome.account.peak_live, reference.peak_live);
  EXPECT_EQ(outcome.account.unique_tokens, static_cast<std::int64_t>(reference.unique_tokens));
  ASSERT_EQ(outcome.finished.size(), reference.finished.size());
  for (std::size_t i = 0; i < reference.finished.size(); ++i) {
    EXPECT_EQ(tree.tokens_of(outcome.finished[i].leaf), reference.finished[i]);
    EXPECT_EQ(outcome.finished[i].answer, reference.answers[i]);
  }
}

void expect_sound(const Search& search) {
  const Tree& tree = search.tree();
  const Outcome outcome = search.outcome();
  const Account& account = outcome.account;
  const BranchRule& rule = search.options().method.branch;

  // The tree's own invariants hold, re-checked from its bare segments.
  EXPECT_NO_THROW(Tree::from_segments({tree.segments().begin(), tree.segments().end()}));
  EXPECT_LE(account.peak_live, search.max_live());
  EXPECT_EQ(account.retired, std::count_if(tree.segments().begin(), tree.segments().end(),
                                           [](const Segment& s) { return s.state == SegmentState::kRetired; }));
  // Every token is accounted once, in the one segment that stores it: siblings share their prefix in storage.
  std::int64_t stored = 0;
  for (const Segment& segment : tree.segments()) stored += static_cast<std::int64_t>(segment.tokens.size());
  EXPECT_EQ(account.unique_tokens, stored);
  EXPECT_GE(account.branch_tokens, account.unique_tokens);
  EXPECT_EQ(account.branch_events, static_cast<std::int64_t>(tree.decisions()));
  for (const Segment& segment : tree.segments()) {
    EXPECT_LE(static_cast<int>(segment.children.size()), rule.k);
    if (segment.children.empty()) {
      EXPECT_FALSE(segment.state == SegmentState::kSplit || segment.state == SegmentState::kLive);
    }
    // Children are distinct, most probable first, and the split was a decision token.
    std::set<Token> seen;
    float last = 0.0F;
    for (const SegmentId child : segment.children) {
      const TokenRecord& first = tree.segment(child).tokens.front();
      EXPECT_TRUE(seen.insert(first.token).second);
      EXPECT_LE(first.logprob, last);
      last = first.logprob;
      EXPECT_TRUE(rule.is_decision(first.entropy, first.varentropy));
    }
    for (std::size_t i = 0; i < segment.tokens.size(); ++i) {
      const bool last_token = i + 1 == segment.tokens.size();
      EXPECT_EQ(segment.tokens[i].token == kEnd, last_token && segment.state == SegmentState::kFinished);
    }
    if (segment.state == SegmentState::kExhausted) {
      EXPECT_EQ(segment.end(), search.options().max_tokens);
    }
    EXPECT_LE(segment.end(), search.options().max_tokens);
  }
}

TEST(Search, EqualsTheReferenceOnRandomModels) {
  constexpr int kCases = 4000;
  int fragile = 0;
  int with_decisions = 0;
  int with_votes = 0;
  int with_retired = 0;
  int with_agreement = 0;
  int with_whole_warmup = 0;
  int without_winner = 0;
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    SCOPED_TRACE(seed);
    const Case c = random_case(seed);
    const ReferenceResult reference =
        reference_search(c.script, c.prompt, c.options, c.loose ? loose_text() : test_text(), c.script.n_vocab);
    const auto search = run_alone(c);
    expect_sound(*search);
    if (reference.fragile) {
      ++fragile;
      continue;
    }
    expect_same(*search, reference);
    with_decisions += reference.decisions.empty() ? 0 : 1;
    with_votes += reference.finished.size() > 1 ? 1 : 0;
    with_retired += search->outcome().account.retired > 0 ? 1 : 0;
    const RetireRule& retire = c.options.method.retire;
    with_whole_warmup += retire.enabled && retire.warmup >= c.options.method.width ? 1 : 0;
    without_winner += !reference.finished.empty() && !reference.winner ? 1 : 0;
    with_agreement += reference.reason == StopReason::kAgreement ? 1 : 0;
    if (HasFailure()) return;
  }
  // The cases mean something: few were too close to call, many branched, many voted.
  EXPECT_LT(fragile, kCases / 4);
  EXPECT_GT(with_decisions, kCases / 4);
  EXPECT_GT(with_votes, kCases / 4);
  EXPECT_GT(with_retired, kCases / 100);
  EXPECT_GT(with_agreement, kCases / 40);
  EXPECT_GT(with_whole_warmup, kCases / 80);
  EXPECT_GT(without_winner, kCases / 400);
}

TEST(Search, AWarmupOfAllTrajectoriesSetsABarForItsVotes) {
  int without_a_vote = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Case c = random_case(seed);
    MethodOptions numbers;
    numbers.votes = 6;
    numbers.warmup = 6 + static_cast<int>(seed % 2);
    c.options.method = make_method("deepconf-low", numbers);
    c.options.max_total_tokens = 0;
    c.options.max_tokens = 40;
    const Outcome outcome = run_alone(c)->outcome();
    ASSERT_TRUE(outcome.confidence_bar);
    int voters = 0;
    for (const AnswerCount& count : outcome.votes) voters += count.votes;
    int above = 0;
    for (const FinishedTrace& trace : outcome.finished) {
      above += !trace.answer.empty() && trace.lowest_confidence >= *outcome.confidence_bar ? 1 : 0;
    }
    EXPECT_EQ(voters, above);
    without_a_vote += static_cast<int>(outcome.finished.size()) - voters;
  }
  EXPECT_GT(without_a_vote, 400);
}

// As DeepConf's released code has it: whoever is below the bar does not vote, also where no window ever filled.
TEST(Search, LaterTrajectoriesBelowTheBarDoNotVoteHoweverShort) {
  int short_and_below = 0;
  int nobody = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Case c = random_case(seed);
    MethodOptions numbers;
    numbers.votes = 6;
    numbers.warmup = 3;
    numbers.window = 40;  // fills for none that finishes before its budget
    c.options.method = make_method("deepconf-low", numbers);
    c.options.max_total_tokens = 0;
    c.options.max_tokens = 40;
    const Outcome outcome = run_alone(c)->outcome();
    ASSERT_TRUE(outcome.confidence_bar);
    int voters = 0;
    int above = 0;
    for (const AnswerCount& count : outcome.votes) voters += count.votes;
    for (const FinishedTrace& trace : outcome.finished) {
      const bool below = trace.lowest_confidence < *outcome.confidence_bar;
      above += !below && !trace.answer.empty() ? 1 : 0;
      short_and_below += below && !trace.warmup ? 1 : 0;
    }
    EXPECT_EQ(voters, above);
    EXPECT_EQ(outcome.winner.has_value(), voters > 0);
    if (voters == 0 && !outcome.finished.empty()) {
      ++nobody;
      EXPECT_EQ(outcome.best_leaf, outcome.finished.front().leaf);
    }
  }
  EXPECT_GT(short_and_below, 100);
  EXPECT_GT(nobody, 5);
}

TEST(Search, AFloorUnderChildrenLeavesThoseWorthIt) {
  int fewer = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Case c = random_case(seed);
    MethodOptions numbers;
    numbers.branch.tau_v = 0;
    numbers.branch.tau_h = 100;  // every token decides
    numbers.branch.k = std::min(4, c.script.n_vocab);
    numbers.branch.min_p = 0.3;
    c.options.method = make_method("dts-stable", numbers);
    const auto search = run_alone(c);
    for (const Segment& segment : search->tree().segments()) {
      if (segment.children.empty()) continue;
      EXPECT_GE(segment.children.size(), 2U);
      const auto logprob = [&](SegmentId id) { return search->tree().segment(id).tokens.front().logprob; };
      for (const SegmentId child : segment.children) {
        EXPECT_GE(logprob(child), logprob(segment.children.front()) + std::log(0.3) - 1e-5);
      }
      fewer += segment.children.size() < 4 ? 1 : 0;
    }
  }
  EXPECT_GT(fewer, 100);
}

TEST(Search, DoesNotDependOnWhatElseRuns) {
  for (std::uint64_t round = 0; round < 40; ++round) {
    SCOPED_TRACE(round);
    // Searches of one model, since they share an engine; different prompts, methods and seeds.
    std::vector<Case> cases;
    for (std::uint64_t i = 0; i < 12; ++i) {
      Case c = random_case(100000 + round * 100 + i);
      if (i > 0) {
        c.script = cases.front().script;
        c.options.method.branch.k = std::min(c.options.method.branch.k, c.script.n_vocab);
        for (Token& token : c.prompt) token %= c.script.n_vocab;
      }
      cases.push_back(std::move(c));
    }
    ScriptedEngineOptions options = engine_options(cases.front(), 45);
    options.threads = 2;
    options.prefill_chunk = 3;
    ScriptedEngine engine(options, cases.front().script);
    Scheduler scheduler(engine);
    std::vector<std::shared_ptr<Search>> together;
    for (const Case& c : cases) {
      together.push_back(make_search(c));
      scheduler.submit({.search = together.back(), .max_seconds = 0, .on_prefill = nullptr, .on_done = nullptr});
      if (round % 2 == 0) scheduler.step();  // arrive while others decode
    }
    scheduler.run();
    EXPECT_EQ(engine.open_branches(), 0);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      SCOPED_TRACE(i);
      const auto alone = run_alone(cases[i]);
      const Outcome a = alone->outcome();
      const Outcome b = together[i]->outcome();
      ASSERT_EQ(alone->tree().segments().size(), together[i]->tree().segments().size());
      for (std::size_t id = 0; id < alone->tree().segments().size(); ++id) {
        EXPECT_EQ(alone->tree().segments()[id].tokens, together[i]->tree().segments()[id].tokens);
        EXPECT_EQ(alone->tree().segments()[id].parent, together[i]->tree().segments()[id].parent);
        EXPECT_EQ(alone->tree().segments()[id].state, together[i]->tree().segments()[id].state);
      }
      EXPECT_EQ(a.winner, b.winner);
      EXPECT_EQ(a.reason, b.reason);
    }
  }
}

TEST(Search, InfiniteTauVIsStandardDecoding) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Case standard = random_case(seed);
    standard.options.method = make_method("standard");
    Case tree = standard;
    MethodOptions options;
    options.branch.tau_v = std::numeric_limits<double>::infinity();
    options.branch.k = std::min(3, tree.script.n_vocab);
    tree.options.method = make_method(seed % 2 == 0 ? "dts-greedy" : "dts-stable", options);
    const auto a = run_alone(standard);
    const auto b = run_alone(tree);
    ASSERT_EQ(b->tree().segments().size(), 1U);
    EXPECT_EQ(a->tree().segment(0).tokens, b->tree().segment(0).tokens);
  }
}

TEST(Search, TheSeedDecidesAndOnlyTheSeed) {
  std::set<std::vector<Token>> outcomes;
  Case c = random_case(7);
  c.options.method = make_method("standard");
  c.options.sampling = {};
  c.options.sampling.temperature = 1.5F;
  c.options.max_tokens = 30;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    c.options.seed = seed;
    const auto first = run_alone(c);
    const auto again = run_alone(c);
    EXPECT_EQ(first->tree().segment(0).tokens, again->tree().segment(0).tokens);
    outcomes.insert(first->tree().tokens_of(0));
  }
  EXPECT_GT(outcomes.size(), 10U);
}

// A hand-written model: the first token is a decision between 2, 3 and 4, and 3 is the shortest way to the end.
TEST(Search, GreedyTakesTheFirstToFinish) {
  const LogitsScript script = [](std::span<const Token> tokens, std::span<float> logits) {
    std::fill(logits.begin(), logits.end(), -20.0F);
    if (tokens.size() == 1) {
      logits[2] = 3.0F;  // a few strong candidates over a tail: low entropy, high varentropy
      logits[3] = 2.0F;
      logits[4] = 1.0F;
      for (std::size_t i = 5; i < logits.size(); ++i) logits[i] = -1.0F;
      return;
    }
    const bool short_way = tokens[1] == 3;
    const bool ends = tokens.size() >= (short_way ? 3U : 6U);
    logits[ends ? kEnd : 5] = 20.0F;
  };
  ScriptedEngineOptions engine_options;
  engine_options.n_vocab = 64;
  ScriptedEngine engine(engine_options, script);
  MethodOptions options;
  options.branch.tau_v = 0.5;
  SearchOptions search_options;
  search_options.method = make_method("dts-greedy", options);
  search_options.max_tokens = 100;
  auto search = std::make_shared<Search>(std::vector<Token>{9}, search_options, test_text(), 64);
  Scheduler scheduler(engine);
  scheduler.submit({.search = search, .max_seconds = 0, .on_prefill = nullptr, .on_done = nullptr});
  scheduler.run();
  const Outcome outcome = search->outcome();
  ASSERT_TRUE(outcome.winner.has_value());
  EXPECT_EQ(search->tree().tokens_of(outcome.best_leaf), (std::vector<Token>{3, 5, kEnd}));
  EXPECT_EQ(outcome.account.branch_events, 1);
  EXPECT_EQ(outcome.account.unique_tokens, 9);  // three branches of three tokens: nothing was shared but the prompt
}

TEST(Search, LogitsThatAreNoNumbersEndTheSearchWithAnError) {
  const LogitsScript script = [](std::span<const Token> tokens, std::span<float> logits) {
    std::fill(logits.begin(), logits.end(), 0.0F);
    if (tokens.size() == 4) logits[3] = std::numeric_limits<float>::quiet_NaN();
  };
  ScriptedEngine engine({}, script);
  SearchOptions options;
  options.method = make_method("standard");
  options.max_tokens = 100;
  SearchText text{[](Token) { return false; }, [](std::span<const Token>) { return std::string(); }};
  auto search = std::make_shared<Search>(std::vector<Token>{2, 2}, options, text, 16);
  Scheduler scheduler(engine);
  scheduler.submit({.search = search, .max_seconds = 0, .on_prefill = nullptr, .on_done = nullptr});
  scheduler.run();
  EXPECT_EQ(search->outcome().reason, StopReason::kFailed);
  EXPECT_NE(search->outcome().error.find("not numbers"), std::string::npos) << search->outcome().error;
  EXPECT_EQ(search->tree().unique_tokens(), 2U);
  EXPECT_EQ(engine.open_branches(), 0);
}

TEST(Search, EventsTellTheWholeStory) {
  Case c = random_case(11);
  MethodOptions method;
  method.branch.tau_v = 0.3;
  method.branch.k = 2;
  c.script.n_vocab = 30;
  c.options.method = make_method("dts-stable", method);
  c.options.max_tokens = 25;
  c.options.max_total_tokens = 0;
  ScriptedEngine engine(engine_options(c), c.script);
  auto search = make_search(c);
  std::map<SearchEvent::Type, int> seen;
  search->on_event = [&](const SearchEvent& event) {
    ++seen[event.type];
    EXPECT_EQ(event.step, search->step());
    if (event.type == SearchEvent::Type::kBranch) {
      EXPECT_GE(search->tree().segment(event.segment).children.size(), 2U);
    }
    if (event.type == SearchEvent::Type::kDone) {
      EXPECT_TRUE(search->done());
    }
  };
  Scheduler scheduler(engine);
  scheduler.submit({.search = search, .max_seconds = 0, .on_prefill = nullptr, .on_done = nullptr});
  scheduler.run();
  const Outcome outcome = search->outcome();
  EXPECT_GT(seen[SearchEvent::Type::kBranch], 0);
  EXPECT_EQ(seen[SearchEvent::Type::kBranch], outcome.account.branch_events);
  EXPECT_EQ(seen[SearchEvent::Type::kFinish], static_cast<int>(outcome.finished.size()));
  EXPECT_EQ(seen[SearchEvent::Type::kExhaust], outcome.account.exhausted);
  EXPECT_EQ(seen[SearchEvent::Type::kStep], outcome.account.steps);
  EXPECT_EQ(seen[SearchEvent::Type::kDone], 1);
}

TEST(Search, ACallbackThatStopsTheSearchHearsEveryEventOnce) {
  Case c = random_case(11);
  c.script.n_vocab = 30;
  c.options.method = make_method("self-consistency");
  c.options.max_tokens = 25;
  c.options.max_total_tokens = 0;
  ScriptedEngine engine(engine_options(c), c.script);
  auto search = make_search(c);
  std::set<std::tuple<SearchEvent::Type, int, SegmentId>> heard;
  int events = 0;
  search->on_event = [&](const SearchEvent& event) {
    ++events;
    heard.emplace(event.type, event.step, event.segment);
    if (search->step() == 3) search->stop(StopReason::kCancelled);
  };
  Scheduler scheduler(engine);
  scheduler.submit({.search = search, .max_seconds = 0, .on_prefill = nullptr, .on_done = nullptr});
  scheduler.run();
  EXPECT_EQ(search->outcome().reason, StopReason::kCancelled);
  EXPECT_EQ(events, static_cast<int>(heard.size()));
  EXPECT_EQ(std::get<0>(*heard.rbegin()), SearchEvent::Type::kDone);
}

TEST(Search, RefusesWhatIsOutOfRange) {
  const auto refuses = [](auto change, std::string_view flag) {
    SearchOptions options;
    options.method = make_method("dts-stable");
    change(options);
    try {
      const Search search({1}, options, test_text(), 100);
      ADD_FAILURE() << flag << " was accepted";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), Error::Kind::kUsage);
      EXPECT_NE(std::string(e.what()).find(flag), std::string::npos) << e.what();
    }
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  refuses([](SearchOptions& o) { o.method.branch.k = 0; }, "branch_k");
  refuses([](SearchOptions& o) { o.method.branch.k = 101; }, "branch_k");
  refuses([](SearchOptions& o) { o.method.branch.max_branches = 0; }, "max_branches");
  refuses([](SearchOptions& o) { o.method.branch.tau_v = -1; }, "tau_v");
  refuses([&](SearchOptions& o) { o.method.branch.tau_v = nan; }, "tau_v");
  refuses([&](SearchOptions& o) { o.method.branch.tau_h = nan; }, "tau_h");
  refuses([&](SearchOptions& o) { o.stat_temperature = nan; }, "stat_temp");
  refuses([](SearchOptions& o) { o.stat_temperature = 0; }, "stat_temp");
  refuses([](SearchOptions& o) { o.sampling.temperature = -0.1F; }, "temperature");
  refuses([&](SearchOptions& o) { o.sampling.temperature = nan; }, "temperature");
  refuses([](SearchOptions& o) { o.sampling.top_p = 0; }, "top_p");
  refuses([](SearchOptions& o) { o.sampling.top_k = -1; }, "top_k");
  refuses([](SearchOptions& o) { o.sampling.min_p = 1.5F; }, "min_p");
  refuses([](SearchOptions& o) { o.max_tokens = 0; }, "max_tokens");
  refuses(
      [](SearchOptions& o) {
        o.method = make_method("deepconf-low");
        o.method.retire.window = o.max_tokens + 1;
      },
      "window");
  refuses([](SearchOptions& o) { o.max_total_tokens = -1; }, "max_total_tokens");
  refuses([](SearchOptions& o) { o.method.width = 0; }, "trajectories");
  EXPECT_THROW(Search({}, {.method = make_method("standard"), .sampling = {}}, test_text(), 100), Error);
}

}  // namespace
}  // namespace dts
