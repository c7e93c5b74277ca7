// dts -hf from outside: a model in one command, killed again and again, and flags that are no flags.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "engine/random/random_model.h"
#include "hub/hub_server.h"
#include "support/cli_process.h"

namespace dts::test {
namespace {

namespace fs = std::filesystem;

class HubCli : public testing::Test {
 protected:
  HubCli() {
    setenv("HF_ENDPOINT", server.url().c_str(), 1);
    setenv("HF_HOME", home.path().c_str(), 1);
    for (const char* name : {"HF_HUB_CACHE", "HF_TOKEN", "HF_HUB_OFFLINE", "http_proxy", "HTTP_PROXY", "ALL_PROXY"}) {
      unsetenv(name);
    }
  }
  ~HubCli() override {
    unsetenv("HF_ENDPOINT");
    unsetenv("HF_HOME");
    unsetenv("HF_TOKEN");
    unsetenv("HF_HUB_OFFLINE");
  }

  static std::string tiny_model() {
    const TemporaryDirectory folder;
    write_random_model(folder.file("tiny.gguf"), {});
    std::ifstream in(folder.file("tiny.gguf"), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static std::vector<std::string> ask(const std::vector<std::string>& more) {
    std::vector<std::string> all = {"run", "hi", "-n", "5", "--max-branches", "2", "--votes", "1"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  // The model arrived and was loaded: it answers, or comes to no end in five tokens.
  static void expect_ran(const CliResult& result) {
    EXPECT_TRUE(result.exit_code == 0 || result.exit_code == 3) << result.err;
  }

  const std::string bytes = tiny_model();
  HubServer server{"org/tiny-GGUF", {{"tiny-Q4_K_M.gguf", bytes}}};
  TemporaryDirectory home;
};

TEST_F(HubCli, AModelInOneCommandForEveryCommand) {
  const CliResult first = run_cli(ask({"-hf", "org/tiny-GGUF"}));
  expect_ran(first);
  EXPECT_NE(first.err.find("tiny-Q4_K_M.gguf  100%"), std::string::npos) << first.err;
  EXPECT_EQ(first.err.find("built-in"), std::string::npos) << first.err;
  const CliResult again = run_cli(ask({"-hf", "org/tiny-GGUF:q4_k_m"}));
  expect_ran(again);
  EXPECT_EQ(again.err.find("100%"), std::string::npos) << again.err;
  EXPECT_EQ(server.file_requests(), 1);
  setenv("HF_HUB_OFFLINE", "1", 1);
  expect_ran(run_cli(ask({"-hf=org/tiny-GGUF", "-hff", "tiny-Q4_K_M.gguf"})));
  for (const char* command : {"run", "serve", "bench"}) {
    const CliResult missing = run_cli({command, "-hf", "org/none"}, {.input = "hi"});
    EXPECT_EQ(missing.exit_code, 1) << command;
    EXPECT_NE(missing.err.find("org/none"), std::string::npos) << missing.err;
  }
  for (const char* command : {"run", "serve", "eval", "bench"}) {
    const CliResult help = run_cli({command, "--help"});
    EXPECT_NE(help.out.find("-hf, --hf-repo ORG/REPO[:QUANT]"), std::string::npos) << command;
  }
}

TEST_F(HubCli, FlagsThatAreNoneNeverPrintTheHelp) {
  const std::vector<std::vector<std::string>> wrong = {{"run", "-hx", "org/model", "hi"},
                                                       {"run", "-h5", "hi"},
                                                       {"run", "-qhello", "hi"},
                                                       {"run", "-hf"},
                                                       {"run", "-hf", "model", "hi"},
                                                       {"run", "--help=no"},
                                                       {"-hf", "org/model"},
                                                       {"run", "-hff", "x.gguf", "hi"},
                                                       {"tree", "-hx"},
                                                       {"run", "-m", "x.gguf", "-hf", "org/tiny-GGUF", "hi"}};
  for (const auto& arguments : wrong) {
    const CliResult result = run_cli(arguments);
    EXPECT_EQ(result.exit_code, 2) << arguments.back() << result.out << result.err;
    EXPECT_EQ(result.out, "") << arguments.back();
    EXPECT_TRUE(result.err.starts_with("dts: ")) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
  EXPECT_EQ(run_cli({"run", "-h"}).exit_code, 0);
  EXPECT_EQ(server.requests(), 0);
}

TEST_F(HubCli, KilledTenTimesItCarriesOnEachTime) {
  constexpr int kKills = 10;
  const std::size_t piece = bytes.size() / (kKills + 1);
  std::vector<std::size_t> starts;
  std::mutex mutex;
  server.faults.send = [&](std::size_t from, LoopbackReply& reply, const std::string& rest) {
    bool last = false;
    {
      const std::lock_guard lock(mutex);
      starts.push_back(from);
      last = starts.size() > kKills;
    }
    if (last) return static_cast<void>(reply.raw(rest));
    reply.raw(rest.substr(0, piece));
    reply.wait_until_closed();  // by the death of the program
  };
  const std::string incomplete = home.file("hub/models--org--tiny-GGUF/blobs/" + sha256_of(bytes) + ".incomplete");
  for (int i = 0; i < kKills; ++i) {
    CliProcess process(ask({"-hf", "org/tiny-GGUF"}));
    // It has written the whole piece: then it waits for more, and that is when it is killed.
    std::error_code none_yet;
    while (fs::file_size(incomplete, none_yet) != piece * static_cast<std::size_t>(i + 1)) std::this_thread::yield();
    process.signal(SIGKILL);
    EXPECT_EQ(process.wait().signal, SIGKILL);
  }
  const CliResult result = run_cli(ask({"-hf", "org/tiny-GGUF"}));
  expect_ran(result);
  ASSERT_EQ(starts.size(), kKills + 1U);
  for (std::size_t i = 0; i < starts.size(); ++i) EXPECT_EQ(starts[i], i * piece);
  EXPECT_FALSE(fs::exists(incomplete));
}

TEST_F(HubCli, CtrlCKeepsWhatHasComeAndSaysSo) {
  server.faults.send = [](std::size_t, LoopbackReply& reply, const std::string& rest) {
    reply.raw(rest.substr(0, rest.size() / 2));
    reply.wait_until_closed();
  };
  CliProcess process(ask({"-hf", "org/tiny-GGUF"}));
  ASSERT_TRUE(process.wait_for_error("tiny-Q4_K_M.gguf  [1-5]"));
  process.signal(SIGINT);
  const CliResult result = process.wait();
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_NE(result.err.find("carries on from there"), std::string::npos) << result.err;
  server.faults.send = nullptr;
  expect_ran(run_cli(ask({"-hf", "org/tiny-GGUF"})));
}

TEST_F(HubCli, ModelsListsWhatIsHere) {
  expect_ran(run_cli(ask({"-hf", "org/tiny-GGUF"})));
  const fs::path broken = home.path() / "hub/models--org--broken/snapshots/abc";
  fs::create_directories(broken);
  std::ofstream(broken / "b-Q8_0.gguf") << "no model";
  fs::create_symlink("../../blobs/gone", broken / "c-Q8_0.gguf");
  const CliResult result = run_cli({"models", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const nlohmann::json models = nlohmann::json::parse(result.out)["models"];
  ASSERT_EQ(models.size(), 3U);
  EXPECT_EQ(models[0]["name"], "built-in");
  EXPECT_EQ(models[0]["fits"], "yes");
  EXPECT_EQ(models[1]["name"], "org/broken:Q8_0");
  EXPECT_NE(models[1]["error"], "");
  EXPECT_EQ(models[2]["name"], "org/tiny-GGUF:Q4_K_M");
  EXPECT_EQ(models[2]["bytes"], bytes.size());
  EXPECT_GT(models[2]["kv_bytes_per_token"], 0);
  EXPECT_GT(models[2]["sampling"]["temperature"], 0);
  const CliResult text = run_cli({"models"});
  EXPECT_NE(text.out.find("dts run -hf org/tiny-GGUF:Q4_K_M"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("built-in"), std::string::npos) << text.out;
}

TEST_F(HubCli, TheTokenIsInNoMessage) {
  setenv("HF_TOKEN", "hf_verysecret", 1);
  server.faults.token = "hf_other";
  const CliResult result = run_cli(ask({"-hf", "org/tiny-GGUF", "-v"}));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ((result.out + result.err).find("verysecret"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("HF_TOKEN"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace dts::test
