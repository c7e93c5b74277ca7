// Settings that stand: a file and the environment beneath the command line, from outside.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "support/cli_process.h"

namespace dts::test {
namespace {

using nlohmann::json;

class Config : public testing::Test {
 protected:
  Config() {
    set("DTS_CONFIG", file());
    write("");
  }
  ~Config() override {
    for (const std::string& name : set_) unsetenv(name.c_str());
  }
  std::string file() const { return folder.file("config.toml"); }
  void write(const std::string& text) const { folder.write("config.toml", text); }
  void set(const std::string& name, const std::string& value) {
    setenv(name.c_str(), value.c_str(), 1);
    set_.push_back(name);
  }
  // Value and origin of every option of `command`.
  static std::map<std::string, std::pair<std::string, std::string>> effective(const std::string& command = "run") {
    const CliResult result = run_cli({"config", command, "--json"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::map<std::string, std::pair<std::string, std::string>> settings;
    if (result.exit_code != 0) return settings;
    const json out = json::parse(result.out);
    for (const json& line : out["settings"]) {
      settings[line["name"].get<std::string>()] = {line["value"].get<std::string>(), line["from"].get<std::string>()};
    }
    return settings;
  }
  // What a question was really decoded with.
  static json options_of(const std::vector<std::string>& more = {}) {
    std::vector<std::string> all = {"run", "--example", "1", "--json", "-n", "8"};
    all.insert(all.end(), more.begin(), more.end());
    const CliResult result = run_cli(all);
    EXPECT_TRUE(result.exit_code == 0 || result.exit_code == 3) << result.err;
    return json::parse(result.out);
  }
  static void expect_refused(const CliResult& result, const std::vector<std::string>& named) {
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    for (const std::string& part : named) EXPECT_NE(result.err.find(part), std::string::npos) << part << result.err;
  }

  TemporaryDirectory folder;

 private:
  std::vector<std::string> set_;
};

TEST_F(Config, CommandLineThenProfileThenEnvironmentThenFileThenDefault) {
  const std::string by_default = effective()["seed"].first;
  EXPECT_EQ(effective()["seed"].second, "default");
  EXPECT_NE(by_default, "");
  write("seed = 2\ntau_h = 1.5\nmax_tokens = 77\n[serve]\nseed = 7\n");
  EXPECT_EQ(effective()["seed"], std::make_pair(std::string("2"), file() + ":1"));
  EXPECT_EQ(effective()["tau-h"], std::make_pair(std::string("1.5"), file() + ":2"));
  EXPECT_EQ(effective()["predict"].first, "77");  // the library's name and the flag's are one
  EXPECT_EQ(effective("serve")["seed"], std::make_pair(std::string("7"), file() + ":5"));
  EXPECT_EQ(options_of()["seed"], 2);
  set("DTS_SEED", "4");
  EXPECT_EQ(effective()["seed"], std::make_pair(std::string("4"), std::string("DTS_SEED")));
  EXPECT_EQ(options_of()["seed"], 4);
  const std::string profile = folder.write("p.toml", "seed = 5\n[profile]\nmodel = \"x\"\n").string();
  EXPECT_EQ(options_of({"--profile", profile})["seed"], 5);
  EXPECT_EQ(options_of({"--profile", profile, "--seed", "3"})["seed"], 3);
  EXPECT_EQ(options_of({"--seed=3"})["seed"], 3);
}

TEST_F(Config, UnknownNamesAreRefusedWithFileAndLine) {
  write("votes = 2\n\nmethud = \"dts\"\n");
  expect_refused(run_cli({"run", "hi"}), {file() + ":3: ", "unknown key 'methud'", "did you mean method?"});
  write("[serve]\nraw = true\n");
  expect_refused(run_cli({"run", "hi"}), {file() + ":2: ", "'raw' in [serve]"});
  write("[srve]\nport = 1\n");
  expect_refused(run_cli({"run", "hi"}), {file() + ":2: ", "[srve]"});
  write("votes = \n");
  expect_refused(run_cli({"run", "hi"}), {file() + ":1: "});
  write("votes = [1, 2]\n");
  expect_refused(run_cli({"run", "hi"}), {file() + ":1: ", "one value"});
  write("votes = 1979-05-27\n");
  expect_refused(run_cli({"run", "hi"}), {file() + ":1: ", "votes"});
  write("prompt = \"hi\"\n");  // belongs to one call
  expect_refused(run_cli({"run", "hi"}), {file() + ":1: ", "prompt"});
  EXPECT_EQ(run_cli({"run", "--help"}).exit_code, 0);
}

TEST_F(Config, WrongValuesNameWhereTheyCameFrom) {
  write("\nvotes = 0\n");
  expect_refused(run_cli({"run", "hi"}), {file() + ":2: --votes"});
  write("");
  set("DTS_METHOD", "nonsense");
  expect_refused(run_cli({"run", "hi"}), {"DTS_METHOD: --method", "nonsense"});
  expect_refused(run_cli({"run", "hi", "--method", "bad"}), {"dts: --method", "bad"});
}

TEST_F(Config, OneNameOfAModelOverrulesTheOther) {
  write("model = \"/no/such.gguf\"\n");
  const CliResult missing = run_cli({"run", "hi"});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_NE(missing.err.find("/no/such.gguf"), std::string::npos) << missing.err;
  set("DTS_HF_REPO", "org/model");
  EXPECT_EQ(effective()["model"].second, "default");
  EXPECT_EQ(effective()["hf-repo"].first, "org/model");
  const CliResult other = run_cli({"run", "hi", "-m", "/no/other.gguf"});
  EXPECT_NE(other.err.find("/no/other.gguf"), std::string::npos) << other.err;
}

TEST_F(Config, FilesAreFoundWhereTheyShouldBe) {
  unsetenv("DTS_CONFIG");
  set("XDG_CONFIG_HOME", folder.path().string());
  EXPECT_EQ(effective()["seed"].second, "default");
  std::filesystem::create_directories(folder.path() / "dts");
  folder.write("dts/config.toml", "seed = 6\n");
  EXPECT_EQ(effective()["seed"].second, folder.file("dts/config.toml") + ":1");
  folder.write("other.toml", "seed = 7\n");
  const CliResult chosen =
      run_cli({"--config", folder.file("other.toml"), "run", "--example", "1", "--json", "-n", "8"});
  EXPECT_EQ(json::parse(chosen.out)["seed"], 7) << chosen.err;
  EXPECT_EQ(run_cli({"--config", folder.file("none.toml"), "run", "hi"}).exit_code, 1);
  const CliResult text = run_cli({"config"});
  EXPECT_NE(text.out.find(folder.file("dts/config.toml") + ":1"), std::string::npos) << text.out;
}

}  // namespace
}  // namespace dts::test
