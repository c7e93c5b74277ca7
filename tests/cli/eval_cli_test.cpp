// `dts eval` and `dts report` from outside: killed, doubled, refused, out of disk; nothing is lost and nothing is done
// twice.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <thread>

#include "base/machine.h"
#include "dts/error.h"
#include "engine/random/random_model.h"
#include "eval/store/sqlite.h"
#include "eval/store/store.h"
#include "support/cli_process.h"

namespace dts::eval {
namespace {

using dts::test::CliOptions;
using dts::test::CliProcess;
using dts::test::CliResult;
using dts::test::run_cli;
using Arguments = std::vector<std::string>;

class EvalCliTest : public testing::Test {
 protected:
  void SetUp() override {
    RandomModelOptions options;
    options.layers = 1;
    options.embedding = 32;
    options.heads = 2;
    options.kv_heads = 1;
    options.feed_forward = 32;
    options.context = 256;
    options.end_emphasis = 4;  // trajectories end soon
    write_random_model(file("model.gguf"), options);
    write("questions.jsonl", questions(5));
  }

  static std::string questions(int count) {
    std::string out;
    for (int i = 0; i < count; ++i) {
      out += nlohmann::json{{"id", "q" + std::to_string(i)},
                            {"question", "What is " + std::to_string(i * 7) + " and " + std::to_string(i) + "?"},
                            {"answer", std::to_string(i)}}
                 .dump() +
             "\n";
    }
    return out;
  }

  std::string file(const std::string& name) const { return directory_.file(name); }
  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(file(name), std::ios::binary) << content;
    return file(name);
  }

