// dts chat from outside: over a pipe, and at a terminal with keys, Ctrl-C and Ctrl-D.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/random/random_model.h"
#include "support/cli_process.h"
#include "support/pty_process.h"

namespace dts::test {
namespace {

using nlohmann::json;

class Chat : public testing::Test {
 protected:
  Chat() {
    setenv("XDG_STATE_HOME", folder.path().c_str(), 1);
    setenv("DTS_CONFIG", "/dev/null", 1);
  }
  ~Chat() override {
    unsetenv("XDG_STATE_HOME");
    unsetenv("DTS_CONFIG");
  }
  // One of the built-in model's own questions, and its answer.
  static std::pair<std::string, std::string> example(int number) {
    const CliResult result = run_cli({"run", "--example", std::to_string(number), "--json"});
    const json tree = json::parse(result.out);
    return {tree["question"], tree["answer"]};
  }
  static std::vector<std::string> chat(const std::vector<std::string>& more = {}) {
    std::vector<std::string> all = {"chat", "--no-color"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  // A model whose greedy trajectories have no end.
  std::string endless() const {
    RandomModelOptions options;
    options.layers = 1;
    options.tied = true;
    options.end_emphasis = 0.01F;
    options.context = 1 << 20;
    write_random_model(folder.file("endless.gguf"), options);
    return folder.file("endless.gguf");
  }
  static json read_json(const std::string& path) {
    std::ifstream in(path);
    return json::parse(in);
  }

  TemporaryDirectory folder;
};

TEST_F(Chat, LinesOfAPipeAreQuestions) {
  const auto [question, answer] = example(19);
  const std::string saved = folder.file("talk.json");
  const CliResult result = run_cli(
      chat({"-q"}), {.input = question + "\n\n" + question + "\n/save " + saved + "\n/undo\n/save " + saved + "2\n"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find(answer), std::string::npos) << result.out;
  const json talk = read_json(saved);
  ASSERT_EQ(talk["messages"].size(), 4U);
  EXPECT_EQ(talk["messages"][0]["role"], "user");
  EXPECT_EQ(talk["messages"][0]["content"], question);
  EXPECT_EQ(talk["messages"][1]["role"], "assistant");
  EXPECT_EQ(read_json(saved + "2")["messages"].size(), 2U);
}

TEST_F(Chat, CommandsChangeWhatFollows) {
  const auto [question, answer] = example(20);
  std::ofstream(folder.file("system.txt")) << "Be brief.\n";
  const std::string saved = folder.file("talk.json");
  const CliResult result = run_cli(chat({"--system-file", folder.file("system.txt")}),
                                   {.input = "/method standard\n" + question + "\n/retry\n/set tau-v 0.5\n/tree " +
                                             folder.file("tree.json") + "\n/tree " + folder.file("tree.html") +
                                             "\n/tree\n/save " + saved + "\n/history\n/clear\n/quit\nnever asked\n"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const json talk = read_json(saved);
  EXPECT_EQ(talk["messages"][0]["content"], "Be brief.");
  EXPECT_EQ(talk["messages"].size(), 3U);  // asked again, not asked twice
  EXPECT_EQ(talk["options"]["method"], "standard");
  EXPECT_EQ(talk["options"]["seed"], "1");
  EXPECT_EQ(talk["options"]["tau_v"], "0.5");
  const json tree = read_json(folder.file("tree.json"));
  EXPECT_EQ(tree["question"], question);
  EXPECT_EQ(tree["seed"], 1);
  EXPECT_GT(std::filesystem::file_size(folder.file("tree.html")), 1000U);
  EXPECT_EQ(result.out.find("never asked"), std::string::npos);
}

TEST_F(Chat, MistakesAreSaidAndTheConversationGoesOn) {
  const CliResult result =
      run_cli(chat({"-q"}), {.input = "/tre\n/set tauv 1\n/set votes 0\n/undo\n/retry\n/tree\n/method x\n"
                                      "\xff\xfe\n/method standard\n/method\n"});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 8) << result.err;
  for (const char* part :
       {"did you mean /tree?", "did you mean tau-v?", "--votes", "nothing to undo", "no tree yet", "UTF-8"}) {
    EXPECT_NE(result.err.find(part), std::string::npos) << part << result.err;
  }
  EXPECT_EQ(result.out, "standard\n");
  EXPECT_EQ(run_cli(chat({"--system", "a", "--system-file", "b"})).exit_code, 2);
}

TEST_F(Chat, AtATerminalLinesAreEditedAndRemembered) {
  const auto [question, answer] = example(19);
  {
    PtyProcess process(chat({"--method", "standard"}));
    ASSERT_TRUE(process.wait_for("> ")) << process.screen();
    process.type(
        "/methox\x7f"
        "d\n");  // a letter is taken back
    ASSERT_TRUE(process.wait_for("standard")) << process.screen();
    ASSERT_TRUE(process.wait_for("> "));
    process.type(question + "\n");
    ASSERT_TRUE(process.wait_for("/tree shows how")) << process.screen();
    ASSERT_TRUE(process.wait_for("> "));
    process.type("/tree\n");
    ASSERT_TRUE(process.wait_for("first to finish")) << process.screen();
    ASSERT_TRUE(process.wait_for("> "));
    process.type("\x04");
    EXPECT_EQ(process.wait(), 0);
  }
  // The arrow key brings the last line of the last session.
  PtyProcess process(chat());
  ASSERT_TRUE(process.wait_for("> "));
  process.type("\x1b[A");
  ASSERT_TRUE(process.wait_for("/tree")) << process.screen();
  process.type("\n");
  ASSERT_TRUE(process.wait_for("no tree yet")) << process.screen();
  process.type("/quit\n");
  EXPECT_EQ(process.wait(), 0);
  struct stat facts {};
  ASSERT_EQ(stat(folder.file("dts/chat_history").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0077U, 0U);  // nobody else's
}

TEST_F(Chat, CtrlCEndsTheAnswerAndNotTheProgram) {
  PtyProcess process(chat({"-m", endless(), "--method", "standard", "--temp", "0"}));
  ASSERT_TRUE(process.wait_for("> ")) << process.screen();
  process.type("half a line\x03");
  ASSERT_TRUE(process.wait_for("^C")) << process.screen();
  ASSERT_TRUE(process.wait_for("> "));
  process.type("hello\n");
  ASSERT_TRUE(process.wait_for("oldest branch")) << process.screen();  // it decodes
  process.type("\x03");
  ASSERT_TRUE(process.wait_for("interrupted: no trajectory had come to an end")) << process.screen();
  ASSERT_TRUE(process.wait_for("> "));
  process.type("/retry\n");
  ASSERT_TRUE(process.wait_for("oldest branch")) << process.screen();
  process.type("\x03");
  ASSERT_TRUE(process.wait_for("interrupted")) << process.screen();
  ASSERT_TRUE(process.wait_for("> "));
  process.type("/quit\n");
  EXPECT_EQ(process.wait(), 3);
}

}  // namespace
}  // namespace dts::test
