// dts calibrate: thresholds against counting by hand, and the command on the built-in model.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "cli/calibration.h"
#include "cli/calibration_picture.h"
#include "support/cli_process.h"
#include "support/markup_check.h"

namespace dts::test {
namespace {

using namespace dts::cli;
using nlohmann::json;

// Most tokens certain, some not: as models are.
std::vector<TokenStatistics> random_tokens(unsigned seed, int count) {
  std::mt19937 random(seed);
  std::exponential_distribution<float> entropy(2.0F);
  std::exponential_distribution<float> varentropy(1.0F);
  std::vector<TokenStatistics> tokens;
  for (int i = 0; i < count; ++i) {
    const bool certain = random() % 3 != 0;
    tokens.push_back(
        {certain ? 0.0F : entropy(random), certain ? 0.0F : std::round(varentropy(random) * 64) / 64, i / 50});
  }
  return tokens;
}

// By the definition, one token after another.
double count_rate(const std::vector<TokenStatistics>& tokens, double tau_v, double tau_h) {
  int decisions = 0;
  for (const TokenStatistics& token : tokens) decisions += token.varentropy >= tau_v && token.entropy <= tau_h ? 1 : 0;
  return 1000.0 * decisions / static_cast<double>(tokens.size());
}

TEST(Calibration, RatesAreThoseOfTheDefinition) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const auto tokens = random_tokens(seed, 100 + 37 * static_cast<int>(seed));
    for (const Thresholds& at :
         {Thresholds{1.5, 2.5}, Thresholds{0, 1}, Thresholds{0.5, 0.5}, Thresholds{INFINITY, 9}}) {
      const BranchRate rate = branch_rate(tokens, at);
      EXPECT_DOUBLE_EQ(rate.per_thousand, count_rate(tokens, at.tau_v, at.tau_h));
      EXPECT_EQ(rate.tokens, static_cast<std::int64_t>(tokens.size()));
      EXPECT_GE(rate.error, 0);
    }
  }
  EXPECT_EQ(branch_rate({}, {}).per_thousand, 0);
}

TEST(Calibration, ChosenThresholdsGiveTheNearestRateThereIs) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    const auto tokens = random_tokens(seed, 500);
    for (const double wanted : {1.0, 2.0, 7.0, 30.0, 100.0}) {
      const Thresholds chosen = thresholds_for(tokens, wanted, {1.5, 2.0}, ThresholdChoice::kTauV);
      EXPECT_EQ(chosen.tau_h, 2.0);
      const double given = count_rate(tokens, chosen.tau_v, chosen.tau_h);
      // Every rate that any tau_v can give: those of the varentropies there are.
      double at_least = 1e9;  // the least rate that is no less than wanted
      double most = 0;
      for (const TokenStatistics& token : tokens) {
        if (token.varentropy <= 0) continue;
        const double rate = count_rate(tokens, token.varentropy, 2.0);
        most = std::max(most, rate);
        if (rate >= wanted - 1e-9) at_least = std::min(at_least, rate);
      }
      EXPECT_DOUBLE_EQ(given, std::min(at_least, most)) << seed << " " << wanted << " " << chosen.tau_v;
    }
  }
  EXPECT_EQ(thresholds_for({}, 10, {1.5, 2.5}, ThresholdChoice::kTauV).tau_v, 0);
}

TEST(Calibration, AnEntropyIsChosenForTheVarentropyThatIsKept) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    const auto tokens = random_tokens(seed, 500);
    for (const double wanted : {1.0, 2.0, 7.0, 30.0, 100.0, 900.0}) {
      const Thresholds chosen = thresholds_for(tokens, wanted, {0.5, 2.0}, ThresholdChoice::kTauH);
      EXPECT_EQ(chosen.tau_v, 0.5);
      const double given = count_rate(tokens, chosen.tau_v, chosen.tau_h);
      double at_least = 1e9;  // the least rate that is no less than wanted, of those that any tau_h gives
      double most = 0;
      for (const TokenStatistics& token : tokens) {
        if (token.varentropy < 0.5) continue;
        const double rate = count_rate(tokens, 0.5, token.entropy);
        most = std::max(most, rate);
        if (rate >= wanted - 1e-9) at_least = std::min(at_least, rate);
      }
      EXPECT_DOUBLE_EQ(given, std::min(at_least, most)) << seed << " " << wanted << " " << chosen.tau_h;
    }
  }
  EXPECT_EQ(thresholds_for({}, 10, {1.5, 2.5}, ThresholdChoice::kTauH).tau_h, 0);
}

TEST(Calibration, BothLeaveOutTheTenthThatGuesses) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    auto tokens = random_tokens(seed, 2000);
    const double wanted = 45;  // 90 tokens: of the 100 with the most varentropy ten are left out
    const Thresholds chosen = thresholds_for(tokens, wanted, {1.5, 0.01}, ThresholdChoice::kBoth);
    EXPECT_EQ(chosen.tau_v, thresholds_for(tokens, wanted, chosen, ThresholdChoice::kTauV).tau_v);
    EXPECT_NEAR(count_rate(tokens, chosen.tau_v, chosen.tau_h), wanted, 4);  // several have one varentropy
    std::stable_sort(tokens.begin(), tokens.end(),
                     [](const TokenStatistics& a, const TokenStatistics& b) { return a.varentropy > b.varentropy; });
    const auto beyond = std::count_if(tokens.begin(), tokens.begin() + 100,
                                      [&](const TokenStatistics& token) { return token.entropy > chosen.tau_h; });
    EXPECT_NEAR(static_cast<double>(beyond), 10, 1);
  }
  EXPECT_EQ(thresholds_for({}, 10, {1.5, 2.5}, ThresholdChoice::kBoth).tau_h, 0);
}

