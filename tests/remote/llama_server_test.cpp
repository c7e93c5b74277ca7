// A real llama-server with the built-in model, alone and as a fleet whose members are killed.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <llama.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "dts/llama.h"
#include "dts/remote.h"
#include "dts/scheduler.h"
#include "dts/text_search.h"
#include "remote/llama_server_process.h"
#include "support/temporary_directory.h"

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
  return make_text_search(model.vocabulary(), model.vocabulary().chat(std::vector<ChatMessage>{{"user", question}}),
                          options);
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

// The built-in model with weights whose products round alike for any number of rows.
std::string quantised_model(const test::TemporaryDirectory& directory) {
  llama_model_quantize_params params = llama_model_quantize_default_params();
  params.ftype = LLAMA_FTYPE_MOSTLY_Q8_0;
  params.nthread = 1;
  params.pure = true;
  const std::string path = directory.file("nano-q8_0.gguf");
  EXPECT_EQ(llama_model_quantize(DTS_NANO_MODEL, path.c_str(), &params), 0U);
  return path;
}

// An engine whose prompts are fed a token at a time: attention over several rows rounds otherwise than over one.
class OneByOne final : public Engine {
 public:
  explicit OneByOne(std::unique_ptr<Engine> engine) : engine_(std::move(engine)), info_(engine_->info()) {
    info_.prefill_chunk = 1;
  }
  const EngineInfo& info() const override { return info_; }
  EngineTimes times() const override { return engine_->times(); }
  std::int64_t kv_tokens_of(const Footprint& footprint) const override { return engine_->kv_tokens_of(footprint); }
  BranchId open() override { return engine_->open(); }
  BranchId fork(BranchId parent) override { return engine_->fork(parent); }
  void release(BranchId branch) override { engine_->release(branch); }
  void step(std::span<const Feed> feeds, std::span<Prediction> out) override { engine_->step(feeds, out); }

 private:
  std::unique_ptr<Engine> engine_;
  EngineInfo info_;
};

// How far two computations of the same tokens are apart, and where their trees part.
struct Rounding {
  float logprob = 0;  // largest difference where both trees have the same tokens
  float entropy = 0;
  float varentropy = 0;
  std::size_t tokens = 0;
};

bool same_tokens(const Segment& a, const Segment& b) {
  const auto token_of = [](const TokenRecord& record) { return record.token; };
  return a.parent == b.parent && a.state == b.state && std::ranges::equal(a.tokens, b.tokens, {}, token_of, token_of);
}

bool same_tree(const Search& a, const Search& b) {
  return std::ranges::equal(a.tree().segments(), b.tree().segments(), same_tokens);
}

