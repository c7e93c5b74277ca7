// A model asked from many threads: the same trees as one at a time, and an end whatever is under way.
#include "host/model_host.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "dts/error.h"
#include "dts/llama.h"

namespace dts::host {
namespace {

constexpr std::chrono::minutes kLong{10};

std::shared_ptr<const Model> nano() {
  static const auto model = std::make_shared<LlamaModel>(LlamaModelOptions{.path = DTS_NANO_MODEL, .gpu_layers = 0});
  return model;
}

HostQuestion question(int number, const std::string& method) {
  HostQuestion asked;
  asked.messages = {{"user", "Find the value of (66 - 36) x " + std::to_string(number) + " - 14 + 86."}};
  set_option(asked.decoding, "method", method);
  set_option(asked.decoding, "seed", std::to_string(number));
  asked.decoding.max_tokens = 60;
  return asked;
}

std::string tree_of(const HostedRun& run) {
  std::string text;
  for (const Segment& segment : run.document()->tree.segments()) {
    text += std::to_string(segment.parent) + ":";
    for (const TokenRecord& record : segment.tokens) text += " " + std::to_string(record.token);
    text += "\n";
  }
  return text;
}

std::shared_ptr<HostedRun> wait(std::shared_ptr<HostedRun> run) {
  EXPECT_TRUE(run->wait_done(HostedRun::Clock::now() + kLong));
  return run;
}

TEST(ModelHost, ManyThreadsGetTheTreesOfOne) {
  constexpr int kThreads = 4;
  std::vector<std::string> alone;
  {
    ModelHost host(nano());
    for (int i = 0; i < kThreads; ++i) {
      alone.push_back(tree_of(*wait(host.ask(question(i + 2, i % 2 == 0 ? "dts-greedy" : "standard")))));
    }
  }
  ModelHost host(nano(), {.parallel_branches = 60});
  std::vector<std::string> together(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      together[static_cast<std::size_t>(i)] =
          tree_of(*wait(host.ask(question(i + 2, i % 2 == 0 ? "dts-greedy" : "standard"))));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(alone, together);
}

TEST(ModelHost, EventsComeToTheirEnd) {
  ModelHost host(nano());
  HostQuestion asked = question(3, "dts-greedy");
  asked.events = true;
  const auto run = host.ask(asked);
  std::size_t tokens = 0;
  std::string last;
  while (run->wait(HostedRun::Clock::now() + kLong)) {
    const auto event = run->next_event();
    if (!event) break;
    tokens += event->grown.size();
    last = event->type;
  }
  EXPECT_EQ(last, "done");
  EXPECT_EQ(tokens, wait(run)->document()->tree.unique_tokens());
}

TEST(ModelHost, CancelledFromAnotherThreadAtAnyMoment) {
  ModelHost host(nano());
  for (int i = 0; i < 8; ++i) {
    const auto run = host.ask(question(i, "dts-stable"));
    std::thread([run] { run->cancel(); }).join();
    wait(run);
    EXPECT_FALSE(run->error()) << run->error()->what();
  }
}

TEST(ModelHost, GoesWithQuestionsUnderWay) {
  std::vector<std::shared_ptr<HostedRun>> runs;
  {
    ModelHost host(nano());
    for (int i = 0; i < 6; ++i) runs.push_back(host.ask(question(i, "dts-stable")));
  }
  for (const auto& run : runs) EXPECT_TRUE(run->done());
}

TEST(ModelHost, WhatIsWrongIsSaidAtOnce) {
  ModelHost host(nano());
  EXPECT_THROW(host.ask({}), Error);
  HostQuestion wide = question(1, "self-consistency");
  wide.decoding.numbers.votes = 100000;
  EXPECT_THROW(host.ask(wide), Error);
  HostQuestion stop = question(1, "standard");
  stop.stop = {""};
  EXPECT_THROW(host.ask(stop), Error);
  EXPECT_THROW(set_option(stop.decoding, "max_tokens", "many"), Error);
  EXPECT_THROW(set_option(stop.decoding, "nothing", "1"), Error);
  EXPECT_THROW(ModelHost(nano(), {.parallel_branches = 0}), Error);
}

TEST(ModelHost, ADescriptorTellsOfTheEnd) {
  ModelHost host(nano());
  const auto run = host.ask(question(2, "standard"));
  EXPECT_GE(run->event_descriptor(), 0);
  EXPECT_GE(run->done_descriptor(), 0);
  wait(run);
  EXPECT_FALSE(run->next_event());
}

}  // namespace
}  // namespace dts::host
