// The dts program from outside: what it answers, what it refuses and how, and how it is interrupted.
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "dts/method.h"
#include "dts/native.h"
#include "engine/random/random_model.h"
#include "support/cli_process.h"

namespace dts::test {
namespace {

using nlohmann::json;

// Tiny models with random weights, written once for all tests of this program.
class Cli : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    models = std::make_unique<TemporaryDirectory>();
    RandomModelOptions options;
    write_random_model(model(), options);
    options.chat_template_none = true;
    write_random_model(model("no-template.gguf"), options);
    options = {};
    // With one layer and a head that is the embedding, the likeliest token is soon the one before: no end to it.
    options.layers = 1;
    options.tied = true;
    options.end_emphasis = 0.01F;
    options.context = 1 << 20;
    write_random_model(model("endless.gguf"), options);
  }
  static void TearDownTestSuite() { models.reset(); }

  static std::string model(const std::string& name = "tiny.gguf") { return models->file(name); }

  // `dts run -m MODEL ...`: takes no time, and some trajectories finish.
  static std::vector<std::string> run_arguments(std::vector<std::string> more) {
    std::vector<std::string> all = {"run", "-m", model(), "-n", "2000", "--max-branches", "8", "--votes", "3"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  static CliResult run(std::vector<std::string> more, const CliOptions& options = {}) {
    return run_cli(run_arguments(std::move(more)), options);
  }

  static void write(const std::string& path, std::string_view text) { std::ofstream(path, std::ios::binary) << text; }

  // Refused: the exit code, and one line that names what it is about.
  static void expect_refused(const CliResult& result, int exit_code, const std::vector<std::string>& named) {
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_TRUE(result.err.starts_with("dts: ")) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    for (const std::string& part : named)
      EXPECT_NE(result.err.find(part), std::string::npos) << part << ": " << result.err;
  }

 private:
  static inline std::unique_ptr<TemporaryDirectory> models;
};

// What is there without a model.

TEST_F(Cli, VersionAndHelp) {
  const CliResult version = run_cli({"--version"});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_TRUE(version.out.starts_with("dts ")) << version.out;
  const CliResult help = run_cli({"run", "--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_EQ(help.err, "");
  for (const char* flag : {"-m, --model FILE", "-ngl, --gpu-layers N", "--tau-v X", "--save-tree FILE"}) {
    EXPECT_NE(help.out.find(flag), std::string::npos) << flag;
  }
  EXPECT_EQ(run_cli({"help", "run"}).out, help.out);
  EXPECT_EQ(run_cli({"help"}).out, run_cli({"--help"}).out);
  expect_refused(run_cli({"help", "rnu"}), 2, {"'rnu'", "did you mean run?"});
  EXPECT_NE(run_cli({"help", "report"}).out.find("Usage: dts report [OPTIONS] [FILE...]\n"), std::string::npos);
}

// What begins like a call for help and is none is a mistake, not a success.
TEST_F(Cli, MalformedFlagsAreNoCallsForHelp) {
  for (const char* flag : {"-hx", "-hxyz", "-vh", "-qhv", "--help=yes", "-hello"}) {
    expect_refused(run_cli({"run", flag, "hi"}), 2, {flag});
  }
  EXPECT_EQ(run_cli({"run", "-h"}).exit_code, 0);
}

TEST_F(Cli, MethodsAreListedWithTheirSources) {
  const CliResult result = run_cli({"methods"});
  EXPECT_EQ(result.exit_code, 0);
  for (const MethodInfo& info : methods()) {
    EXPECT_NE(result.out.find(info.name), std::string::npos) << info.name;
    EXPECT_NE(result.out.find(info.source), std::string::npos) << info.name;
  }
  // What it does, where it comes from, and the options of its own; then a line for the others.
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 3 * static_cast<long>(methods().size()) + 1);
  EXPECT_NE(result.out.find("\n                  --votes --warmup --window --consensus --adaptive\n"),
            std::string::npos);
}

TEST_F(Cli, MistypedNamesGetASuggestion) {
  expect_refused(run_cli({}), 2, {"--help"});
  expect_refused(run_cli({"rnu"}), 2, {"'rnu'", "did you mean run?"});
  expect_refused(run_cli({"run", "--tmep", "1", "hi"}), 2, {"'--tmep'", "did you mean --temp?"});
  expect_refused(run_cli({"run", "--tau", "1", "hi"}), 2, {"'--tau'", "did you mean --tau-v?"});
  expect_refused(run_cli({"run", "--zzzzzzzz", "hi"}), 2, {"'--zzzzzzzz'"});
  expect_refused(run_cli({"run", "two", "words"}), 2, {"'words'", "quotes"});
  expect_refused(run_cli({"run", "hi", "--temp"}), 2, {"--temp", "needs a value"});
}

// Answers.

TEST_F(Cli, AnswersFromEverySourceOfThePrompt) {
  TemporaryDirectory directory;
  write(directory.file("prompt.txt"), "What is 7 + 8?\n");
  const auto prompt_of = [](const CliResult& result) {
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return json::parse(result.out).at("prompt").at("text").get<std::string>();
  };
  const std::string expected = prompt_of(run({"--json", "What is 7 + 8?"}));
  EXPECT_NE(expected.find("What is 7 + 8?"), std::string::npos);
  EXPECT_EQ(prompt_of(run({"--json", "-p", "What is 7 + 8?"})), expected);
  EXPECT_EQ(prompt_of(run({"--json", "-f", directory.file("prompt.txt")})), expected);
  EXPECT_EQ(prompt_of(run({"--json"}, {.input = "What is 7 + 8?\n"})), expected);
  EXPECT_EQ(prompt_of(run({"--json", "-f", "-"}, {.input = "What is 7 + 8?"})), expected);
  // Names of commands and leading dashes are text like any other.
  EXPECT_NE(prompt_of(run({"--json", "tree"})).find("tree"), std::string::npos);
  EXPECT_NE(prompt_of(run({"--json", "--", "-5 + 3"})).find("-5 + 3"), std::string::npos);
}

TEST_F(Cli, AsksAProblemOfTheBuiltInModel) {
  const CliResult result = run({"--example", "2"});
  // One with a trap, and beside it what standard decoding makes of it.
  EXPECT_NE(result.out.find("\nThe right answer is 236.\n"), std::string::npos) << result.out << result.err;
  for (const char* row : {"\nstandard ", "\ndts-stable "}) EXPECT_NE(result.out.find(row), std::string::npos) << row;
  // That is what one came to see: it is at the end, and nothing long is before it unless it is asked for.
  EXPECT_LE(std::count(result.out.begin(), result.out.end(), '\n'), 30) << result.out;
  EXPECT_EQ(result.out.find("\naccount\n"), std::string::npos) << result.out;
  const std::string all = run({"--example", "2", "-v"}).out;
  const std::size_t account = all.find("\naccount\n");
  EXPECT_LT(account, all.find("\nThe right answer is 236.\n")) << all;
  EXPECT_NE(json::parse(run({"--json", "--example"}).out).at("question"),
            json::parse(run({"--json", "--example", "2"}).out).at("question"));
  expect_refused(run({"--example", "0"}), 2, {"--example"});
  expect_refused(run({"--example", "1000"}), 2, {"--example is 1000", "between 1 and"});
  expect_refused(run({"--example", "2", "-p", "hi"}), 2, {"--example", "prompt"});
}

TEST_F(Cli, ReportsAnswerVotesAndAccount) {
  const CliResult result = run({"--method", "self-consistency", "-n", "4000", "What is 7 + 8?"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (const char* part :
       {"\nanswer\n", "\nvotes\n", "\naccount\n", "over all branches", "unique", "shared", "statistics", "FLOP"}) {
    EXPECT_NE(result.out.find(part), std::string::npos) << part;
  }
  EXPECT_NE(result.err.find("dts: step 1: "), std::string::npos) << result.err;
}

TEST_F(Cli, QuietPrintsTheAnswerAlone) {
  const CliResult result = run({"--quiet", "What is 7 + 8?"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_FALSE(result.out.empty());
  EXPECT_EQ(result.out.find("account"), std::string::npos);
}

TEST_F(Cli, ComparesMethodsOnOneQuestion) {
  const auto compare = [&](std::vector<std::string> arguments) {
    std::vector<std::string> all = {"compare",        "-m", model(),   "-n", "60", "-t", "1",
                                    "--max-branches", "8",  "--votes", "3"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return run_cli(all);
  };
  const CliResult result =
      compare({"--json", "--methods", "standard,dts-stable", "--seeds", "0,2", "--expect", "15", "7+8"});
  EXPECT_EQ(result.err, "");
  const json document = json::parse(result.out);
  EXPECT_EQ(document.at("question"), "7+8");
  ASSERT_EQ(document.at("runs").size(), 4U);
  // The same accounting as a run of its own.
  const json alone = json::parse(run({"--json", "-n", "60", "-t", "1", "--seed", "2", "7+8"}).out);
  const json& beside = document.at("runs").at(3);
  EXPECT_EQ(beside.at("method"), "dts-stable");
  EXPECT_EQ(beside.at("seed"), 2);
  EXPECT_EQ(beside.at("steps"), alone.at("account").at("steps"));
  EXPECT_EQ(beside.at("unique_tokens"), alone.at("account").at("unique_tokens"));
  EXPECT_TRUE(beside.at("right").is_boolean());

  TemporaryDirectory directory;
  for (const char* name : {"a.html", "a.md", "a.tex", "a.csv", "a.svg", "a.txt", "a.json"}) {
    const CliResult written = compare({"7+8", "-o", directory.file(name)});
    EXPECT_EQ(written.out, "") << name << written.err;
    EXPECT_GT(std::filesystem::file_size(directory.file(name)), 100U) << name;
  }
  expect_refused(compare({"7+8", "-o", directory.file("a.docx")}), 2, {"a.docx", ".html"});
  expect_refused(compare({"7+8", "--methods", "nonsense"}), 2, {"nonsense"});
  expect_refused(compare({"7+8", "--method", "standard"}), 2, {"--methods"});
  expect_refused(compare({"7+8", "--seed", "1", "--seeds", "0-3"}), 2, {"--seed"});
}

TEST_F(Cli, FormatsFollowTheNamesEnding) {
  TemporaryDirectory directory;
  const std::string tree = directory.file("tree.json");
  ASSERT_EQ(run({"--quiet", "--save-tree", tree, "hi"}).exit_code, 0);
  const auto begins = [&](const char* name, std::string_view with) {
    std::ifstream stream(directory.file(name));
    const std::string text(std::istreambuf_iterator<char>(stream), {});
    EXPECT_TRUE(text.starts_with(with)) << name << ": " << text.substr(0, 40);
  };
  for (const char* name : {"a.svg", "a.html", "a.dot", "a.txt"}) {
    ASSERT_EQ(run_cli({"tree", tree, "-o", directory.file(name)}).exit_code, 0) << name;
  }
  begins("a.svg", "<svg");
  begins("a.html", "<!");
  begins("a.dot", "digraph");
  begins("a.txt", "hi");
  ASSERT_EQ(run({"--quiet", "--save-tree", directory.file("b.svg"), "hi"}).exit_code, 0);
  begins("b.svg", "<svg");
  expect_refused(run_cli({"tree", tree, "-o", directory.file("a.png")}), 2, {"a.png", ".svg"});
  expect_refused(run({"--quiet", "--save-tree", directory.file("b.png"), "hi"}), 2, {"b.png", ".json"});
  EXPECT_FALSE(std::filesystem::exists(directory.file("a.png")));
}

TEST_F(Cli, JsonIsOneDocumentThatTreeDraws) {
  const CliResult result = run({"--json", "What is 7 + 8?"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  const json document = json::parse(result.out);  // throws for anything but exactly one document
  EXPECT_EQ(document.at("question"), "What is 7 + 8?");
  EXPECT_EQ(document.at("method").at("name"), "dts-stable");
  EXPECT_FALSE(document.at("segments").empty());

  TemporaryDirectory directory;
  write(directory.file("tree.json"), result.out);
  const CliResult drawn = run_cli({"tree", directory.file("tree.json")});
  EXPECT_EQ(drawn.exit_code, 0) << drawn.err;
  EXPECT_FALSE(drawn.out.empty());
}

TEST_F(Cli, SavesTheTreeThatJsonPrints) {
  TemporaryDirectory directory;
  const CliResult result = run({"--json", "--save-tree", directory.file("tree.json"), "hi"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::ifstream saved(directory.file("tree.json"));
  EXPECT_EQ(json::parse(saved), json::parse(result.out));
}

TEST_F(Cli, TheSameSeedGivesTheSameTree) {
  const auto tree = [](const std::string& seed, const std::string& threads) {
    json document = json::parse(run({"--json", "-n", "30", "-s", seed, "-t", threads, "Why?"}).out);
    document.erase("times");
    return document;
  };
  EXPECT_EQ(tree("7", "1"), tree("7", "1"));
  EXPECT_EQ(tree("7", "1"), tree("7", "2"));
  EXPECT_NE(tree("7", "1").at("segments"), tree("8", "1").at("segments"));
  EXPECT_NE(tree("random", "1").at("seed"), tree("random", "1").at("seed"));
}

TEST_F(Cli, InfiniteThresholdIsStandardDecoding) {
  const json tree = json::parse(run({"--json", "--method", "dts-greedy", "--tau-v", "inf", "-n", "400", "Why?"}).out);
  const json standard = json::parse(run({"--json", "--method", "standard", "-n", "400", "Why?"}).out);
  EXPECT_EQ(tree.at("segments"), standard.at("segments"));
}

TEST_F(Cli, FlagsReachTheSearch) {
  const json document =
      json::parse(run({"--json",    "--temp",      "0.5", "--top-k",    "9",  "--top-p",     "0.75",   "--min-p",
                       "0.25",      "--tau-h",     "2",   "--branch-k", "2",  "--criterion", "either", "--freeze",
                       "permanent", "--stat-temp", "1",   "-n",         "40", "-ngl",        "0",      "Why?"})
                      .out);
  EXPECT_EQ(document.at("sampling"), json({{"temperature", 0.5}, {"top_k", 9}, {"top_p", 0.75}, {"min_p", 0.25}}));
  const json& branch = document.at("method").at("branch");
  EXPECT_EQ(branch.at("tau_h"), 2.0);
  EXPECT_EQ(branch.at("k"), 2);
  EXPECT_EQ(branch.at("max_branches"), 8);
  EXPECT_EQ(branch.at("criterion"), "either");
  EXPECT_EQ(branch.at("freeze"), "permanent");
  EXPECT_EQ(document.at("stat_temp"), 1.0);
  EXPECT_EQ(document.at("max_tokens"), 40);
}

TEST_F(Cli, RawSkipsTheChatTemplate) {
  const CliResult result = run({"--raw", "--json", "-m", model("no-template.gguf"), "Why?"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(json::parse(result.out).at("prompt").at("text"), "Why?");
}

// A trajectory of random words comes to some two letters; what stands before them is all that is shown.
TEST_F(Cli, StopStringsEndTrajectories) {
  std::vector<std::string> plain = {"--raw", "--json", "--method", "standard", "--seed", "", "Why?"};
  // One that never closes a thought, before which nothing would be shown.
  const auto closes = [&] {
    return json::parse(run(plain).out).at("segments")[0].at("text").get<std::string>().find("</think>") !=
           std::string::npos;
  };
  int seed = 0;
  do {
    plain[5] = std::to_string(++seed);
    ASSERT_LT(seed, 50);
  } while (closes());
  plain[1] = "-q";
  const std::string whole = run(plain).out;
  const auto letters = [](char a, char b) { return a >= 'a' && a <= 'z' && b >= 'a' && b <= 'z'; };
  const auto pair =
      std::adjacent_find(whole.begin() + std::min<std::ptrdiff_t>(4, std::ssize(whole)), whole.end(), letters);
  ASSERT_NE(pair, whole.end()) << whole;
  const std::string stop(pair, pair + 2);
  std::vector<std::string> stopped = plain;
  stopped.insert(stopped.end(), {"--stop", "never met", "--stop", stop});
  const CliResult result = run(stopped);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, whole.substr(0, whole.find(stop)) + "\n");
  stopped[1] = "--json";
  EXPECT_EQ(json::parse(run(stopped).out).at("prompt").at("stop"), json({"never met", stop}));
  expect_refused(run({"--stop", "", "Why?"}), 2, {"--stop"});
}

TEST_F(Cli, VerboseShowsTheMemoryPlan) {
  const CliResult result = run({"--verbose", "--json", "Why?"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.err.find("qwen3"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("KV"), std::string::npos) << result.err;
  EXPECT_NO_THROW(json::parse(result.out));
}

TEST_F(Cli, NothingFinishedIsItsOwnExitCode) {
  const CliResult result = run({"-n", "1", "--temp", "0", "--method", "standard", "Why?"});
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_NE(result.out.find("no trajectory finished"), std::string::npos) << result.out;
}

TEST_F(Cli, ABudgetEndsTheSearch) {
  const json document = json::parse(run({"--json", "--max-total-tokens", "20", "--votes", "1000", "Why?"}).out);
  EXPECT_EQ(document.at("reason"), "token-budget");
  EXPECT_GE(document.at("account").at("unique_tokens"), 20);
}

TEST_F(Cli, TheTimeBudgetCountsThePrompt) {
  const CliResult result = run({"--json", "--max-seconds", "1e-6", std::string(2000, 'x')});
  EXPECT_EQ(result.exit_code, 3) << result.err;
  const json document = json::parse(result.out);
  EXPECT_EQ(document.at("reason"), "time-budget");
  EXPECT_EQ(document.at("account").at("steps"), 0);
}

TEST_F(Cli, BenchSaysWhatTruncationDecides) {
  const CliResult result = run_cli({"bench", "--truncation", "--seen", "5,400", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json rows = json::parse(result.out).at("rows");
  ASSERT_EQ(rows.size(), 2U);
  for (const json& row : rows) {
    EXPECT_GT(row.at("decisions"), 0);
    // Bounds are bounds: only what they leave open can be decided wrongly.
    EXPECT_LE(row.at("wrong"), row.at("undecided"));
    EXPECT_LE(row.at("missed"), row.at("wrong"));
  }
  EXPECT_LT(rows[1].at("varentropy_width"), rows[0].at("varentropy_width"));
  expect_refused(run_cli({"bench", "--truncation", "--seen", "0"}), 2, {"--seen"});
}

TEST_F(Cli, BenchSaysHowLongALoadTakes) {
  if (!why_not_native_cpu(model()).empty()) GTEST_SKIP() << why_not_native_cpu(model());
  const CliResult result = run_cli({"bench", "--load", "-m", model(), "--rounds", "2", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json document = json::parse(result.out);
  EXPECT_EQ(document.at("rounds"), 2);
  for (const char* engine : {"llama", "native_cpu"}) {
    const json& times = document.at(engine);
    EXPECT_GT(times.at("model_s"), 0.0);
    EXPECT_GT(times.at("first_token_s"), times.at("model_s")) << engine;
    EXPECT_GT(times.at("last_token_s"), times.at("first_token_s")) << engine;
  }
  expect_refused(run_cli({"bench", "--load", "-m", "/nowhere.gguf"}), 1, {"/nowhere.gguf"});
  expect_refused(run_cli({"bench", "--load", "--rounds", "0"}), 2, {"--rounds"});
}

// Refusals: one line each, and a code that tells usage from failure.

TEST_F(Cli, RefusesFilesThatAreNoModel) {
  TemporaryDirectory directory;
  const auto run_model = [](const std::string& path) { return run_cli({"run", "-m", path, "hi"}); };
  expect_refused(run_model(directory.file("none.gguf")), 1, {"none.gguf"});
  expect_refused(run_model(directory.path().string()), 1, {directory.path().string(), "directory"});
  write(directory.file("foreign.gguf"), "PK\x03\x04 not a model at all, but long enough to have a header");
  expect_refused(run_model(directory.file("foreign.gguf")), 1, {"foreign.gguf", "GGUF"});
  write(directory.file("empty.gguf"), "");
  expect_refused(run_model(directory.file("empty.gguf")), 1, {"empty.gguf"});
  std::ifstream whole(model(), std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(whole)), std::istreambuf_iterator<char>());
  for (const std::size_t size : {std::size_t{20}, std::size_t{3000}, bytes.size() / 2, bytes.size() - 1}) {
    write(directory.file("cut.gguf"), bytes.substr(0, size));
    expect_refused(run_model(directory.file("cut.gguf")), 1, {"cut.gguf"});
  }
  expect_refused(run_cli({"run", "-m", model("no-template.gguf"), "hi"}), 1, {"chat template", "--raw"});
  expect_refused(run_cli({"run", "-m", "", "hi"}), 2, {"--model"});
}

TEST_F(Cli, RefusesPromptsItCannotUse) {
  TemporaryDirectory directory;
  expect_refused(run({""}), 2, {"empty"});
  expect_refused(run({" \n\t "}), 2, {"empty"});
  expect_refused(run({}, {.input = "\n"}), 2, {"standard input", "empty"});
  expect_refused(run({"-p", "caf\xe9 au lait"}), 2, {"--prompt", "UTF-8", "byte 3", "0xE9"});
  expect_refused(run({"-f", directory.file("none.txt")}), 1, {"none.txt", "No such file"});
  expect_refused(run({"-f", directory.path().string()}), 1, {"--file", "directory"});
  expect_refused(run({"-f", "/dev/zero"}), 2, {"/dev/zero", "8,388,608"});
  expect_refused(run({"-p", "one", "two"}), 2, {"more than once"});
  write(directory.file("prompt.txt"), "three");
  expect_refused(run({"-p", "one", "-f", directory.file("prompt.txt")}), 2, {"more than once"});
  expect_refused(run({"-c", "16", "A question that is longer than sixteen tokens"}), 2, {"--ctx-size", "16"});
  expect_refused(run({std::string(5000, 'x')}), 2, {"4096"});
}

TEST_F(Cli, RefusesNumbersOutOfRange) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> bad = {
      {"--branch-k", {"0", "-1", "513", "x", "1.5"}},
      {"--max-branches", {"0", "-3", "100000"}},
      {"--votes", {"0", "-1"}},
      {"--samples", {"0"}},
      {"--tau-v", {"-1", "nan", "x"}},
      {"--tau-h", {"-0.5", "nan"}},
      {"--stat-temp", {"0", "-1", "nan", "inf"}},
      {"--temp", {"-0.1", "nan", "inf", "warm", ""}},
      {"--top-k", {"-1", "x"}},
      {"--top-p", {"0", "-1", "1.5", "nan"}},
      {"--min-p", {"-1", "2", "nan"}},
      {"--predict", {"0", "-1", "99999999999999999999"}},
      {"--max-total-tokens", {"0", "-1"}},
      {"--max-seconds", {"0", "-1", "nan", "inf"}},
      {"--ctx-size", {"-1", "x"}},
      {"--threads", {"-1", "x"}},
      {"--gpu-layers", {"-2", "some"}},
      {"--seed", {"-2", "x", "18446744073709551616"}},
      {"--method", {"magic"}},
      {"--criterion", {"coin"}},
      {"--freeze", {"maybe"}},
      {"--kv", {"paged"}},
      {"--kv-type", {"q4_0"}},
      {"--flash-attn", {"yes"}},
      {"--batch-invariant", {"2"}},
  };
  for (const auto& [flag, values] : bad) {
    for (const std::string& value : values) {
      SCOPED_TRACE(testing::Message() << flag << ' ' << value);
      expect_refused(run({flag, value, "hi"}), 2, {flag});
    }
  }
  expect_refused(run({"--method", "short-m@k", "--votes", "9", "--samples", "8", "hi"}), 2, {"--votes", "--samples"});
  // More branches than an engine has, by the name of the flag that asks for them.
  expect_refused(run({"--engine", "llama", "--max-branches", "300", "hi"}), 2, {"--max-branches 300", "252"});
  expect_refused(run({"--engine", "llama", "--method", "self-consistency", "--votes", "300", "hi"}), 2,
                 {"--votes 300", "252"});
  expect_refused(run({"--engine", "llama", "--method", "short-m@k", "--samples", "300", "hi"}), 2,
                 {"--samples 300", "252"});
  expect_refused(run_cli({"serve", "--engine", "llama", "-m", model(), "--port", "0", "--parallel", "253"}), 2,
                 {"--parallel is 253", "252"});
  expect_refused(run_cli({"serve", "--engine", "llama", "-m", model(), "--port", "0", "--max-branches", "2147483647"}),
                 2, {"--max-branches 2147483647", "252"});
}

// The engine of our own: on the CPU and on its oracle, which every machine has, and where there is no GPU.

TEST_F(Cli, DecodesOnTheNativeEngine) {
  const CliResult llama = run({"--engine", "llama", "--seed", "3", "--json", "hi"});
  for (const auto& [engine, kind] : std::vector<std::pair<std::string, std::string>>{
           {"native-cpu", "native CPU"}, {"native-oracle", "native oracle"}}) {
    if (engine == "native-cpu" && !why_not_native_cpu(model()).empty()) continue;
    const CliResult native = run({"--engine", engine, "--seed", "3", "--json", "hi"});
    ASSERT_EQ(native.exit_code, llama.exit_code) << native.err;
    const json tree = json::parse(native.out);
    EXPECT_EQ(tree.at("engine").at("kind"), kind) << tree.at("engine").dump();
    const json again = json::parse(run({"--engine", engine, "--seed", "3", "--json", "hi"}).out);
    EXPECT_EQ(again.at("segments"), tree.at("segments"));
  }
}

// What a branch computes does not depend on how many threads share it out.
TEST_F(Cli, TheNativeEngineGivesTheSameTreeWithAnyNumberOfThreads) {
  if (!why_not_native_cpu(model()).empty()) GTEST_SKIP() << why_not_native_cpu(model());
  const auto tree = [&](const char* threads) {
    return json::parse(
        run({"--engine", "native-cpu", "-t", threads, "--method", "dts-stable", "--seed", "3", "--json", "hi"}).out);
  };
  const json one = tree("1");
  EXPECT_EQ(one.at("segments"), tree("2").at("segments"));
  EXPECT_EQ(one.at("segments"), tree("3").at("segments"));
}

TEST_F(Cli, WithoutAGpuNobodyHearsOfTheNativeEngineUnasked) {
  if (why_no_native_gpu().empty()) GTEST_SKIP() << "there is a GPU here";
  const CliResult automatic = run({"--seed", "3", "hi"});
  const CliResult llama = run({"--engine", "llama", "--seed", "3", "hi"});
  EXPECT_EQ(automatic.exit_code, llama.exit_code);
  EXPECT_EQ(automatic.err.find("native"), std::string::npos) << automatic.err;
  EXPECT_EQ(automatic.err.find("engine"), std::string::npos) << automatic.err;
  expect_refused(run_cli({"bench", "--gpu"}), 1, {"--gpu", "CUDA"});
}

TEST_F(Cli, RefusesLlamaOptionsOnTheNativeEngine) {
  for (const auto& [flag, value] : std::vector<std::pair<std::string, std::string>>{
           {"--kv", "unified"}, {"--flash-attn", "on"}, {"--gpu-layers", "3"}}) {
    expect_refused(run({"--engine", "native-cpu", flag, value, "hi"}), 2, {flag, "--engine llama"});
  }
}

TEST_F(Cli, RefusesOutputItCannotWrite) {
  TemporaryDirectory directory;
  expect_refused(run({"--save-tree", directory.file("no/such/tree.json"), "hi"}), 1, {"--save-tree", "no/such"});
  expect_refused(run({"--save-tree", directory.path().string(), "hi"}), 1, {"--save-tree", "directory"});
  expect_refused(run({"--save-tree", "", "hi"}), 2, {"--save-tree"});
  expect_refused(run({"--json", "--save-tree", "-", "hi"}), 2, {"--save-tree", "--json"});
}

TEST_F(Cli, AFullDiskIsAnErrorAndTheAnswerIsShown) {
  const CliResult tree = run({"--quiet", "--save-tree", "/dev/full", "hi"});
  EXPECT_EQ(tree.exit_code, 1);
  EXPECT_NE(tree.err.find("/dev/full: "), std::string::npos) << tree.err;
  EXPECT_FALSE(tree.out.empty());
  for (const char* format : {"--json", "--quiet"}) {
    const CliResult out = run({format, "hi"}, {.output_path = "/dev/full"});
    EXPECT_EQ(out.exit_code, 1);
    EXPECT_NE(out.err.find("standard output: cannot write"), std::string::npos) << out.err;
  }
}

TEST_F(Cli, NoHalfWrittenTreeIsLeft) {
  // A limit on file sizes plays the full disk for an ordinary file.
  TemporaryDirectory directory;
  std::string command = "ulimit -f 1; trap '' XFSZ; exec \"$0\" \"$@\"";
  std::vector<std::string> arguments = {"-c", command, DTS_PROGRAM};
  const std::vector<std::string> run_part =
      run_arguments({"--quiet", "--save-tree", directory.file("tree.json"), "hi"});
  arguments.insert(arguments.end(), run_part.begin(), run_part.end());
  const CliResult result = run_cli(arguments, {.program = "sh"});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_NE(result.err.find("tree.json"), std::string::npos) << result.err;
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST_F(Cli, AReaderThatGoesAwayIsNoError) {
  const CliResult result = run({"--json", "hi"}, {.close_output = true});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.signal, 0);
  EXPECT_EQ(result.err, "");
}

// Interruption.

class CliInterrupt : public Cli {
 protected:
  static std::vector<std::string> endless(std::vector<std::string> more) {
    std::vector<std::string> all = {"run", "-m", model("endless.gguf"), "--method", "standard", "--temp", "0"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
};

TEST_F(CliInterrupt, WithoutAFinishedTrajectory) {
  for (const int number : {SIGINT, SIGTERM}) {
    CliProcess process(endless({"Why?"}));
    ASSERT_TRUE(process.wait_for_error("step 1:"));
    process.signal(number);
    const CliResult result = process.wait();
    EXPECT_EQ(result.exit_code, 3) << result.err;
    EXPECT_NE(result.out.find("interrupted"), std::string::npos) << result.out;
    EXPECT_NE(result.out.find("account"), std::string::npos) << result.out;
  }
}

TEST_F(CliInterrupt, WithFinishedTrajectoriesGivesTheBestSoFar) {
  // More votes than there will ever be.
  CliProcess process({"run", "-m", model(), "--votes", "1000000", "--max-branches", "8", "Why?"});
  ASSERT_TRUE(process.wait_for_error("live, [1-9][0-9]* finished"));
  process.signal(SIGINT);
  const CliResult result = process.wait();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("interrupted"), std::string::npos) << result.out;
}

TEST_F(CliInterrupt, TwiceQuitsAtOnce) {
  // The tree goes to a pipe that nobody opens: after the first signal the program waits there.
  TemporaryDirectory directory;
  ASSERT_EQ(mkfifo(directory.file("pipe").c_str(), 0600), 0);
  CliProcess process(endless({"--save-tree", directory.file("pipe"), "Why?"}));
  ASSERT_TRUE(process.wait_for_error("step 1:"));
  process.signal(SIGINT);
  ASSERT_TRUE(process.wait_for_error("stopping"));
  process.signal(SIGINT);
  const CliResult result = process.wait();
  EXPECT_EQ(result.exit_code, 130) << result.err;
  EXPECT_EQ(result.out, "");
}

// On a terminal: the picture comes and goes, and leaves the screen as it was, with the report on it.
TEST_F(CliInterrupt, TheTerminalIsGivenBack) {
  int controller = -1;
  int terminal = -1;
  winsize size{.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
  ASSERT_EQ(openpty(&controller, &terminal, nullptr, nullptr, &size), 0);
  const std::string name = ttyname(terminal);
  CliOptions options;
  options.program = "sh";
  std::vector<std::string> arguments = {"-c", "TERM=xterm exec \"$0\" \"$@\" >" + name + " 2>" + name, DTS_PROGRAM};
  const std::vector<std::string> run_part = endless({"Why?"});
  arguments.insert(arguments.end(), run_part.begin(), run_part.end());
  CliProcess process(arguments, options);
  std::string screen;
  const auto read_until = [&](const std::string& text) {
    std::array<char, 4096> buffer;
    while (screen.find(text) == std::string::npos) {
      const ssize_t got = read(controller, buffer.data(), buffer.size());
      if (got <= 0) return false;
      screen.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return true;
  };
  ASSERT_TRUE(read_until("\x1b[?1049h"));
  close(terminal);  // the program has it open: reading ends when the program does
  ASSERT_TRUE(read_until("oldest branch"));
  process.signal(SIGINT);
  ASSERT_TRUE(read_until("\x1b[?25h\x1b[?1049l"));
  ASSERT_TRUE(read_until("FLOP, estimated"));
  EXPECT_EQ(process.wait().exit_code, 3);
  EXPECT_GT(screen.find("interrupted"), screen.find("\x1b[?1049l"));
  close(controller);
}

}  // namespace
}  // namespace dts::test
