// A real llama-server with the built-in model, alone and as a fleet whose members are killed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "dts/llama.h"
#include "dts/remote.h"
#include "dts/scheduler.h"
#include "dts/text_search.h"
#include "remote/llama_server_process.h"

namespace dts {
namespace {

constexpr int kSlots = 24;

std::vector<std::string> questions() {
  std::ifstream file(DTS_NANO_BENCH);
  std::vector<std::string> out;
  for (std::string line; std::getline(file, line);) out.push_back(nlohmann::json::parse(line).at("question"));
  return out;
}

SearchOptions options_at(float temperature) {
  SearchOptions options;
  options.method = make_method("dts-stable", {.branch = {.max_branches = kSlots}});
  options.sampling.temperature = temperature;
  options.max_tokens = 400;
  return options;
}

std::shared_ptr<Search> ask(const Model& model, const std::string& question, const SearchOptions& options) {
  return make_text_search(model.vocabulary(), model.vocabulary().chat(std::vector<ChatMessage>{{"user", question}}), options);
}

void decode(Engine& engine, const std::shared_ptr<Search>& search) {
  Scheduler scheduler(engine);
  Job job;
  job.search = search;
  scheduler.submit(std::move(job));
  scheduler.run();
}

std::string describe(const Search& search) {
  std::string text = search.outcome().error;
  for (const Segment& segment : search.tree().segments()) {
    text += fmt::format("\n{} {}:", segment.parent, static_cast<int>(segment.state));
    for (const TokenRecord& token : segment.tokens) text += fmt::format(" {}", token.token);
  }
  return text;
}

std::unique_ptr<Model> connect(std::vector<std::string> urls, int candidates) {
  RemoteModelOptions options;
  options.kind = RemoteKind::kLlamaServer;
  options.urls = std::move(urls);
  options.candidates = candidates;
  return make_remote_model(options);
}

class LlamaServer : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::string(DTS_LLAMA_SERVER).empty()) GTEST_SKIP() << "llama-server is not built: -DDTS_TEST_LLAMA_SERVER=ON";
  }
};

TEST_F(LlamaServer, TheSameTreesAsInProcess) {
  const LlamaModel local({.path = DTS_NANO_MODEL, .gpu_layers = 0});
  const auto engine = make_llama_engine(local, {.max_branches = kSlots, .context_length = 640, .threads = 1});
  LlamaServerProcess server(free_port(), kSlots);
  server.wait_until_listening();
  const auto remote = connect({server.url()}, 1 << 20);
  const auto served = remote->make_engine({.max_branches = kSlots, .context_length = 640});
  EXPECT_TRUE(served->info().capabilities.exact_statistics) << "all log-probabilities are asked for";
  EXPECT_EQ(remote->vocabulary().size(), local.vocabulary().size());

  // From candidates alone: the tree may differ where bounds leave a decision open; how often is told.
  const auto narrow = connect({server.url()}, 20);
  const auto narrow_engine = narrow->make_engine({.max_branches = kSlots, .context_length = 640});
  int same = 0;
  std::int64_t undecided = 0;
  std::int64_t tokens = 0;
  std::int64_t most_extra_requests = -1000;
  for (const std::string& question : questions()) {
    const auto expected = ask(local, question, options_at(0));
    decode(*engine, expected);
    EXPECT_EQ(remote->vocabulary().chat(std::vector<ChatMessage>{{"user", question}}).tokens,
              local.vocabulary().chat(std::vector<ChatMessage>{{"user", question}}).tokens);
    const auto search = ask(*remote, question, options_at(0));
    const std::int64_t before = remote_traffic(*served).requests;
    decode(*served, search);
    EXPECT_EQ(describe(*search), describe(*expected)) << question;
    EXPECT_EQ(search->outcome().account.undecided, 0);
    most_extra_requests = std::max(most_extra_requests, remote_traffic(*served).requests - before -
                                                            search->outcome().account.branches);
    const auto guessed = ask(*narrow, question, options_at(0));
    decode(*narrow_engine, guessed);
    same += describe(*guessed) == describe(*expected) ? 1 : 0;
    undecided += guessed->outcome().account.undecided;
    tokens += guessed->outcome().account.fed_tokens;
  }
  EXPECT_LE(most_extra_requests, 1) << "requests beyond one a child";
  const RemoteTraffic all = remote_traffic(*served);
  const RemoteTraffic few = remote_traffic(*narrow_engine);
  std::printf("top-20: %d of %zu trees the same, %.2f%% of steps undecided\n", same, questions().size(),
              100.0 * static_cast<double>(undecided) / static_cast<double>(tokens));
  std::printf("bytes a token: %.0f with all candidates, %.0f with 20; overshoot %.1f%%\n",
              static_cast<double>(all.received_bytes) / static_cast<double>(all.received_tokens),
              static_cast<double>(few.received_bytes) / static_cast<double>(few.received_tokens),
              100.0 * static_cast<double>(few.overshoot_tokens) / static_cast<double>(few.received_tokens));
  EXPECT_GE(same, static_cast<int>(questions().size()) * 9 / 10);
}

