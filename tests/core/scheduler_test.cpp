// Many searches on one engine: admission, fairness, cancellation, failure, and calls from other threads.
#include "dts/scheduler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>

#include "dts/error.h"
#include "support/scripted_engine.h"

namespace dts {
namespace {

constexpr int kVocab = 16;
constexpr Token kEnd = 1;

SearchText text() {
  return {[](Token token) { return token == kEnd; }, [](std::span<const Token>) { return std::string("x"); }};
}

// A model that never ends: only budgets and cancellation stop it.
void endless(std::span<const Token>, std::span<float> logits) {
  std::fill(logits.begin(), logits.end(), -30.0F);
  logits[5] = 10.0F;
}

std::shared_ptr<Search> search_of(std::string_view method, int max_tokens, int votes = 8, std::size_t prompt = 3) {
  MethodOptions options;
  options.votes = votes;
  SearchOptions search;
  search.method = make_method(method, options);
  search.max_tokens = max_tokens;
  return std::make_shared<Search>(std::vector<Token>(prompt, 2), search, text(), kVocab);
}

Job job(std::shared_ptr<Search> search, std::function<void(const JobTimes&)> on_done = nullptr) {
  Job job;
  job.search = std::move(search);
  job.on_done = std::move(on_done);
  return job;
}

ScriptedEngineOptions sized(int max_branches) {
  ScriptedEngineOptions options;
  options.n_vocab = kVocab;
  options.max_branches = max_branches;
  return options;
}

TEST(Scheduler, CancelTakesOneStepAndFreesTheBranches) {
  ScriptedEngine engine(sized(8), endless);
  Scheduler scheduler(engine);
  auto search = search_of("self-consistency", 1000);
  bool done = false;
  const JobId id = scheduler.submit(job(search, [&](const JobTimes&) {
    done = true;
    EXPECT_EQ(engine.open_branches(), 0);
  }));
  for (int i = 0; i < 10; ++i) scheduler.step();
  EXPECT_EQ(engine.open_branches(), 8);
  const int steps = engine.steps();
  scheduler.cancel(id);
  scheduler.step();
  EXPECT_TRUE(done);
  EXPECT_EQ(engine.steps(), steps);
  EXPECT_EQ(search->outcome().reason, StopReason::kCancelled);
  EXPECT_TRUE(scheduler.idle());
  EXPECT_FALSE(scheduler.step());
}

TEST(Scheduler, CancelReachesQueuedAndPrefillingSearches) {
  ScriptedEngine engine(sized(8), endless);
  Scheduler scheduler(engine);
  auto running = search_of("self-consistency", 20, 8, 100);
  auto queued = search_of("self-consistency", 20);
  const JobId first = scheduler.submit(job(running));
  const JobId second = scheduler.submit(job(queued));
  scheduler.step();
  EXPECT_EQ(running->step(), 0);  // a hundred tokens of prompt, four a chunk
  scheduler.cancel(second);
  scheduler.cancel(first);
  scheduler.cancel(12345);
  scheduler.step();
  EXPECT_EQ(queued->outcome().reason, StopReason::kCancelled);
  EXPECT_EQ(running->outcome().reason, StopReason::kCancelled);
  EXPECT_EQ(engine.open_branches(), 0);
  EXPECT_TRUE(scheduler.idle());
}

TEST(Scheduler, EverySearchIsInEveryStep) {
  ScriptedEngine engine(sized(6), endless);
  Scheduler scheduler(engine);
  std::vector<std::shared_ptr<Search>> searches;
  for (int i = 0; i < 3; ++i) {
    searches.push_back(search_of("self-consistency", 50, 2, 1));
    scheduler.submit(job(searches.back()));
  }
  for (int i = 0; i < 10; ++i) scheduler.step();
  for (const auto& search : searches) EXPECT_GE(search->step(), 7);
}

TEST(Scheduler, ALongPromptDoesNotHoldUpWhoDecodes) {
  ScriptedEngine engine(sized(2), endless);
  Scheduler scheduler(engine);
  auto decoding = search_of("standard", 200, 1, 1);
  scheduler.submit(job(decoding));
  scheduler.step();
  auto late = search_of("standard", 10, 1, 401);
  std::vector<int> progress;
  Job with_progress = job(late);
  with_progress.on_prefill = [&](const JobProgress& p) { progress.push_back(p.prefilled); };
  scheduler.submit(std::move(with_progress));
  const int before = decoding->step();
  for (int i = 0; i < 50; ++i) scheduler.step();
  EXPECT_EQ(decoding->step(), before + 50);
  EXPECT_EQ(late->step(), 0);
  ASSERT_EQ(progress.size(), 50U);
  EXPECT_EQ(progress.back(), 200);
  scheduler.run();
  EXPECT_EQ(progress.size(), 100U);
}

TEST(Scheduler, WhatFitsOvertakesWhatDoesNotYet) {
  ScriptedEngine engine(sized(8), endless);
  Scheduler scheduler(engine);
  scheduler.submit(job(search_of("self-consistency", 10, 6, 1)));
  auto wide = search_of("self-consistency", 5, 8, 1);
  auto narrow = search_of("self-consistency", 5, 2, 1);
  scheduler.submit(job(wide));
  scheduler.submit(job(narrow));
  for (int i = 0; i < 3; ++i) scheduler.step();
  EXPECT_GT(narrow->step(), 0);
  EXPECT_EQ(wide->step(), 0);
  scheduler.run();
  EXPECT_TRUE(wide->done());
  EXPECT_TRUE(narrow->done());
  EXPECT_EQ(engine.peak_branches(), 8);
}

// One narrow search after the other, for ever: the wide one that waits for them all to be gone still gets in.
TEST(Scheduler, AWideSearchIsNotOvertakenForEver) {
  ScriptedEngine engine(sized(8), endless);
  Scheduler scheduler(engine);
  auto wide = search_of("self-consistency", 5, 8, 1);
  int narrow = 0;
  std::function<void(const JobTimes&)> again = [&](const JobTimes&) {
    ASSERT_LT(++narrow, 200) << "the wide search starves";
    if (!wide->done()) scheduler.submit(job(search_of("self-consistency", 20, 2, 1), again));
  };
  for (int i = 0; i < 3; ++i) scheduler.submit(job(search_of("self-consistency", 20 + 5 * i, 2, 1), again));
  scheduler.step();
  scheduler.submit(job(wide));
  scheduler.run();
  EXPECT_EQ(wide->outcome().reason, StopReason::kNothingLive);
}

// Wide searches, one running and others waiting, hold nobody up who wants no more than the lane has.
TEST(Scheduler, TheLaneIsForSmallSearches) {
  ScriptedEngine engine(sized(9), endless);
  Scheduler scheduler(engine, {.small_lane = 1});
  for (int i = 0; i < 3; ++i) scheduler.submit(job(search_of("self-consistency", 1000, 8, 1)));
  for (int i = 0; i < 10; ++i) scheduler.step();
  EXPECT_EQ(engine.open_branches(), 8);
  auto small = search_of("standard", 3, 1, 1);
  scheduler.submit(job(small));
  for (int i = 0; i < 5; ++i) scheduler.step();
  EXPECT_TRUE(small->done());
}

TEST(Scheduler, WhoWaitsTooLongIsToldSoWithoutHavingRun) {
  ScriptedEngine engine(sized(4), endless);
  Scheduler scheduler(engine);
  scheduler.submit(job(search_of("self-consistency", 30, 4, 1)));
  scheduler.step();
  auto waiting = search_of("self-consistency", 5, 4, 1);
  Job impatient = job(waiting);
  impatient.max_queue_seconds = 1e-9;
  bool told = false;
  impatient.on_done = [&](const JobTimes& times) {
    told = true;
    EXPECT_GT(times.queued, 0);
    EXPECT_EQ(times.prefill + times.decode, 0);
  };
  scheduler.submit(std::move(impatient));
  scheduler.step();
  EXPECT_TRUE(told);
  EXPECT_EQ(waiting->outcome().reason, StopReason::kTimeBudget);
  EXPECT_EQ(waiting->step(), 0);
  scheduler.run();
}

TEST(Scheduler, RefusesWhatCanNeverFit) {
  ScriptedEngineOptions options = sized(4);
  options.context_length = 50;
  ScriptedEngine engine(options, endless);
  Scheduler scheduler(engine);
  EXPECT_THROW(scheduler.submit(job(search_of("self-consistency", 10, 5))), Error);
  EXPECT_THROW(scheduler.submit(job(search_of("standard", 10, 1, 41))), Error);
  EXPECT_NO_THROW(scheduler.submit(job(search_of("standard", 10, 1, 40))));
  scheduler.run();
}

TEST(Scheduler, AFailingDeviceEndsTheSearchesInTheStepWithItsWords) {
  ScriptedEngine engine(sized(8), endless);
  Scheduler scheduler(engine);
  auto first = search_of("self-consistency", 100, 4, 1);
  auto second = search_of("self-consistency", 100, 4, 1);
  scheduler.submit(job(first));
  scheduler.submit(job(second));
  for (int i = 0; i < 5; ++i) scheduler.step();
  engine.before_step = [] { throw std::runtime_error("the device is on fire"); };
  scheduler.step();
  for (const auto& search : {first, second}) {
    EXPECT_EQ(search->outcome().reason, StopReason::kFailed);
    EXPECT_EQ(search->outcome().error, "the device is on fire");
  }
  EXPECT_EQ(engine.open_branches(), 0);
  engine.before_step = nullptr;
  auto third = search_of("standard", 5, 1, 1);
  scheduler.submit(job(third));
  scheduler.run();
  EXPECT_EQ(third->outcome().reason, StopReason::kNothingLive);
}

TEST(Scheduler, ATimeBudgetReturnsWhatThereIs) {
  ScriptedEngine engine(sized(1), endless);
  Scheduler scheduler(engine);
  auto search = search_of("standard", 4000, 1, 1);
  Job limited = job(search);
  limited.max_seconds = 1e-9;
  scheduler.submit(std::move(limited));
  scheduler.run();
  EXPECT_EQ(search->outcome().reason, StopReason::kTimeBudget);
  EXPECT_EQ(search->outcome().account.unique_tokens, 1);
}

TEST(Scheduler, CallbacksMaySubmitAndCancel) {
  ScriptedEngine engine(sized(2), endless);
  Scheduler scheduler(engine);
  int finished = 0;
  std::function<void(const JobTimes&)> again = [&](const JobTimes&) {
    if (++finished < 20) scheduler.submit(job(search_of("standard", 3, 1, 1), again));
  };
  scheduler.submit(job(search_of("standard", 3, 1, 1), again));
  scheduler.run();
  EXPECT_EQ(finished, 20);

  auto self_cancelling = search_of("standard", 1000, 1, 1);
  JobId id = 0;
  self_cancelling->on_event = [&](const SearchEvent& event) {
    if (event.step == 4) scheduler.cancel(id);
  };
  id = scheduler.submit(job(self_cancelling));
  scheduler.run();
  EXPECT_EQ(self_cancelling->outcome().reason, StopReason::kCancelled);
  EXPECT_EQ(self_cancelling->outcome().account.steps, 4);
}

TEST(Scheduler, SubmitAndCancelFromOtherThreads) {
  ScriptedEngine engine(sized(8), endless);
  Scheduler scheduler(engine);
  constexpr int kThreads = 4;
  constexpr int kJobs = 50;
  std::atomic<int> done = 0;
  std::atomic<int> submitting = kThreads;
  std::vector<std::thread> clients;
  for (int t = 0; t < kThreads; ++t) {
    clients.emplace_back([&, t] {
      for (int i = 0; i < kJobs; ++i) {
        const JobId id =
            scheduler.submit(job(search_of("self-consistency", 6, 3, 5), [&](const JobTimes&) { ++done; }));
        if ((i + t) % 3 == 0) scheduler.cancel(id);
      }
      --submitting;
    });
  }
  while (submitting > 0 || !scheduler.idle()) {
    if (!scheduler.step()) std::this_thread::yield();
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(done, kThreads * kJobs);
  EXPECT_EQ(engine.open_branches(), 0);
}

// A tree as text, to compare it with another.
std::string tree_text(const Search& search) {
  std::string out;
  for (const Segment& segment : search.tree().segments()) {
    out += std::to_string(segment.parent) + ":" + std::to_string(static_cast<int>(segment.state));
    for (const TokenRecord& record : segment.tokens) out += " " + std::to_string(record.token);
    out += "\n";
  }
  return out;
}

// A search that branches, of a random model.
std::shared_ptr<Search> branching(std::uint64_t seed, SearchText its_text = text()) {
  MethodOptions options;
  options.branch.tau_v = 0.5;
  options.branch.max_branches = 4;
  options.votes = 3;
  SearchOptions search;
  search.method = make_method("dts-stable", options);
  search.max_tokens = 24;
  search.seed = seed;
  return std::make_shared<Search>(std::vector<Token>{2, 3, 4, 2, 3, 4}, search, std::move(its_text), kVocab);
}

RandomScript random_model() { return {.seed = 7, .n_vocab = kVocab, .end_token = kEnd, .end_bias = 1.0}; }

std::string tree_alone(std::uint64_t seed) {
  ScriptedEngine engine(sized(4), random_model());
  Scheduler scheduler(engine);
  auto search = branching(seed);
  scheduler.submit(job(search));
  scheduler.run();
  return tree_text(*search);
}

struct Breaking {
  const char* name;
  std::function<void(SearchText&, Search*, Job*)> arm;  // the text before the search is made, the others after
};

[[noreturn]] void burst() { throw std::runtime_error("burst"); }

// Whatever a client's callback throws is that client's failure: the search beside it ends as if it were alone.
TEST(Scheduler, AThrowingCallbackFailsItsOwnSearchOnly) {
  const std::vector<Breaking> callbacks = {
      {"is_end", [](SearchText& t, Search*, Job*) { t.is_end = [](Token) -> bool { burst(); }; }},
      {"ends_here",
       [](SearchText& t, Search*, Job*) { t.ends_here = [](const Tree&, SegmentId) -> bool { burst(); }; }},
      {"answer_of",
       [](SearchText& t, Search*, Job*) { t.answer_of = [](std::span<const Token>) -> std::string { burst(); }; }},
      {"on_event",
       [](SearchText&, Search* s, Job*) {
         if (s != nullptr) s->on_event = [](const SearchEvent&) { burst(); };
       }},
      {"on_event, when it is done",
       [](SearchText&, Search* s, Job*) {
         if (s == nullptr) return;
         s->on_event = [](const SearchEvent& event) {
           if (event.type == SearchEvent::Type::kDone) burst();
         };
       }},
      {"on_predictions",
       [](SearchText&, Search* s, Job*) {
         if (s != nullptr) s->on_predictions = [](std::span<const Prediction>) { burst(); };
       }},
      {"on_prefill",
       [](SearchText&, Search*, Job* j) {
         if (j != nullptr) j->on_prefill = [](const JobProgress&) { burst(); };
       }},
  };
  for (const Breaking& breaking : callbacks) {
    ScriptedEngine engine(sized(8), random_model());
    Scheduler scheduler(engine);
    SearchText its_text = text();
    breaking.arm(its_text, nullptr, nullptr);
    auto broken = branching(1, its_text);
    Job its_job = job(broken);
    breaking.arm(its_text, broken.get(), &its_job);
    auto beside = branching(2);
    scheduler.submit(std::move(its_job));
    scheduler.submit(job(beside));
    scheduler.run();
    EXPECT_EQ(broken->outcome().reason, StopReason::kFailed) << breaking.name;
    EXPECT_EQ(broken->outcome().error, "burst") << breaking.name;
    EXPECT_EQ(tree_text(*beside), tree_alone(2)) << breaking.name;
    EXPECT_EQ(engine.open_branches(), 0) << breaking.name;
    EXPECT_NO_THROW(Tree::from_segments({broken->tree().segments().begin(), broken->tree().segments().end()}));
  }
}

TEST(Scheduler, ALastWordThatThrowsIsNobodysFailure) {
  ScriptedEngine engine(sized(8), random_model());
  Scheduler scheduler(engine);
  auto first = branching(1);
  auto beside = branching(2);
  scheduler.submit(job(first, [](const JobTimes&) { burst(); }));
  scheduler.submit(job(beside));
  EXPECT_NO_THROW(scheduler.run());
  EXPECT_EQ(tree_text(*first), tree_alone(1));
  EXPECT_EQ(tree_text(*beside), tree_alone(2));
}

TEST(Scheduler, ARowThatFailsEndsItsOwnSearchOnly) {
  for (const Prediction::Status status : {Prediction::Status::kFailed, Prediction::Status::kNotANumber}) {
    ScriptedEngine engine(sized(8), random_model());
    Scheduler scheduler(engine);
    auto failing = branching(1);
    auto beside = branching(2);
    engine.after_row = [&](const Feed& feed, Prediction& row) {
      if (feed.spec != &failing->spec() || failing->step() < 3) return;
      row.status = status;
      row.error = "the stream was cut";
    };
    scheduler.submit(job(failing));
    scheduler.submit(job(beside));
    scheduler.run();
    EXPECT_EQ(failing->outcome().reason, StopReason::kFailed);
    if (status == Prediction::Status::kFailed) {
      EXPECT_EQ(failing->outcome().error, "the stream was cut");
    }
    EXPECT_EQ(tree_text(*beside), tree_alone(2));
  }
}

TEST(Scheduler, WhatAnEngineCannotDoIsRefusedBeforeAnythingIsDecoded) {
  ScriptedEngineOptions options = sized(8);
  options.capabilities.max_top_k = 2;
  ScriptedEngine engine(options, endless);
  Scheduler scheduler(engine);
  EXPECT_THROW(scheduler.submit(job(branching(1))), Error) << "K = 3";
  EXPECT_THROW(scheduler.submit(job(search_of("deepconf-low", 10, 4))), Error) << "confidence wants 20";
  EXPECT_NO_THROW(scheduler.submit(job(search_of("standard", 10))));
  scheduler.run();
}

// Prompts and steps in one batch where an engine can: the same trees.
TEST(Scheduler, MixedBatchesChangeNoTree) {
  ScriptedEngineOptions options = sized(16);
  options.capabilities.mixes_prompts = true;
  ScriptedEngine engine(options, random_model());
  Scheduler scheduler(engine);
  std::vector<std::shared_ptr<Search>> searches;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    searches.push_back(branching(seed));
    scheduler.submit(job(searches.back()));
    scheduler.step();  // the next one's prompt comes while this one decodes
  }
  scheduler.run();
  for (std::uint64_t seed = 0; seed < 6; ++seed) EXPECT_EQ(tree_text(*searches[seed]), tree_alone(seed)) << seed;
}

// A step that never ends by itself is ended by the cancellation of one that is in it, and made again for the others.
TEST(Scheduler, CancelInterruptsALongStep) {
  ScriptedEngine engine(sized(8), random_model());
  Scheduler scheduler(engine);
  auto cancelled = branching(1);
  auto beside = branching(2);
  std::atomic<bool> hanging = false;
  bool hung = false;
  engine.before_step = [&] {
    if (hung || cancelled->step() < 3) return;
    hung = hanging = true;
    while (!engine.interruption().due()) std::this_thread::yield();
    throw Interrupted();
  };
  const JobId id = scheduler.submit(job(cancelled));
  scheduler.submit(job(beside));
  std::thread client([&] {
    while (!hanging) std::this_thread::yield();
    scheduler.cancel(id);
  });
  scheduler.run();
  client.join();
  EXPECT_TRUE(hung);
  EXPECT_EQ(cancelled->outcome().reason, StopReason::kCancelled);
  EXPECT_EQ(cancelled->outcome().account.steps, 3);
  EXPECT_EQ(tree_text(*beside), tree_alone(2));
}

TEST(Scheduler, ATimeLimitInterruptsALongStep) {
  ScriptedEngine engine(sized(8), random_model());
  Scheduler scheduler(engine);
  auto late = branching(1);
  auto beside = branching(2);
  bool hung = false;
  engine.before_step = [&] {
    if (hung) return;
    hung = true;
    while (!engine.interruption().due()) std::this_thread::yield();
    throw Interrupted();
  };
  Job limited = job(late);
  limited.max_seconds = 0.02;
  scheduler.submit(std::move(limited));
  scheduler.submit(job(beside));
  scheduler.run();
  EXPECT_EQ(late->outcome().reason, StopReason::kTimeBudget);
  EXPECT_EQ(tree_text(*beside), tree_alone(2));
}

}  // namespace
}  // namespace dts
