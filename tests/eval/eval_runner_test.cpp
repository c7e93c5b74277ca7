// The runner on an engine without a model: everything is done once, whatever interrupts it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>

#include "dts/error.h"
#include "dts/tree_file.h"
#include "eval/run/runner.h"
#include "support/scripted_engine.h"

namespace dts::eval {
namespace {

constexpr int kVocab = 24;
constexpr Token kEnd = 1;

// Tokens are letters: the least that a text needs.
class LetterVocabulary final : public Vocabulary {
 public:
  int size() const override { return kVocab; }
  std::string piece(Token token, bool /*special*/) const override {
    return std::string(1, static_cast<char>('a' + token));
  }
  std::vector<Token> tokenize(std::string_view text, bool /*special*/) const override {
    std::vector<Token> tokens;
    for (const char c : text) tokens.push_back(static_cast<Token>(static_cast<unsigned char>(c) % kVocab));
    return tokens;
  }
  bool is_end(Token token) const override { return token == kEnd; }
  ChatPrompt chat(std::span<const ChatMessage> messages) const override {
    ChatPrompt prompt;
    prompt.text = messages.back().content;
    prompt.tokens = tokenize(prompt.text, false);
    return prompt;
  }
};

class RunnerTest : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::temp_directory_path() / ("dts-runner-test-" + std::to_string(getpid()));
    std::filesystem::create_directories(directory_);
    dataset_.info = find_dataset("nano-bench");
    for (int i = 0; i < 12; ++i) {
      Question question;
      question.id = "q" + std::to_string(i);
      question.text = "question " + std::to_string(i * 7919);
      question.answer = std::to_string(i % 3);
      dataset_.questions.push_back(question);
    }
    RandomScript script;
    script.seed = 17;
    script.n_vocab = kVocab;
    script.end_token = kEnd;
    ScriptedEngineOptions options;
    options.n_vocab = kVocab;
    options.max_branches = 20;
    engine_ = std::make_unique<ScriptedEngine>(options, script);

    inputs_.engine = engine_.get();
    inputs_.vocabulary = &vocabulary_;
    inputs_.model = "letters";
    inputs_.dataset = &dataset_;
    for (const char* name : {"standard", "self-consistency", "dts-stable"}) {
      MethodOptions method;
      method.branch.tau_v = 0.5;
      method.branch.max_branches = 10;
      Variant variant;
      variant.label = name;
      variant.seeds = {0, 1};
      variant.options.method = make_method(name, method);
      variant.options.max_tokens = 30;
      inputs_.variants.push_back(variant);
    }
    inputs_.grading.vote = [](const Question&, std::string_view text, bool) { return std::to_string(text.size() % 3); };
    inputs_.grading.grade = [](const Question& question, std::string_view text, bool) {
      const std::string answer = std::to_string(text.size() % 3);
      return Grade{answer == question.answer ? 1.0 : 0.0, true, answer, "a test"};
    };
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string file(const std::string& name) const { return (directory_ / name).string(); }

  static void expect_same_results(const std::vector<Row>& a, const std::vector<Row>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      EXPECT_EQ(a[i].key, b[i].key);
      EXPECT_EQ(a[i].score, b[i].score);
      EXPECT_EQ(a[i].answer, b[i].answer);
      EXPECT_EQ(a[i].unique_tokens, b[i].unique_tokens);
      EXPECT_EQ(a[i].steps, b[i].steps);
      EXPECT_EQ(a[i].votes, b[i].votes);
      EXPECT_EQ(a[i].traces, b[i].traces);
    }
  }

  std::filesystem::path directory_;
  LetterVocabulary vocabulary_;
  Dataset dataset_;
  std::unique_ptr<ScriptedEngine> engine_;
  RunnerInputs inputs_;
};

TEST_F(RunnerTest, DoesEverythingOnce) {
  Store store(file("a.db"));
  std::set<RowKey> seen;
  inputs_.on_row = [&](const Row& row) { EXPECT_TRUE(seen.insert(row.key).second); };
  EXPECT_TRUE(run_evaluation(inputs_, store));
  EXPECT_EQ(seen.size(), 72U);
  const std::vector<RowKey> keys = keys_of(inputs_);
  EXPECT_EQ(seen, std::set<RowKey>(keys.begin(), keys.end()));
  EXPECT_EQ(store.count(), 72U);
  EXPECT_EQ(engine_->open_branches(), 0);
  EXPECT_GT(engine_->peak_branches(), 10);  // several questions at once
  // Again: nothing is left to do.
  seen.clear();
  EXPECT_TRUE(run_evaluation(inputs_, store));
  EXPECT_TRUE(seen.empty());
}