// The longest stretch of each segment that both have, as long as their parents are the same.
void measure(const Search& a, const Search& b, Rounding& rounding) {
  const auto& left = a.tree().segments();
  const auto& right = b.tree().segments();
  std::vector<bool> same(std::min(left.size(), right.size()));
  for (std::size_t i = 0; i < same.size(); ++i) {
    if (left[i].parent != right[i].parent) return;
    if (left[i].parent != kNoSegment && !same[static_cast<std::size_t>(left[i].parent)]) continue;
    same[i] = same_tokens(left[i], right[i]);
    for (std::size_t t = 0; t < std::min(left[i].tokens.size(), right[i].tokens.size()); ++t) {
      const TokenRecord& x = left[i].tokens[t];
      const TokenRecord& y = right[i].tokens[t];
      if (x.token != y.token) break;
      rounding.logprob = std::max(rounding.logprob, std::abs(x.logprob - y.logprob));
      if (!std::isnan(x.entropy) && !std::isnan(y.entropy)) {
        rounding.entropy = std::max(rounding.entropy, std::abs(x.entropy - y.entropy));
        rounding.varentropy = std::max(rounding.varentropy, std::abs(x.varentropy - y.varentropy));
      }
      ++rounding.tokens;
    }
  }
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

struct Comparison {
  int same = 0;  // to the last token
  Rounding rounding;
  Account account;
  std::int64_t most_extra_requests = -1000;
};

// All of nano-bench-mini at temperature 0, in process and over the server.
Comparison compare(Engine& engine, const Model& local, Engine& served, const Model& remote) {
  Comparison all;
  for (const std::string& question : questions()) {
    const auto expected = ask(local, question, options_at(0));
    decode(engine, expected);
    const std::int64_t before = remote_traffic(served).requests;
    const auto search = ask(remote, question, options_at(0));
    EXPECT_TRUE(std::ranges::equal(search->prompt(), expected->prompt()));
    decode(served, search);
    all.same += same_tree(*search, *expected) ? 1 : 0;
    measure(*search, *expected, all.rounding);
    const Account account = search->outcome().account;
    all.account.undecided += account.undecided;
    all.account.fed_tokens += account.fed_tokens;
    all.most_extra_requests =
        std::max(all.most_extra_requests, remote_traffic(served).requests - before - account.branches);
  }
  const RemoteTraffic traffic = remote_traffic(served);
  std::printf("%d of %zu trees are the same to the last token\n", all.same, questions().size());
  std::printf("%.2f%% of steps undecided, %.0f bytes a token, %.1f%% overshoot\n",
              100.0 * static_cast<double>(all.account.undecided) / static_cast<double>(all.account.fed_tokens),
              static_cast<double>(traffic.received_bytes) / static_cast<double>(traffic.received_tokens),
              100.0 * static_cast<double>(traffic.overshoot_tokens) / static_cast<double>(traffic.received_tokens));
  std::printf("over %zu tokens that both have: log-probabilities differ by at most %.2g, H by %.2g, VE by %.2g\n",
              all.rounding.tokens, static_cast<double>(all.rounding.logprob), static_cast<double>(all.rounding.entropy),
              static_cast<double>(all.rounding.varentropy));
  return all;
}

// What the server computes for a token depends on how many rows are computed with it, and a child's prefix is computed
// again, many rows at once. With weights that round alike, and one token an evaluation everywhere, nothing is left of
// that, and the trees must be the same: whatever differs now, the remote engine has done.
TEST_F(LlamaServer, TheSameTreesAsInProcess) {
  const test::TemporaryDirectory directory;
  const std::string file = quantised_model(directory);
  const LlamaModel local({.path = file, .gpu_layers = 0});
  OneByOne engine(make_llama_engine(local, {.max_branches = kSlots, .context_length = 640, .threads = 1}));
  LlamaServerProcess server(free_port(), kSlots, file, {"-ub", "1"});
  server.wait_until_listening();
  // All of the small vocabulary: this model decides by its long tail, of which 20 candidates say too little.
  const auto remote = connect({server.url()}, 1 << 20);
  const auto served = remote->make_engine({.max_branches = kSlots, .context_length = 640});
  EXPECT_TRUE(served->info().capabilities.exact_statistics);
  EXPECT_EQ(remote->vocabulary().size(), local.vocabulary().size());
  const Comparison all = compare(engine, local, *served, *remote);
  EXPECT_EQ(all.same, static_cast<int>(questions().size()));
  EXPECT_LE(all.most_extra_requests, 1) << "requests beyond one a child";
}

// DTS_KILLS: how many; DTS_KILL_SEED: where their moments are drawn from. 100 were made for the documentation:
//   cmake --preset release -DDTS_TEST_LLAMA_SERVER=ON && ninja -C build/release llama_server_tests
//   DTS_KILLS=100 build/release/bin/llama_server_tests --gtest_filter='*Kills*'
TEST_F(LlamaServer, KillsOfAnEndpointDoNotChangeTrees) {
  const char* asked = std::getenv("DTS_KILLS");
  const int kills = asked != nullptr ? std::atoi(asked) : 12;
  // As above, so that what is computed again is computed alike.
  const test::TemporaryDirectory directory;
  const std::string file = quantised_model(directory);
  LlamaServerProcess first(free_port(), kSlots, file, {"-ub", "1"});
  LlamaServerProcess second(free_port(), kSlots, file, {"-ub", "1"});
  first.wait_until_listening();
  second.wait_until_listening();
  const auto remote = connect({first.url(), second.url()}, 20);
  const auto engine = remote->make_engine({.max_branches = kSlots, .context_length = 640});
  const char* seed = std::getenv("DTS_KILL_SEED");
  std::mt19937_64 random(seed != nullptr ? std::strtoull(seed, nullptr, 10) : 1);
  const std::vector<std::string> all = questions();
  struct Undisturbed {
    std::string tree;
    int steps = 0;
  };
  std::vector<Undisturbed> expected(10);
  int killed = 0;
  int struck = 0;  // kills that streams were lost to
  for (int i = 0; i < kills; ++i) {
    const std::size_t which = static_cast<std::size_t>(i) % expected.size();
    if (expected[which].tree.empty()) {
      const auto undisturbed = ask(*remote, all[which], options_at(0));
      undisturbed->on_event = [&](const SearchEvent& event) { expected[which].steps = event.step; };
      decode(*engine, undisturbed);
      expected[which].tree = describe(*undisturbed);
      ASSERT_TRUE(undisturbed->outcome().complete()) << undisturbed->outcome().error;
    }
    const auto search = ask(*remote, all[which], options_at(0));
    const int moment =
        1 + static_cast<int>(random() % static_cast<std::uint64_t>(std::max(1, expected[which].steps - 1)));
    LlamaServerProcess& victim = random() % 3 == 0 ? second : first;  // the first has the question, most often
    const std::int64_t before = remote_traffic(*engine).retries;
    bool dead = false;
    search->on_event = [&](const SearchEvent& event) {
      if (dead || event.type != SearchEvent::Type::kStep || event.step < moment) return;
      dead = true;
      victim.kill();
    };
    decode(*engine, search);
    EXPECT_EQ(describe(*search), expected[which].tree) << "kill " << i << " at step " << moment;
    EXPECT_TRUE(search->outcome().complete());
    killed += dead ? 1 : 0;
    struck += remote_traffic(*engine).retries > before ? 1 : 0;
    if (dead) {
      victim.start();
      victim.wait_until_listening();
    }
  }
  EXPECT_EQ(killed, kills);
  EXPECT_GT(struck, kills / 4) << "the kills found streams open";
  std::printf("%d kills, %d of them of the endpoint that had the branches; %lld requests again\n", killed, struck,
              static_cast<long long>(remote_traffic(*engine).retries));
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