TEST(Calibration, ARateThatCannotBeReachedIsSaid) {
  CalibrationReport report;
  report.tokens = random_tokens(2, 500);
  report.wanted_rate = 900;
  for (const ThresholdChoice choice : {ThresholdChoice::kTauV, ThresholdChoice::kTauH}) {
    report.choice = choice;
    report.chosen = thresholds_for(report.tokens, report.wanted_rate, report.present, choice);
    EXPECT_NE(calibration_text(report, Terminal{}).find("there are no more with --tau-"), std::string::npos);
  }
  report.wanted_rate = 20;
  report.chosen = thresholds_for(report.tokens, report.wanted_rate, report.present, ThresholdChoice::kTauV);
  EXPECT_EQ(calibration_text(report, Terminal{}).find("there are no more"), std::string::npos);
}

TEST(Calibration, TheMapHasEveryToken) {
  const auto tokens = random_tokens(3, 1000);
  const HeatMap map = heat_map(tokens, 30, 10, {1.5, 2.5});
  std::int64_t sum = 0;
  for (const std::int64_t count : map.counts) sum += count;
  EXPECT_EQ(sum, 1000);
  EXPECT_GE(map.most_entropy, 2.5);
  EXPECT_GE(map.most_varentropy, 1.5);
}

TEST(Calibration, PicturesAreWellFormedWhateverTheModelIsCalled) {
  CalibrationReport report;
  report.model = "<b>\"evil\" & \x1b[2J\nname";
  report.prompts = 1;
  report.trajectories = 2;
  report.tokens = random_tokens(1, 300);
  report.wanted_rate = 10;
  report.chosen = thresholds_for(report.tokens, 10, report.present, report.choice);
  EXPECT_EQ(check_markup(calibration_svg(report), false).error, "");
  EXPECT_EQ(calibration_html(report).find("<b>"), std::string::npos);
  EXPECT_EQ(check_markup(calibration_html(report), true).error, "");
  const std::string text = calibration_text(report, Terminal{});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(calibration_profile(report).find("tau-v = "), std::string::npos);
  const Terminal plain{.fd = 1, .interactive = false, .colour = false, .unicode = false};
  for (const char c : calibration_text(report, plain).substr(calibration_text(report, plain).find("VE\n"))) {
    EXPECT_GE(c, 0);
  }
}

TEST(CalibrateCli, WritesAProfileThatRunReads) {
  setenv("DTS_CONFIG", "/dev/null", 1);
  const TemporaryDirectory folder;
  const std::vector<std::string> command = {"calibrate",
                                            "--json",
                                            "--trajectories",
                                            "2",
                                            "--rate",
                                            "40",
                                            "--save",
                                            folder.file("p.toml"),
                                            "--svg",
                                            folder.file("m.svg"),
                                            "--html",
                                            folder.file("m.html"),
                                            "-n",
                                            "200"};
  const CliResult result = run_cli(command);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json figures = json::parse(result.out);
  EXPECT_GT(figures["tokens"], 500);
  EXPECT_EQ(figures["trajectories"], 24);
  EXPECT_NEAR(figures["chosen"]["rate"], 40, 2);
  EXPECT_EQ(figures["present"]["tau_v"], 1.5);
  EXPECT_EQ(run_cli(command).out, result.out);  // the same seed, the same tokens

  std::ifstream svg(folder.file("m.svg"));
  std::stringstream picture;
  picture << svg.rdbuf();
  EXPECT_EQ(check_markup(picture.str(), false).error, "");
  const CliResult run = run_cli({"run", "--example", "1", "--json", "--profile", folder.file("p.toml")});
  ASSERT_TRUE(run.exit_code == 0 || run.exit_code == 3) << run.err;
  const json branch = json::parse(run.out)["method"]["branch"];
  EXPECT_NEAR(branch["tau_v"], figures["chosen"]["tau_v"], 1e-9);

  const CliResult text = run_cli({"calibrate", "--trajectories", "1", "-n", "100", "--no-color"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_NE(text.out.find("decisions per 1,000 tokens"), std::string::npos) << text.out;
  for (const char* choose : {"tau-h", "both"}) {
    const CliResult other = run_cli({"calibrate", "--json", "--trajectories", "2", "--rate", "10", "--choose", choose,
                                     "--tau-v", "0.05", "-n", "200"});
    ASSERT_EQ(other.exit_code, 0) << other.err;
    const json other_figures = json::parse(other.out);
    EXPECT_NEAR(other_figures["chosen"]["rate"], 10, 2) << choose;
    EXPECT_EQ(other_figures["chosen"]["tau_v"] == 0.05, std::string(choose) == "tau-h");
    EXPECT_NE(other_figures["chosen"]["tau_h"], 2.5);
  }
  const CliResult wrong = run_cli({"calibrate", "--choose", "tau"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.err.find("--choose is 'tau': it must be one of tau-v|tau-h|both"), std::string::npos) << wrong.err;
  EXPECT_EQ(run_cli({"calibrate", "--save", "x"}).exit_code, 2);
  EXPECT_EQ(run_cli({"calibrate", "--rate", "0"}).exit_code, 2);
  unsetenv("DTS_CONFIG");
}

}  // namespace
}  // namespace dts::test