  Arguments eval_arguments(const std::string& results, const Arguments& more = {}) const {
    Arguments all = {"eval",
                     "-m",
                     file("model.gguf"),
                     "--dataset",
                     "custom",
                     "--data",
                     file("questions.jsonl"),
                     "--methods",
                     "standard,self-consistency,dts-greedy,dts-stable",
                     "--seeds",
                     "0-2",
                     "--votes",
                     "3",
                     "--max-branches",
                     "6",
                     "-n",
                     "20",
                     "-t",
                     "1",
                     "-o",
                     results};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  static constexpr std::size_t kRows = 60;  // 4 methods, 3 seeds, 5 questions

  // Rows with their trees, less what time it took.
  static std::vector<std::string> contents(const std::string& results) {
    const Store store(results, true);
    std::vector<std::string> out;
    for (const Row& row : store.rows()) {
      nlohmann::json tree = nlohmann::json::parse(store.row(row.key)->document);
      tree.erase("times");
      nlohmann::json traces;
      for (const TraceResult& trace : row.traces) traces.push_back({trace.length, trace.score, trace.answer});
      out.push_back(nlohmann::json{
          {"method", row.key.method},
          {"seed", row.key.seed},
          {"question", row.key.question},
          {"answer", row.answer},
          {"score", row.score},
          {"unique", row.unique_tokens},
          {"branch", row.branch_tokens},
          {"steps", row.steps},
          {"flops", row.flops},
          {"traces", traces},
          {"tree",
           tree}}.dump());
    }
    return out;
  }

  // What a report says, less the seconds.
  static std::string figures(const std::string& results) {
    const CliResult report = run_cli({"report", results, "--format", "csv"});
    EXPECT_EQ(report.exit_code, 0) << report.err;
    std::string out;
    std::istringstream lines(report.out);
    for (std::string line; std::getline(lines, line);) {
      if (line.find(",seconds,") == std::string::npos) out += line + "\n";
    }
    return out;
  }

  // One line on standard error that has all the parts.
  static void expect_refused(const CliResult& result, int exit_code, const Arguments& parts) {
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_TRUE(result.err.starts_with("dts: ")) << result.err;
    for (const std::string& part : parts)
      EXPECT_NE(result.err.find(part), std::string::npos) << part << ": " << result.err;
  }

  static std::size_t rows_in(const std::string& results) {
    try {
      return Store(results, true).count();
    } catch (const Error&) {
      return 0;  // not made yet
    }
  }

  dts::test::TemporaryDirectory directory_;
};

TEST_F(EvalCliTest, KilledAtRandomMomentsItGoesOnToTheSameResults) {
  ASSERT_EQ(run_cli(eval_arguments(file("whole.db"))).exit_code, 0);
  ASSERT_EQ(rows_in(file("whole.db")), kRows);
  std::mt19937 random(7);
  int kills = 0;
  while (kills < 1000) {
    const std::size_t before = rows_in(file("parts.db"));
    CliProcess process(eval_arguments(file("parts.db")));
    if (before + 6 < kRows) {
      // A few rows further and then anywhere in the middle of the next ones.
      while (rows_in(file("parts.db")) < before + 1 + random() % 5) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
      process.signal(SIGKILL);
      const CliResult killed = process.wait();
      if (killed.signal == SIGKILL) ++kills;
      continue;
    }
    const CliResult last = process.wait();
    EXPECT_EQ(last.exit_code, 0) << last.err;
    break;
  }
  EXPECT_GT(kills, 5);
  EXPECT_EQ(contents(file("parts.db")), contents(file("whole.db")));
  const std::string whole = figures(file("whole.db"));
  EXPECT_GT(whole.size(), 1000U);
  EXPECT_EQ(figures(file("parts.db")), whole);
}

TEST_F(EvalCliTest, AnInterruptedRunSaysHowToGoOn) {
  CliProcess process(eval_arguments(file("stopped.db"), {"--seeds", "0-400"}));
  while (rows_in(file("stopped.db")) < 3) std::this_thread::yield();
  process.signal(SIGINT);
  const CliResult result = process.wait();
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_NE(result.err.find("the same command goes on"), std::string::npos) << result.err;
  EXPECT_GE(rows_in(file("stopped.db")), 3U);
}

TEST_F(EvalCliTest, TwoProcessesShareOneFile) {
  ASSERT_EQ(run_cli(eval_arguments(file("one.db"))).exit_code, 0);
  {
    CliProcess first(eval_arguments(file("two.db")));
    CliProcess second(eval_arguments(file("two.db")));
    const CliResult a = first.wait();
    const CliResult b = second.wait();
    EXPECT_EQ(a.exit_code, 0) << a.err;
    EXPECT_EQ(b.exit_code, 0) << b.err;
  }
  EXPECT_EQ(contents(file("two.db")), contents(file("one.db")));
}

TEST_F(EvalCliTest, AnEmptyFileIsOneThatIsAboutToBeFilled) {
  // As another process leaves it between opening the file and its first table.
  const std::string results = write("empty.db", "");
  expect_refused(run_cli({"report", results}), 1, {results, "no results in it yet"});
  const CliResult result = run_cli(eval_arguments(results));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(rows_in(results), kRows);
}

TEST_F(EvalCliTest, WhatAnotherProcessIsMakingIsSaid) {
  const std::string results = file("shared.db");
  Store store(results);
  for (const char* question : {"q1", "q3"}) {
    ASSERT_TRUE(store.claim({"model", "custom", "dts-stable", 1, question}));  // this process lives
  }
  const CliResult result = run_cli(eval_arguments(results));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.err.find("2 rows are being made by another process"), std::string::npos) << result.err;
  EXPECT_EQ(rows_in(results), kRows - 2);
  store.abandon({"model", "custom", "dts-stable", 1, "q1"});
  store.abandon({"model", "custom", "dts-stable", 1, "q3"});
  const CliResult last = run_cli(eval_arguments(results));
  EXPECT_EQ(last.err.find("another process"), std::string::npos) << last.err;
  EXPECT_EQ(rows_in(results), kRows);
}

TEST_F(EvalCliTest, WorkersSideBySideGiveTheSameResults) {
  ASSERT_EQ(run_cli(eval_arguments(file("one.db"))).exit_code, 0);
  ASSERT_EQ(run_cli(eval_arguments(file("three.db"), {"--workers", "3"})).exit_code, 0);
  EXPECT_EQ(contents(file("three.db")), contents(file("one.db")));
}

TEST_F(EvalCliTest, OtherSettingsAreRefusedByName) {
  const std::string results = file("results.db");
  ASSERT_EQ(run_cli(eval_arguments(results, {"--temp", "0.6"})).exit_code, 0);
  const std::vector<std::string> before = contents(results);
  expect_refused(run_cli(eval_arguments(results, {"--temp", "0.9"})), 2,
                 {results, "temperature is 0.6 there and 0.9 now"});
  expect_refused(run_cli(eval_arguments(results, {"--temp", "0.6", "--tau-v", "0.5"})), 2,
                 {"tau_v is \"1.5\" there and \"0.5\" now"});
  expect_refused(run_cli(eval_arguments(results, {"--temp", "0.6", "-n", "10"})), 2,
                 {"max_tokens is 20 there and 10 now"});
  write("questions.jsonl", questions(4));
  expect_refused(run_cli(eval_arguments(results, {"--temp", "0.6"})), 2, {"questions is 5 there and 4 now"});
  write("questions.jsonl", questions(5) + "\n");  // a blank line changes nothing
  EXPECT_EQ(run_cli(eval_arguments(results, {"--temp", "0.6"})).exit_code, 0);
  EXPECT_EQ(contents(results), before);
  RandomModelOptions other;
  other.layers = 1;
  other.seed = 99;
  write_random_model(file("model.gguf"), other);
  expect_refused(run_cli(eval_arguments(results, {"--temp", "0.6"})), 2, {"model_hash is "});
}

// How the model is computed decides the last bits of logits, and with them tokens.
TEST_F(EvalCliTest, AnotherWayOfComputingIsRefusedByName) {
  const std::string results = file("results.db");
  const auto eval_arguments = [&](const std::string& to, Arguments more = {}) {
    more.insert(more.end(), {"--engine", "llama"});
    return EvalCliTest::eval_arguments(to, more);
  };
  ASSERT_EQ(run_cli(eval_arguments(results)).exit_code, 0);
  expect_refused(run_cli(eval_arguments(results, {"--kv", "unified"})), 2,
                 {"kv is \"streams\" there and \"unified\" now"});
  expect_refused(run_cli(eval_arguments(results, {"--flash-attn", "on"})), 2,
                 {"flash_attention is false there and true now"});
  expect_refused(run_cli(eval_arguments(results, {"--batch-invariant", "off"})), 2, {"batch_invariant is "});
  // Room for every prompt, and hardly any for answers.
  std::int64_t longest = 0;
  for (const Row& row : Store(results, true).rows()) longest = std::max(longest, row.prompt_tokens);
  const std::string tight = std::to_string(longest + 2);
  expect_refused(run_cli(eval_arguments(results, {"--ctx-size", tight})), 2,
                 {"context_length is absent there and " + tight + " now"});
  EXPECT_EQ(run_cli(eval_arguments(results, {"--ctx-size", "200"})).exit_code, 0) << "no trajectory is shorter for it";
  EXPECT_EQ(run_cli(eval_arguments(results, {"--parallel", "7", "--batch-invariant", "on"})).exit_code, 0);
}

// On which nothing depends in the engine of our own.
TEST_F(EvalCliTest, AnotherNumberOfThreadsGoesOn) {
  ASSERT_EQ(run_cli(eval_arguments(file("results.db"))).exit_code, 0);
  EXPECT_EQ(run_cli(eval_arguments(file("results.db"), {"-t", "2"})).exit_code, 0);
}

TEST_F(EvalCliTest, BranchesInFlightChangeNoToken) {
  ASSERT_EQ(run_cli(eval_arguments(file("many.db"))).exit_code, 0);
  ASSERT_EQ(run_cli(eval_arguments(file("few.db"), {"--parallel", "7"})).exit_code, 0);
  EXPECT_EQ(contents(file("few.db")), contents(file("many.db")));
}

// What memory is free when it starts decides how many questions are in flight, and nothing else.
TEST_F(EvalCliTest, LittleMemoryNarrowsTheRunAndNotTheBudget) {
  RandomModelOptions options;
  options.layers = 8;
  options.embedding = 32;
  options.heads = 8;
  options.kv_heads = 8;
  options.head_size = 128;
  options.feed_forward = 32;
  options.context = 1 << 24;
  options.end_emphasis = 8;
  write_random_model(file("model.gguf"), options);
  constexpr std::int64_t kBytesPerToken = std::int64_t{8} * 8 * 128 * 2 * 2;
  const std::int64_t tokens = available_memory() / kBytesPerToken;
  const auto run = [&](std::int64_t budget, const Arguments& more) {
    Arguments all = {"eval",
                     "--engine",
                     "llama",
                     "-m",
                     file("model.gguf"),
                     "--dataset",
                     "custom=" + file("questions.jsonl"),
                     "--methods",
                     "self-consistency",
                     "--votes",
                     "3",
                     "--seeds",
                     "0",
                     "--limit",
                     "1",
                     "-t",
                     "1",
                     "-n",
                     std::to_string(budget),
                     "-o",
                     file("narrow.db")};
    all.insert(all.end(), more.begin(), more.end());
    return run_cli(all);
  };
  const std::int64_t budget = tokens / 24;  // 192 branches would need eight times what there is
  const CliResult wide = run(budget, {"--parallel", "192"});
  expect_refused(wide, 1, {"--parallel is 192", "GiB", "--predict", "--kv-type", "--kv unified"});
  expect_refused(run(tokens, {}), 1, {"3 branches", "GiB", "--predict", "--kv-type", "--kv unified"});
  const CliResult narrow = run(budget, {"--max-total-tokens", "40"});
  ASSERT_EQ(narrow.exit_code, 0) << narrow.err;
  const nlohmann::json settings = nlohmann::json::parse(Store(file("narrow.db"), true).settings().front().settings);
  EXPECT_EQ(settings["max_tokens"], budget);
  EXPECT_FALSE(settings.contains("context_length"));
  const std::size_t at = narrow.err.find(" branches in flight");
  ASSERT_NE(at, std::string::npos) << narrow.err;
  const std::size_t begin = narrow.err.rfind(' ', at - 1) + 1;
  const int branches = std::stoi(narrow.err.substr(begin, at - begin));
  EXPECT_GE(branches, 3);
  EXPECT_LT(branches, 24);
  EXPECT_EQ(branches % 3, 0);
}

TEST_F(EvalCliTest, FlagsThatAnEvaluationWouldIgnoreAreRefused) {
  expect_refused(run_cli(eval_arguments(file("bad.db"), {"--seed", "3"})), 2, {"--seed ", "--seeds"});
  expect_refused(run_cli(eval_arguments(file("bad.db"), {"-s", "3"})), 2, {"--seeds"});
  expect_refused(run_cli(eval_arguments(file("bad.db"), {"--max-seconds", "3"})), 2, {"--max-seconds", "-n"});
  expect_refused(run_cli(eval_arguments(file("bad.db"), {"--methods", "standard,dts-greedy,standard"})), 2,
                 {"'standard' twice"});
  expect_refused(run_cli(eval_arguments(file("bad.db"), {"--engine", "llama", "--parallel", "253"})), 2,
                 {"--parallel", "252"});
  EXPECT_FALSE(std::filesystem::exists(file("bad.db")));
  EXPECT_EQ(run_cli({"eval", "--help"}).out.find("--max-seconds"), std::string::npos);
}

TEST_F(EvalCliTest, WhereSamplingComesFromIsRecorded) {
  const auto source_of = [&](const Arguments& more) {
    const std::string results = file("sampling.db");
    std::filesystem::remove(results);
    EXPECT_EQ(run_cli(eval_arguments(results, more)).exit_code, 0);
    return nlohmann::json::parse(Store(results, true).settings().front().settings);
  };
  EXPECT_EQ(source_of({})["sampling_source"], "defaults");
  const nlohmann::json given = source_of({"--temp", "0.7", "--top-k", "20"});
  EXPECT_EQ(given["sampling_source"], "--temp --top-k, else defaults");
  EXPECT_EQ(given["temperature"], 0.7);
  EXPECT_EQ(given["top_k"], 20);
  RandomModelOptions named;
  named.layers = 1;
  named.name = "Qwen3 0.6B";
  write_random_model(file("model.gguf"), named);
  const nlohmann::json family = source_of({"--top-p", "0.9"});
  EXPECT_EQ(family["sampling_source"], "--top-p, else Qwen3 family");
  EXPECT_EQ(family["top_k"], 20);
  EXPECT_EQ(family["top_p"], 0.9);
  EXPECT_EQ(family["min_p"], 0.0);
  EXPECT_EQ(family["temperature"], 0.6);
}

TEST_F(EvalCliTest, ForeignFilesAreLeftAlone) {
  const auto refuses = [&](const std::string& path, const Arguments& parts) {
    const bool is_file = std::filesystem::is_regular_file(path);
    const auto bytes = [&] {
      std::ifstream stream(path, std::ios::binary);
      return std::string(std::istreambuf_iterator<char>(stream), {});
    };
    const std::string before = is_file ? bytes() : "";
    Arguments all = parts;
    all.push_back(path);
    expect_refused(run_cli(eval_arguments(path)), 1, all);
    expect_refused(run_cli({"report", path}), 1, {path});
    if (is_file) {
      EXPECT_TRUE(bytes() == before) << path;
    }
  };
  refuses(write("text.db", std::string(5000, 'x')), {"not a database"});
  { Database(file("foreign.db"), false).execute("CREATE TABLE t(x); INSERT INTO t VALUES(1)"); }
  refuses(file("foreign.db"), {"not one of dts eval"});
  { Store made(file("version.db")); }
  { Database(file("version.db"), false).execute("PRAGMA user_version = 99"); }
  refuses(file("version.db"), {"version 99", "reads version"});
  std::filesystem::create_directory(file("directory.db"));
  refuses(file("directory.db"), {});
  refuses(file("no/such/directory/results.db"), {});
}

TEST_F(EvalCliTest, GradesLinesAndSaysWhy) {
  CliOptions options;
  options.input = R"({"id": "a", "gold": "1/2", "text": "so \\boxed{0.5}"})"
                  "\n\n"
                  R"({"gold": "\\sqrt{8}", "response": "<think>5</think>\\boxed{2\\sqrt2}"})"
                  "\n"
                  R"({"gold": 7, "text": "\\boxed{8}"})"
                  "\n"
                  R"({"gold": "7", "text": ""})"
                  "\n";
  const CliResult result = run_cli({"grade"}, options);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::istringstream lines(result.out);
  std::vector<nlohmann::json> verdicts;
  for (std::string line; std::getline(lines, line);) verdicts.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(verdicts.size(), 4U);
  EXPECT_EQ(verdicts[0]["id"], "a");
  EXPECT_EQ(verdicts[0]["score"], 1);
  EXPECT_EQ(verdicts[0]["reason"], "the same in normal form");
  EXPECT_EQ(verdicts[1]["score"], 1);
  EXPECT_EQ(verdicts[1]["reason"], "equivalent");
  EXPECT_EQ(verdicts[2]["score"], 0);
  EXPECT_EQ(verdicts[2]["reason"], "a different answer");
  EXPECT_EQ(verdicts[3]["reason"], "no answer was found");
  options.input = "not json\n";
  expect_refused(run_cli({"grade"}, options), 1, {"line 1", "no JSON object"});
  options.input = "";
  expect_refused(run_cli({"grade"}, options), 1, {"nothing to grade"});
  expect_refused(run_cli({"grade", file("none.jsonl")}, options), 1, {"cannot be read"});
}

TEST_F(EvalCliTest, FindsPromptsThatDoNotFitBeforeDecodingAndCanSkipThem) {
  write("questions.jsonl",
        questions(3) + nlohmann::json{{"id", "long"}, {"question", std::string(3000, 'x')}, {"answer", "1"}}.dump() +
            "\n");
  const std::string results = file("long.db");
  expect_refused(run_cli(eval_arguments(results)), 2, {"1 prompt does not fit", "long of custom", "--skip-long"});
  EXPECT_FALSE(std::filesystem::exists(results));
  Arguments skipping = eval_arguments(results);
  skipping.emplace_back("--skip-long");
  const CliResult result = run_cli(skipping);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.err.find("1 question left out"), std::string::npos) << result.err;
  for (const Row& row : Store(results, true).rows()) EXPECT_NE(row.key.question, "long");
}

