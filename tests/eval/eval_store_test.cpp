#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "dts/error.h"
#include "eval/store/store.h"

namespace dts::eval {
namespace {

class StoreTest : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::temp_directory_path() / ("dts-store-test-" + std::to_string(getpid()));
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string file(const std::string& name = "results.db") const { return (directory_ / name).string(); }

  static Row row(std::uint64_t seed, const std::string& question) {
    Row row;
    row.key = {"a model", "nano-bench", "dts-stable", seed, question};
    row.task = "maze";
    row.difficulty = "hard";
    row.gold = "41";
    row.answer = "41";
    row.score = 0.75;
    row.extracted = true;
    row.finished = true;
    row.reason = "enough-finished";
    row.votes = 9;
    row.exhausted = 2;
    row.branch_events = 6;
    row.steps = 120;
    row.prompt_tokens = 50;
    row.unique_tokens = 700;
    row.branch_tokens = 1000;
    row.fed_tokens = 690;
    row.chosen_tokens = 110;
    row.seconds = 0.5;
    row.flops = 1e9;
    row.traces = {{110, 1.0, "41"}, {130, 0.0, ""}};
    row.document = "{\"segments\": [" + std::string(10000, ' ') + "]}";
    return row;
  }

  std::filesystem::path directory_;
};

TEST_F(StoreTest, KeepsRowsWholeOverReopening) {
  {
    Store store(file());
    EXPECT_TRUE(store.claim(row(3, "q1").key));
    store.save(row(3, "q1"));
  }
  const Store store(file(), /*read_only=*/true);
  ASSERT_EQ(store.count(), 1U);
  const Row expected = row(3, "q1");
  const auto found = store.row(expected.key);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->document, expected.document);
  EXPECT_EQ(found->key, expected.key);
  EXPECT_EQ(found->score, expected.score);
  EXPECT_EQ(found->reason, expected.reason);
  EXPECT_EQ(found->unique_tokens, expected.unique_tokens);
  EXPECT_EQ(found->chosen_tokens, expected.chosen_tokens);
  EXPECT_EQ(found->flops, expected.flops);
  EXPECT_EQ(found->traces, expected.traces);
  EXPECT_FALSE(store.row({"a model", "nano-bench", "dts-stable", 4, "q1"}).has_value());
  EXPECT_TRUE(store.rows().front().document.empty());
}

TEST_F(StoreTest, ARowIsWrittenOnce) {
  Store store(file());
  store.save(row(0, "q"));
  Row other = row(0, "q");
  other.score = 0;
  store.save(other);
  EXPECT_EQ(store.count(), 1U);
  EXPECT_EQ(store.rows().front().score, 0.75);
  EXPECT_FALSE(store.claim(other.key));
}

TEST_F(StoreTest, AClaimHoldsWhileItsProcessLives) {
  Store store(file());
  const RowKey key = row(0, "q").key;
  EXPECT_TRUE(store.claim(key));
  Store second(file());
  EXPECT_FALSE(second.claim(key));  // this very process lives
  store.abandon(key);
  EXPECT_TRUE(second.claim(key));
}

TEST_F(StoreTest, AClaimDiesWithItsProcess) {
  const RowKey key = row(0, "q").key;
  const std::string path = file();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    // Dies as by kill -9: nothing is cleaned up.
    const bool claimed = Store(path).claim(key);
    _exit(claimed ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(WEXITSTATUS(status), 0);
  Store store(path);
  EXPECT_TRUE(store.claim(key));
}

// Killed, but whoever started it has not asked for its end yet.
TEST_F(StoreTest, AClaimDiesWithAProcessThatNobodyHasReaped) {
  const RowKey key = row(0, "q").key;
  const std::string path = file();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(Store(path).claim(key) ? 0 : 1);
  siginfo_t ended{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
  ASSERT_EQ(ended.si_status, 0);
  EXPECT_TRUE(Store(path).claim(key));
  waitpid(child, nullptr, 0);
}

TEST_F(StoreTest, OtherSettingsAreRefusedByName) {
  Store store(file());
  const auto require = [&store](const std::string& model, const std::string& method, const std::string& settings) {
    store.require_settings({model, "aime24", method, settings});
  };
  require("a", "standard", R"({"temperature":0.6,"top_p":0.95})");
  EXPECT_NO_THROW(require("a", "standard", R"({"top_p":0.95,"temperature":0.6})"));
  EXPECT_NO_THROW(require("a", "dts-stable", R"({"temperature":0.7})"));
  EXPECT_NO_THROW(require("b", "standard", R"({"temperature":0.7})"));
  try {
    require("a", "standard", R"({"temperature":0.7,"top_p":0.95,"min_p":0.1})");
    FAIL();
  } catch (const Error& e) {
    const std::string what = e.what();
    EXPECT_NE(what.find("temperature is 0.6 there and 0.7 now"), std::string::npos) << what;
    EXPECT_NE(what.find("min_p is absent there and 0.1 now"), std::string::npos) << what;
    EXPECT_EQ(what.find("top_p"), std::string::npos) << what;
  }
  const std::vector<StoredSettings> all = store.settings();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[1].method, "standard");
  EXPECT_EQ(all[1].settings, R"({"temperature":0.6,"top_p":0.95})");
}

TEST_F(StoreTest, RemembersTheCommandsThatMadeIt) {
  {
    Store store(file());
    store.note_run("dts eval --paper");
    store.note_run("dts eval --seeds 5-9");
  }
  const std::vector<StoredRun> runs = Store(file(), true).runs();
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].command, "dts eval --paper");
  EXPECT_EQ(runs[1].command, "dts eval --seeds 5-9");
  EXPECT_EQ(runs[0].started.size(), 20U) << runs[0].started;
}

TEST_F(StoreTest, RefusesForeignFiles) {
  EXPECT_THROW(Store(directory_.string()), Error);
  EXPECT_THROW(Store(file("missing.db"), /*read_only=*/true), Error);
  EXPECT_THROW(Store(file("no/such/directory.db")), Error);
  std::ofstream(file("text.db")) << std::string(5000, 'x');
  EXPECT_THROW(Store(file("text.db")), Error);
}

}  // namespace
}  // namespace dts::eval