TEST_F(LlamaServer, KillsOfAnEndpointDoNotChangeTrees) {
  const char* asked = std::getenv("DTS_KILLS");
  const int kills = asked != nullptr ? std::atoi(asked) : 12;
  LlamaServerProcess first(free_port(), kSlots);
  LlamaServerProcess second(free_port(), kSlots);
  first.wait_until_listening();
  second.wait_until_listening();
  const auto remote = connect({first.url(), second.url()}, 1 << 20);
  const auto engine = remote->make_engine({.max_branches = kSlots, .context_length = 640});
  std::mt19937_64 random(1);
  const std::vector<std::string> all = questions();
  std::vector<std::string> expected(all.size());
  for (int i = 0; i < kills; ++i) {
    const std::size_t which = static_cast<std::size_t>(i) % 10;
    if (expected[which].empty()) {
      const auto undisturbed = ask(*remote, all[which], options_at(0));
      decode(*engine, undisturbed);
      expected[which] = describe(*undisturbed);
    }
    const auto search = ask(*remote, all[which], options_at(0));
    const int moment = 1 + static_cast<int>(random() % 60);
    LlamaServerProcess& victim = random() % 2 == 0 ? first : second;
    bool killed = false;
    search->on_event = [&](const SearchEvent& event) {
      if (killed || event.type != SearchEvent::Type::kStep || event.step < moment) return;
      killed = true;
      victim.kill();
    };
    decode(*engine, search);
    EXPECT_EQ(describe(*search), expected[which]) << "kill " << i << " at step " << moment;
    EXPECT_TRUE(search->outcome().complete());
    if (killed) {
      victim.start();
      victim.wait_until_listening();
    }
  }
  std::printf("%d kills, %lld requests again\n", kills, static_cast<long long>(remote_traffic(*engine).retries));
}

// Once nothing can branch any more, a tree's tokens cost what plain streams of as many tokens cost.
TEST_F(LlamaServer, CostsWhatPlainStreamsCost) {
  LlamaServerProcess server(free_port(), kSlots);
  server.wait_until_listening();
  const auto remote = connect({server.url()}, 20);
  const auto engine = remote->make_engine({.max_branches = kSlots, .context_length = 640});
  const auto timed = [&](const SearchOptions& options) {
    double seconds = 0;
    std::int64_t tokens = 0;
    for (const std::string& question : std::vector<std::string>{questions()[0], questions()[4], questions()[7]}) {
      const auto search = ask(*remote, question, options);
      const auto start = std::chrono::steady_clock::now();
      decode(*engine, search);
      seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      tokens += search->outcome().account.fed_tokens;
    }
    return seconds / static_cast<double>(tokens);
  };
  SearchOptions plain = options_at(0.6F);
  plain.method = make_method("self-consistency", {.branch = {}, .votes = 8});
  SearchOptions frozen = options_at(0.6F);
  frozen.method.branch.freeze = Freeze::kPermanent;
  frozen.method.branch.max_branches = 8;
  frozen.method.stop.finished = StopRule::kAll;
  timed(plain);  // warm
  const double streams = timed(plain);
  const double tree = timed(frozen);
  std::printf("a token: %.3f ms in plain streams, %.3f ms in a tree of as many branches: %.2fx\n", 1e3 * streams,
              1e3 * tree, tree / streams);
  EXPECT_GT(streams, 0);
}

}  // namespace
}  // namespace dts