TEST_F(RunnerTest, StoppedAnywhereItGoesOnToTheSameResults) {
  Store whole(file("whole.db"));
  ASSERT_TRUE(run_evaluation(inputs_, whole));
  // Each time it goes on for as many steps as a few questions take, and is stopped in the middle of others.
  for (const int steps : {60, 75, 110}) {
    SCOPED_TRACE(steps);
    const std::string path = file("parts-" + std::to_string(steps) + ".db");
    int runs = 0;
    bool finished = false;
    while (!finished && ++runs < 100) {
      Store store(path);
      int asked = 0;
      inputs_.stopping = [&] { return ++asked > steps; };
      finished = run_evaluation(inputs_, store);
    }
    EXPECT_GT(runs, 2);
    ASSERT_TRUE(finished);
    const Store store(path, true);
    expect_same_results(store.rows(), whole.rows());
  }
}

TEST_F(RunnerTest, EachVariantHasItsOwnSeeds) {
  inputs_.variants[0].seeds = {0, 1, 2, 3};
  inputs_.variants[1].seeds = {7};
  Store store(file("seeds.db"));
  ASSERT_TRUE(run_evaluation(inputs_, store));
  std::map<std::string, std::set<std::uint64_t>> seeds;
  for (const Row& row : store.rows()) seeds[row.key.method].insert(row.key.seed);
  EXPECT_EQ(seeds["standard"], (std::set<std::uint64_t>{0, 1, 2, 3}));
  EXPECT_EQ(seeds["self-consistency"], (std::set<std::uint64_t>{7}));
  EXPECT_EQ(seeds["dts-stable"], (std::set<std::uint64_t>{0, 1}));
}

// Every finished trajectory is kept with its own grade, and the winner is one of them.
TEST_F(RunnerTest, KeepsWhatEachTrajectoryAnswered) {
  Store store(file("traces.db"));
  ASSERT_TRUE(run_evaluation(inputs_, store));
  for (const Row& row : store.rows()) {
    ASSERT_EQ(row.traces.size(), static_cast<std::size_t>(row.votes));
    const TreeDocument document = tree_from_json_text(store.row(row.key)->document, "a row");
    ASSERT_EQ(document.outcome.finished.size(), row.traces.size());
    for (std::size_t i = 0; i < row.traces.size(); ++i) {
      const FinishedTrace& trace = document.outcome.finished[i];
      EXPECT_EQ(row.traces[i].length, trace.length);
      EXPECT_EQ(row.traces[i].answer, std::to_string(trajectory_text(document, trace.leaf).size() % 3));
      EXPECT_EQ(row.traces[i].score, row.traces[i].answer == row.gold ? 1.0 : 0.0);
    }
    if (!row.finished) continue;
    const TraceResult& winner = row.traces[*document.outcome.winner];
    EXPECT_EQ(winner.answer, row.answer);
    EXPECT_EQ(winner.length, row.chosen_tokens);
    EXPECT_EQ(winner.score, row.score);
  }
}

// Another process's claims are passed over, and taken once it has given them up.
TEST_F(RunnerTest, TakesWhatOthersGiveUp) {
  const std::string path = file("claims.db");
  Store other(path);
  const std::vector<RowKey> keys = keys_of(inputs_);
  ASSERT_TRUE(other.claim(keys.front()));
  ASSERT_TRUE(other.claim(keys.back()));
  Store store(path);
  inputs_.on_row = [&, done = 0](const Row&) mutable {
    if (++done == 70) other.abandon(keys.front());  // the last row this runner could have
  };
  ASSERT_TRUE(run_evaluation(inputs_, store));
  EXPECT_EQ(store.count(), 71U);
  EXPECT_TRUE(store.has(keys.front()));
  EXPECT_FALSE(store.has(keys.back()));
}

TEST_F(RunnerTest, AFailingEngineLosesNothingThatWasDone) {
  const std::string path = file("fails.db");
  {
    Store store(path);
    engine_->before_step = [this] {
      if (engine_->steps() > 40) throw std::runtime_error("the device is on fire");
    };
    EXPECT_THROW(run_evaluation(inputs_, store), Error);
    EXPECT_GT(store.count(), 0U);
    EXPECT_LT(store.count(), 72U);
  }
  EXPECT_EQ(engine_->open_branches(), 0);
  engine_->before_step = nullptr;
  Store store(path);
  EXPECT_TRUE(run_evaluation(inputs_, store));
  EXPECT_EQ(store.count(), 72U);
}

TEST_F(RunnerTest, AQuestionTooLongForTheContextIsNamed) {
  dataset_.questions[3].text = std::string(5000, 'x');
  Store store(file("long.db"));
  try {
    run_evaluation(inputs_, store);
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("q3"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace dts::eval