TEST_F(EvalCliTest, ShowsAPromptAndDoesNothingElse) {
  const std::string results = file("shown.db");
  Arguments showing = eval_arguments(results);
  showing.insert(showing.end(), {"--show-prompt", "2"});
  const CliResult result = run_cli(showing);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("What is 7 and 1?"), std::string::npos) << result.out;
  EXPECT_FALSE(std::filesystem::exists(results));
  showing.back() = "99";
  expect_refused(run_cli(showing), 2, {"--show-prompt is 99", "5 questions"});
}

TEST_F(EvalCliTest, SaysWhichReleaseHasWhichSize) {
  const std::string questions = std::string(DTS_TEST_DATA_DIR) + "/parquet/livebench-reasoning.parquet";
  const CliResult result =
      run_cli({"eval", "--dataset", "livebench-reasoning", "--data", questions, "--release", "list"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out,
            "2024-06-24  2 questions\n2024-07-26  3 questions\n2024-11-25  3 questions\n2025-04-02  2 questions\n");
  expect_refused(run_cli({"eval", "--dataset", "nano-bench", "--release", "list"}), 2,
                 {"--release is for livebench-reasoning: nano-bench has no releases"});
}

TEST_F(EvalCliTest, GradesRowsAgainWithoutChangingThem) {
  const std::string results = file("again.db");
  ASSERT_EQ(run_cli(eval_arguments(results)).exit_code, 0);
  // A score that the grader would not have given, as an older one might.
  { Database(results, false).execute("UPDATE results SET score = 1 - score"); }
  const CliResult again = run_cli({"report", results, "--regrade"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_NE(again.err.find("have another score"), std::string::npos) << again.err;
  EXPECT_EQ(again.err.find("graded again: 0 of"), std::string::npos) << again.err;
  expect_refused(run_cli({"report", results, "--regrade", "--check"}), 2, {"contradict"});
}

// As a user who is not root: root may write anywhere.
CliResult run_as_nobody(const std::vector<std::string>& arguments) {
  if (geteuid() != 0) return run_cli(arguments);
  Arguments all = {"--reuid=65534", "--regid=65534", "--clear-groups", DTS_PROGRAM};
  all.insert(all.end(), arguments.begin(), arguments.end());
  CliOptions options;
  options.program = "setpriv";
  return run_cli(all, options);
}

TEST_F(EvalCliTest, ReadOnlyResultsCanBeReportedAndNotChanged) {
  if (access("/usr/bin/setpriv", X_OK) != 0 && geteuid() == 0) GTEST_SKIP() << "needs setpriv when run as root";
  std::filesystem::create_directory(file("kept"));
  const std::string results = file("kept/results.db");
  ASSERT_EQ(run_cli(eval_arguments(results)).exit_code, 0);
  ASSERT_EQ(chmod(directory_.path().c_str(), 0755), 0);
  ASSERT_EQ(chmod(results.c_str(), 0444), 0);
  ASSERT_EQ(chmod(file("kept").c_str(), 0555), 0);
  const CliResult report = run_as_nobody({"report", results, "--format", "csv"});
  EXPECT_EQ(report.exit_code, 0) << report.err;
  EXPECT_NE(report.out.find("accuracy,methods,"), std::string::npos);
  // Nothing is left to do, but a results file must be one that can be written to.
  expect_refused(run_as_nobody(eval_arguments(results)), 1, {results});
  expect_refused(run_as_nobody(eval_arguments(file("kept/new.db"))), 1, {"new.db"});
  expect_refused(run_as_nobody({"report", results, "-o", file("kept/report.html")}), 1, {"report.html"});
  ASSERT_EQ(chmod(file("kept").c_str(), 0755), 0);
}

TEST_F(EvalCliTest, AFullDiskLosesNothingThatWasDone) {
  ASSERT_EQ(run_cli(eval_arguments(file("whole.db"))).exit_code, 0);
  // A limit on the size of files stands for a disk that fills up.
  std::string command = "ulimit -f 700; exec \"$0\" \"$@\"";
  Arguments all = {"-c", command, DTS_PROGRAM};
  const Arguments inner = eval_arguments(file("full.db"));
  all.insert(all.end(), inner.begin(), inner.end());
  CliOptions options;
  options.program = "sh";
  const CliResult full = run_cli(all, options);
  EXPECT_EQ(full.exit_code, 1) << full.err;
  EXPECT_NE(full.err.find("full.db: "), std::string::npos) << full.err;
  const std::size_t kept = rows_in(file("full.db"));
  EXPECT_GT(kept, 0U);
  EXPECT_LT(kept, kRows);
  EXPECT_EQ(run_cli(eval_arguments(file("full.db"))).exit_code, 0);
  EXPECT_EQ(contents(file("full.db")), contents(file("whole.db")));
  expect_refused(run_cli({"report", file("full.db"), "-o", "/dev/full"}), 1, {"/dev/full"});
  options = {};
  options.output_path = "/dev/full";
  expect_refused(run_cli({"report", file("full.db")}, options), 1, {"standard output"});
}

TEST_F(EvalCliTest, BadDataIsRefusedBeforeAModelIsLoaded) {
  const auto refuses = [&](const std::string& dataset, const std::string& path, const Arguments& parts) {
    Arguments all = parts;
    all.push_back(path);
    expect_refused(
        run_cli({"eval", "-m", file("no-such-model.gguf"), "--dataset", dataset, "--data", path, "-o", file("bad.db")}),
        1, all);
    EXPECT_FALSE(std::filesystem::exists(file("bad.db")));
  };
  refuses("aime25", write("columns.jsonl", R"({"text":"?","solution":"1"})"), {"Problem", "Answer"});
  refuses("aime25", write("empty.jsonl", ""), {});
  refuses("aime24", write("header.csv", "ID,Problem,Answer\n"), {"no questions"});
  refuses("aime24", write("short.parquet", "PAR1\x15\x04"), {});
  refuses("aime24", write("cut.parquet", "PAR1" + std::string(100, '\0') + std::string("\x10\0\0\0PAR1", 8)), {});
  refuses("gpqa-diamond", write("quote.csv", "Question,Correct Answer\n\"What"), {"line 2"});
  refuses("aime25",
          write("twice.jsonl",
                "{\"id\":\"a\",\"problem\":\"?\",\"answer\":1}\n"
                "{\"id\":\"a\",\"problem\":\"!\",\"answer\":2}\n"),
          {"'a'"});
  refuses("aime25", write("gold.jsonl", "{\"id\":\"a\",\"problem\":\"?\",\"answer\":\"many\"}\n"), {"many"});
  refuses("aime25", file("missing.jsonl"), {});
  expect_refused(run_cli({"eval", "--dataset", "aime23", "-o", file("bad.db")}), 2, {"aime23", "aime24"});
  expect_refused(run_cli({"eval", "--dataset", "aime24", "-o", file("bad.db")}), 2, {"--data is missing", "aime24"});
  expect_refused(run_cli({"eval", "--dataset", "aime24,aime25", "--data", "x", "-o", file("bad.db")}), 2, {"--data"});
  expect_refused(run_cli({"eval", "--dataset", "nano-bench,nano-bench", "-o", file("bad.db")}), 2, {"twice"});
}

TEST_F(EvalCliTest, BadMethodsAreRefusedByName) {
  const auto refuses = [&](const std::string& methods, const Arguments& parts) {
    expect_refused(run_cli(eval_arguments(file("bad.db"), {"--methods", methods})), 2, parts);
  };
  refuses("dts-bold", {"dts-bold", "dts-stable"});
  refuses("dts-stable:tau-x=1", {"tau-x", "tau-h"});
  refuses("dts-stable:tau-h=high", {"tau-h", "high", "number"});
  refuses("dts-stable:tau-h", {"tau-h=1.2"});
  refuses("dts-stable:criterion=none", {"criterion", "none", "either"});
  refuses("short-m@k:votes=9:samples=8", {"9"});
}

TEST_F(EvalCliTest, TheWholeProtocolRunsIsPlannedAndReported) {
  const Arguments arguments = {"eval",
                               "--paper",
                               "-m",
                               file("model.gguf"),
                               "--dataset",
                               "custom=" + file("questions.jsonl"),
                               "--limit",
                               "2",
                               "--seeds",
                               "0-1",
                               "--length-study",
                               "10",
                               "-n",
                               "12",
                               "-t",
                               "1",
                               "--db",
                               file("paper.db")};
  const CliResult first = run_cli(arguments);
  ASSERT_EQ(first.exit_code, 0) << first.err;
  for (const char* part : {"2 questions x   2 seeds", "dts-stable:criterion=either", "Table 4", "short-m@k:votes=3",
                           "samples", "84 rows, 84 of them to make"}) {
    EXPECT_NE(first.err.find(part), std::string::npos) << part << "\n" << first.err;
  }
  const CliResult again = run_cli(arguments);
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_NE(again.err.find("84 rows, 0 of them to make"), std::string::npos) << again.err;
  const CliResult report = run_cli({"report", file("paper.db"), "--format", "json"});
  ASSERT_EQ(report.exit_code, 0) << report.err;
  const nlohmann::json parsed = nlohmann::json::parse(report.out);
  for (const auto& section : parsed["sections"]) {
    // The questions have neither tasks nor difficulties, and random weights get none right.
    if (section["id"] == "radar" || section["id"] == "cases") continue;
    EXPECT_FALSE(section.contains("missing")) << section.dump(2);
  }
  EXPECT_EQ(parsed["sections"].back()["tables"][1]["rows"].size(), 1U);  // one run: the second had nothing to do
  Arguments contradicting = arguments;
  contradicting.insert(contradicting.end(), {"--tau-v", "2"});
  expect_refused(run_cli(contradicting), 2, {"--tau-v", "--paper"});
  contradicting = arguments;
  contradicting.insert(contradicting.end(), {"--methods", "standard"});
  expect_refused(run_cli(contradicting), 2, {"--methods", "--paper"});
}

TEST_F(EvalCliTest, SeveralDatasetsAndModelsGoIntoOneFile) {
  write("more.csv", "question,answer\nOne?,1\nTwo?,2\n");
  const std::string results = file("many.db");
  const auto run = [&](const std::string& model, const std::string& datasets) {
    return run_cli({"eval", "-m", model, "--dataset", datasets, "--methods", "standard", "--seeds", "0", "-n", "8",
                    "-t", "1", "-o", results});
  };
  ASSERT_EQ(run(file("model.gguf"), "custom=" + file("questions.jsonl") + ",gsm8k=" + file("more.csv")).exit_code, 0);
  RandomModelOptions other;
  other.layers = 1;
  other.name = "another model";
  write_random_model(file("other.gguf"), other);
  ASSERT_EQ(run(file("other.gguf"), "gsm8k=" + file("more.csv")).exit_code, 0);
  std::map<std::string, int> rows;
  for (const Row& row : Store(results, true).rows()) ++rows[row.key.model + "/" + row.key.dataset];
  EXPECT_EQ(rows, (std::map<std::string, int>{{"model/custom", 5}, {"model/gsm8k", 2}, {"other/gsm8k", 2}}));
}

TEST_F(EvalCliTest, RowsAreCountedAgainFromTheirTrees) {
  const std::string results = file("results.db");
  ASSERT_EQ(run_cli(eval_arguments(results)).exit_code, 0);
  const CliResult agreed = run_cli({"report", results, "--check"});
  EXPECT_EQ(agreed.exit_code, 0) << agreed.err << agreed.out;
  EXPECT_NE(agreed.out.find("60 rows"), std::string::npos) << agreed.out;
  for (const char* column :
       {"unique_tokens", "branch_tokens", "branch_events", "exhausted", "votes", "steps", "prompt_tokens"}) {
    const std::string change = std::string("UPDATE results SET ") + column + " = " + column + " + 1 ";
    const std::string where = "WHERE method = 'dts-stable' AND seed = 1 AND question = 'q3'";
    { Database(results, false).execute(change + where); }
    const CliResult disagreed = run_cli({"report", results, "--check"});
    EXPECT_EQ(disagreed.exit_code, 1);
    EXPECT_NE(disagreed.out.find("dts-stable, seed 1, q3: " + std::string(column)), std::string::npos) << disagreed.out;
    {
      Database(results, false).execute(std::string("UPDATE results SET ") + column + " = " + column + " - 1 " + where);
    }
  }
  EXPECT_EQ(run_cli({"report", results, "--check"}).exit_code, 0);
}

TEST_F(EvalCliTest, ReportsAreRefusedWhatTheyCannotShow) {
  expect_refused(run_cli({"report"}), 2, {"FILE"});
  expect_refused(run_cli({"report", file("missing.db")}), 1, {"missing.db"});
  { Store empty(file("empty.db")); }
  expect_refused(run_cli({"report", file("empty.db")}), 1, {"empty.db", "dts eval"});
  ASSERT_EQ(run_cli(eval_arguments(file("results.db"), {"--seeds", "0"})).exit_code, 0);
  expect_refused(run_cli({"report", file("results.db"), "--format", "pdf"}), 2, {"pdf", "html"});
  expect_refused(run_cli({"report", file("results.db"), "--case", "q77"}), 2, {"q77"});
  EXPECT_EQ(run_cli({"report", file("results.db"), "--case", "q1", "--case", "q2", "-o", file("case.html")}).exit_code,
            0);
  std::ifstream stream(file("case.html"));
  const std::string page(std::istreambuf_iterator<char>(stream), {});
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>"));
  EXPECT_NE(page.find("<h3>q1</h3>"), std::string::npos);
  EXPECT_NE(page.find("<h3>q2</h3>"), std::string::npos);
  EXPECT_NE(run_cli({"report", file("results.db")}).out.find("# Decoding methods compared"), std::string::npos);
  expect_refused(run_cli({"report", file("results.db"), "-o", file("x.doc")}), 2, {"x.doc", ".tex"});
}

TEST_F(EvalCliTest, FiguresAreFilesOfTheirOwn) {
  ASSERT_EQ(run_cli(eval_arguments(file("results.db"), {"--seeds", "0"})).exit_code, 0);
  const CliResult result =
      run_cli({"report", file("results.db"), "-o", file("tables.tex"), "--figures", file("figures")});
  std::map<std::string, int> endings;
  for (const auto& entry : std::filesystem::directory_iterator(file("figures"))) {
    ++endings[entry.path().extension().string()];
    EXPECT_GT(std::filesystem::file_size(entry.path()), 40U) << entry.path();
  }
  EXPECT_GE(endings[".svg"], 2);
  EXPECT_EQ(endings[".svg"], endings[".csv"]);
  // Where librsvg is not installed, that is said, and the rest is there.
  if (result.exit_code == 0) {
    EXPECT_EQ(endings[".svg"], endings[".pdf"]);
    std::ifstream pdf(file("figures/compute.pdf"), std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(pdf), {});
    EXPECT_TRUE(bytes.starts_with("%PDF-"));
    EXPECT_NE(bytes.find("/FontFile"), std::string::npos);  // embedded
  } else {
    EXPECT_NE(result.err.find("librsvg"), std::string::npos) << result.err;
  }
  std::ifstream stream(file("tables.tex"));
  const std::string tex(std::istreambuf_iterator<char>(stream), {});
  EXPECT_NE(tex.find("\\toprule"), std::string::npos);
}

// Seconds that a question spent among others are no property of a method.
TEST_F(EvalCliTest, SecondsAreThereOnlyWhenTimed) {
  const CliResult shared = run_cli(eval_arguments(file("shared.db"), {"--seeds", "0"}));
  EXPECT_EQ(shared.out.find("seconds"), std::string::npos) << shared.out;
  EXPECT_EQ(run_cli({"report", file("shared.db"), "--format", "csv"}).out.find(",seconds,"), std::string::npos);
  const CliResult timed = run_cli(eval_arguments(file("timed.db"), {"--seeds", "0", "--timing"}));
  EXPECT_NE(timed.out.find("seconds"), std::string::npos) << timed.err;
  EXPECT_NE(run_cli({"report", file("timed.db"), "--format", "csv"}).out.find(",seconds,"), std::string::npos);
  expect_refused(run_cli(eval_arguments(file("shared.db"), {"--seeds", "1", "--timing"})), 2, {"timing"});
  expect_refused(run_cli(eval_arguments(file("timed.db"), {"--timing", "--workers", "2"})), 2,
                 {"--timing", "--workers"});
}

TEST_F(EvalCliTest, WhatIsWrongIsSaidBeforeAFileIsAskedFor) {
  expect_refused(run_cli({"eval", "--dataset", "aime23"}), 2, {"aime23"});
  expect_refused(run_cli({"eval", "--dataset", "nano-bench-mini", "--methods", "nonsense"}), 2, {"nonsense"});
  expect_refused(run_cli({"eval", "--dataset", "nano-bench-mini"}), 2, {"-o is missing", "results.db"});
  expect_refused(run_cli({"eval", "--dataset", "nano-bench-mini", "-o", file("results.html")}), 2, {"results.html"});
}

}  // namespace
}  // namespace dts::eval
