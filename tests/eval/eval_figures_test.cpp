// Every number of a report against an obvious recount of rows written by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "eval/report/figures.h"
#include "eval/report/results.h"
#include "eval/run/protocol.h"
#include "support/eval_support.h"
#include "support/results_file.h"

namespace dts::eval::report {
namespace {

using eval::test::ResultsFile;
using eval::test::TemporaryDirectory;

class FiguresTest : public testing::Test {
 protected:
  std::string file(const std::string& name = "results.db") const { return (directory_.path() / name).string(); }
  TemporaryDirectory directory_;
};

TEST_F(FiguresTest, ASummaryCountsWhatTheRowsSay) {
  {
    ResultsFile results(file());
    results.method("standard");
    results.method("dts-stable");
    // Two questions, two seeds: standard 1, 0 | 0, 0; dts-stable 1, 1 | 1, 0.
    results.add("standard", "q1", 0, 1);
    results.add("standard", "q1", 1, 0);
    results.add("standard", "q2", 0, 0);
    results.add("standard", "q2", 1, 0, [](Row& row) {  // never ended
      row.finished = row.extracted = false;
      row.answer = "";
      row.votes = 0;
      row.exhausted = 1;
      row.chosen_tokens = 0;
      row.traces.clear();
    });
    const auto tree = [](int votes, int exhausted, int chosen, const std::vector<TraceResult>& traces) {
      return [=](Row& row) {
        row.votes = votes;
        row.exhausted = exhausted;
        row.chosen_tokens = chosen;
        row.unique_tokens = 700;
        row.branch_tokens = 1400;
        row.prompt_tokens = 30;
        row.steps = 120;
        row.branch_events = 6;
        row.seconds = 0.5;
        row.flops = 4e9;
        row.traces = traces;
      };
    };
    results.add("dts-stable", "q1", 0, 1, tree(3, 1, 110, {{110, 1, "1"}, {115, 0, "2"}, {120, 1, "1"}}));
    results.add("dts-stable", "q1", 1, 1, tree(2, 0, 90, {{90, 1, "1"}, {120, 1, "1"}}));
    results.add("dts-stable", "q2", 0, 1, tree(2, 2, 100, {{100, 1, "1"}, {120, 1, "1"}}));
    results.add("dts-stable", "q2", 1, 0, [&](Row& row) {
      tree(2, 0, 80, {{80, 0, ""}, {120, 1, "1"}})(row);
      row.extracted = false;
      row.answer = "";
      row.seconds = 1.5;
    });
  }
  const Results results({file()});
  ASSERT_EQ(results.benchmarks().size(), 1U);
  const Benchmark& benchmark = results.benchmarks().front();
  const Summary s = summarise(benchmark.find("dts-stable")->rows, benchmark.baseline());
  EXPECT_EQ(s.questions, 2U);
  EXPECT_EQ(s.seeds, 2U);
  EXPECT_EQ(s.rows, 4U);
  EXPECT_DOUBLE_EQ(s.accuracy.mean, 3.0 / 4);
  ASSERT_TRUE(s.difference);
  EXPECT_DOUBLE_EQ(s.difference->mean, ((1 - 1) + (1 - 0) + (1 - 0) + (0 - 0)) / 4.0);
  EXPECT_DOUBLE_EQ(s.majority.mean, 1.0);  // q1: both right; q2: one right, the other gave no answer
  EXPECT_DOUBLE_EQ(s.pass.mean, 1.0);
  EXPECT_DOUBLE_EQ(s.any_right.mean, 1.0);
  EXPECT_DOUBLE_EQ(s.unfinished.mean, 0);
  EXPECT_DOUBLE_EQ(s.branch_tokens, 1400);
  EXPECT_DOUBLE_EQ(s.unique_tokens, 700);
  EXPECT_DOUBLE_EQ(s.prompt_tokens, 30);
  EXPECT_DOUBLE_EQ(s.steps, 120);
  EXPECT_DOUBLE_EQ(s.chosen_tokens, (110 + 90 + 100 + 80) / 4.0);
  EXPECT_DOUBLE_EQ(s.branch_events, 6);
  EXPECT_DOUBLE_EQ(s.seconds, (0.5 * 3 + 1.5) / 4);
  EXPECT_DOUBLE_EQ(s.flops.mean, 4e9);
  EXPECT_DOUBLE_EQ(s.truncated, 3.0 / (3 + 1 + 2 + 2 + 2 + 2));
  EXPECT_DOUBLE_EQ(s.unextracted, 1.0 / 4);

  const Summary standard = summarise(benchmark.baseline(), benchmark.baseline());
  EXPECT_FALSE(standard.difference);
  EXPECT_DOUBLE_EQ(standard.accuracy.mean, 1.0 / 4);
  EXPECT_DOUBLE_EQ(standard.majority.mean, 0.5);  // q1: a tie goes to the answer given first, which is right
  EXPECT_DOUBLE_EQ(standard.pass.mean, 0.5);
  EXPECT_DOUBLE_EQ(standard.unfinished.mean, 1.0 / 4);
  EXPECT_DOUBLE_EQ(standard.truncated, 1.0 / 4);
  EXPECT_DOUBLE_EQ(standard.chosen_tokens, 100);  // of those that have one
  EXPECT_DOUBLE_EQ(standard.unextracted, 0);      // of those that finished
}

TEST_F(FiguresTest, MajorityAndPassAreWhatTheirNamesSay) {
  const std::vector<TraceResult> samples = {{9, 0, "2"}, {9, 1, "1"}, {9, 1, "1"},
                                            {9, 0, ""},  {9, 0, "3"}, {9, 0, "3"}};
  EXPECT_DOUBLE_EQ(majority_score(samples), 1);  // 1 and 3 have two votes; 1 came first
  EXPECT_DOUBLE_EQ(majority_score({}), 0);
  EXPECT_DOUBLE_EQ(maj_at_k(samples, 1), 2.0 / 6);
  EXPECT_DOUBLE_EQ(maj_at_k(samples, 2), (0 + 1 + 0) / 3.0);  // {2,1} -> 2; {1,none} -> 1; {3,3}
  EXPECT_DOUBLE_EQ(maj_at_k(samples, 3), (1 + 0) / 2.0);
  EXPECT_DOUBLE_EQ(maj_at_k(samples, 4), 1);  // two samples are left over
}

TEST_F(FiguresTest, AnAverageGivesEveryDatasetTheSameWeight) {
  {
    ResultsFile results(file());
    for (const auto& [dataset, questions, right, base] :
         std::vector<std::tuple<std::string, int, int, int>>{{"aime24", 10, 5, 1}, {"gpqa-diamond", 40, 30, 20}}) {
      results.on("a model", dataset);
      results.method("standard");
      results.method("dts-greedy");
      for (int q = 0; q < questions; ++q) {
        results.add("standard", "q" + std::to_string(q), 0, q < base ? 1 : 0);
        results.add("dts-greedy", "q" + std::to_string(q), 0, q < right ? 1 : 0);
      }
    }
    // LiveBench: the mean of its tasks' means, as one dataset among the three.
    results.on("a model", "livebench-reasoning");
    results.method("dts-greedy");
    results.method("standard");
    for (int q = 0; q < 12; ++q) {
      const auto task = [q](Row& row) { row.task = q < 2 ? "spatial" : "zebra_puzzle"; };
      results.add("dts-greedy", "q" + std::to_string(q), 0, q < 2 ? 1 : 0.5, task);
      results.add("standard", "q" + std::to_string(q), 0, 0, task);
    }
    results.method("self-consistency");
    results.add("self-consistency", "q0", 0, 1);  // not on every dataset: no average
  }
  const Results results({file()});
  const std::vector<Average> all = averages(results);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[1].method, "dts-greedy");
  EXPECT_EQ(all[1].datasets, 3U);
  EXPECT_NEAR(all[1].accuracy.mean, (0.5 + 0.75 + (1.0 + 0.5) / 2) / 3, 1e-12);
  ASSERT_TRUE(all[1].difference);
  EXPECT_NEAR(all[1].difference->mean, (0.4 + 0.25 + 0.75) / 3, 1e-12);
  EXPECT_LT(all[1].accuracy.low, all[1].accuracy.mean);
  EXPECT_GT(all[1].accuracy.high, all[1].accuracy.mean);
  EXPECT_FALSE(all[0].difference);
  EXPECT_NEAR(all[0].accuracy.mean, (0.1 + 0.5 + 0.0) / 3, 1e-12);
}

TEST_F(FiguresTest, RatesAreAveragedOverDatasetsWithTheSameWeight) {
  {
    ResultsFile results(file());
    for (const char* dataset : {"aime24", "aime25"}) {
      results.on("m", dataset);
      results.method("standard");
      results.method("dts-greedy");
      const int questions = std::string(dataset) == "aime24" ? 2 : 6;
      for (int q = 0; q < questions; ++q) {
        const auto ended = [&](bool did) { return [did](Row& row) { row.finished = did; }; };
        results.add("standard", "q" + std::to_string(q), 0, 0, ended(questions == 6));  // all of aime24 never end
        results.add("dts-greedy", "q" + std::to_string(q), 0, 1, ended(true));
      }
    }
  }
  const Results results({file()});
  std::vector<const Benchmark*> both;
  for (const Benchmark& benchmark : results.benchmarks()) both.push_back(&benchmark);
  const auto rate = [](const Row& row) { return row.finished ? 0.0 : 1.0; };
  const std::optional<Versus> average = average_versus(both, "standard", "dts-greedy", rate);
  ASSERT_TRUE(average.has_value());
  EXPECT_DOUBLE_EQ(average->first.mean, 0.5);  // not 2 of 8
  EXPECT_DOUBLE_EQ(average->second.mean, 0);
  ASSERT_TRUE(average->difference.has_value());
  EXPECT_DOUBLE_EQ(average->difference->mean, -0.5);
  EXPECT_FALSE(average_versus({both.front()}, "standard", "dts-greedy", rate).has_value());
  // And so is what the paper's Figure 5 shows.
  const std::vector<Average> years = averages(results, {"aime24", "aime25"});
  ASSERT_EQ(years.size(), 2U);
  EXPECT_TRUE(averages(results, {"aime24", "gpqa-diamond"}).empty());
  const std::optional<Interval> gained = paired_difference(both, "standard", "dts-greedy");
  ASSERT_TRUE(gained.has_value());
  EXPECT_DOUBLE_EQ(gained->mean, 1);
}

TEST_F(FiguresTest, TwoMethodsArePairedByQuestionAndSeed) {
  {
    ResultsFile results(file());
    results.method("standard");
    results.method("dts-greedy");
    for (int q = 0; q < 8; ++q) {
      for (std::uint64_t seed = 0; seed < 2; ++seed) {
        results.add("standard", "q" + std::to_string(q), seed, 0, [&](Row& row) { row.finished = q >= 3; });
      }
      results.add("dts-greedy", "q" + std::to_string(q), 0, 1, [&](Row& row) { row.finished = q != 7; });
    }
  }
  const Results results({file()});
  const auto unfinished = [](const Row& row) { return row.finished ? 0.0 : 1.0; };
  const auto found = versus(results.benchmarks().front(), "standard", "dts-greedy", unfinished, false);
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(found->first.mean, 3.0 / 8);
  EXPECT_DOUBLE_EQ(found->second.mean, 1.0 / 8);
  ASSERT_TRUE(found->difference);
  EXPECT_DOUBLE_EQ(found->difference->mean, (-3.0 + 1.0) / 8);  // seed 0 only: seed 1 has no twin
  EXPECT_FALSE(versus(results.benchmarks().front(), "max-logit", "dts-greedy", unfinished, false));
}

TEST_F(FiguresTest, CriteriaAreToldApartByTheirSettings) {
  {
    ResultsFile results(file());
    const auto rule = [](const std::string& criterion, const std::string& tau_h) {
      return nlohmann::json{{"criterion", criterion}, {"tau_v", "1.5"}, {"tau_h", tau_h}};
    };
    const auto add = [&](const std::string& label, const nlohmann::json& settings, double score) {
      results.method(label, settings);
      results.add(label, "q", 0, score, [](Row& row) { row.branch_events = 4; });
    };
    add("dts-greedy", rule("decision", "2.5"), 0.25);
    add("dts-stable", rule("decision", "2.5"), 0.5);
    add("dts-stable:tau-h=1.2", rule("decision", "1.2"), 0.75);
    add("dts-greedy:criterion=high-entropy", rule("high-entropy", "2.5"), 0.0);
    add("dts-stable:criterion=either", rule("either", "2.5"), 1.0);
    add("dts-stable:votes=16", rule("decision", "2.5"), 0.1);  // varies something else
    add("max-logit", rule("decision", "2.5"), 0.2);
  }
  const Results results({file()});
  const std::vector<CriterionRow> rows = criteria(results.benchmarks().front());
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].criterion, "high-entropy");
  EXPECT_DOUBLE_EQ(rows[0].greedy.value().accuracy.mean, 0.0);
  EXPECT_FALSE(rows[0].stable);
  EXPECT_EQ(rows[1].criterion, "either");
  EXPECT_DOUBLE_EQ(rows[1].stable.value().accuracy.mean, 1.0);
  EXPECT_EQ(rows[2].tau_h, "2.5");
  EXPECT_DOUBLE_EQ(rows[2].greedy.value().accuracy.mean, 0.25);
  EXPECT_DOUBLE_EQ(rows[2].stable.value().accuracy.mean, 0.5);
  EXPECT_DOUBLE_EQ(rows[2].stable.value().branch_events, 4);
  EXPECT_EQ(rows[3].tau_h, "1.2");
  EXPECT_DOUBLE_EQ(rows[3].stable.value().accuracy.mean, 0.75);
  // The variants of the rule stay out of the other tables; the one that varies the votes does not.
  EXPECT_TRUE(results.benchmarks().front().find("dts-stable:tau-h=1.2")->ablation);
  EXPECT_FALSE(results.benchmarks().front().find("dts-stable:votes=16")->ablation);
  EXPECT_FALSE(results.benchmarks().front().find("max-logit")->ablation);
}

TEST_F(FiguresTest, LengthsAreCutIntoTenths) {
  {
    ResultsFile results(file());
    results.method(std::string(kSamplesLabel), {{"method", "standard"}});
    // Question a is short and always right, b long; 10 samples each, lengths 10..19 and 110..119; the long half of b is
    // wrong, and its longest never ends, which counts at its steps.
    for (int i = 0; i < 10; ++i) {
      results.add(std::string(kSamplesLabel), "a", static_cast<std::uint64_t>(i), 1,
                  [&](Row& row) { row.chosen_tokens = 19 - i; });
      results.add(std::string(kSamplesLabel), "b", static_cast<std::uint64_t>(i), i < 5 ? 1 : 0, [&](Row& row) {
        row.chosen_tokens = 110 + i;
        row.finished = i != 9;
        if (i == 9) {
          row.chosen_tokens = 0;
          row.steps = 500;
        }
      });
    }
  }
  const Results results({file()});
  const auto study = length_study(results.benchmarks().front());
  ASSERT_TRUE(study);
  EXPECT_EQ(study->questions, 2U);
  EXPECT_EQ(study->samples, 20U);
  ASSERT_EQ(study->pooled.size(), 10U);
  const std::vector<double> pooled = {1, 1, 1, 1, 1, 1, 1, 0.5, 0, 0};  // two samples each
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(study->pooled[i].samples, 2U);
    EXPECT_DOUBLE_EQ(study->pooled[i].accuracy.mean, pooled[i]) << i;
  }
  EXPECT_EQ(study->pooled[0].shortest, 10);
  EXPECT_EQ(study->pooled[0].longest, 11);
  EXPECT_DOUBLE_EQ(study->pooled[0].mean_length, 10.5);
  EXPECT_EQ(study->pooled[9].shortest, 118);
  EXPECT_EQ(study->pooled[9].longest, 500);
  ASSERT_EQ(study->within.size(), 10U);
  for (std::size_t i = 0; i < 10; ++i) {  // one of a and one of b each
    EXPECT_EQ(study->within[i].samples, 2U);
    EXPECT_DOUBLE_EQ(study->within[i].accuracy.mean, i < 5 ? 1.0 : 0.5) << i;
  }
  EXPECT_DOUBLE_EQ(study->shortest_less_longest.value().mean, ((1 - 1) + (1 - 0)) / 2.0);
}

TEST_F(FiguresTest, TheSamplingCurveIsRecounted) {
  {
    ResultsFile results(file());
    results.method("standard");
    // q1: right in 3 of 5, q2: in 1 of 5; answers 1 (right), 2, 3.
    const std::vector<std::string> q1 = {"1", "2", "1", "1", "2"};
    const std::vector<std::string> q2 = {"2", "2", "1", "3", "3"};
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const auto answer = [seed](const std::vector<std::string>& answers) {
        return [&answers, seed](Row& row) { row.answer = answers[seed]; };
      };
      results.add("standard", "q1", seed, q1[seed] == "1" ? 1 : 0, answer(q1));
      results.add("standard", "q2", seed, q2[seed] == "1" ? 1 : 0, answer(q2));
    }
  }
  const Results results({file()});
  const auto curve = sampling_curve(results.benchmarks().front());
  ASSERT_TRUE(curve);
  EXPECT_EQ(curve->n, 5);
  EXPECT_DOUBLE_EQ(curve->average.mean, 4.0 / 10);
  ASSERT_EQ(curve->points.size(), 4U);  // 1, 2, 4, 5
  EXPECT_DOUBLE_EQ(curve->points[0].majority.mean, 0.4);
  EXPECT_DOUBLE_EQ(curve->points[0].pass.mean, 0.4);
  EXPECT_EQ(curve->points[1].k, 2);
  // q1: {1,2} -> 1 (a tie, given first), {1,1} -> 1; q2: {2,2} -> 2, {1,3} -> 1.
  EXPECT_DOUBLE_EQ(curve->points[1].majority.mean, (1.0 + 0.5) / 2);
  // Pairs without a right one: q1 1 of 10, q2 6 of 10.
  EXPECT_DOUBLE_EQ(curve->points[1].pass.mean, ((1 - 0.1) + (1 - 0.6)) / 2);
  EXPECT_EQ(curve->points[2].k, 4);
  EXPECT_DOUBLE_EQ(curve->points[2].majority.mean, (1.0 + 0.0) / 2);
  EXPECT_DOUBLE_EQ(curve->points[2].pass.mean, (1.0 + (1 - 1.0 / 5)) / 2);
  EXPECT_EQ(curve->points[3].k, 5);
  EXPECT_DOUBLE_EQ(curve->points[3].majority.mean, (1.0 + 0.0) / 2);  // q2: 2 and 3 tie, 2 came first
  EXPECT_DOUBLE_EQ(curve->points[3].pass.mean, 1.0);
}

TEST_F(FiguresTest, ARadarHasTheDatasetsOrTheirParts) {
  {
    ResultsFile results(file());
    results.method("standard");
    results.method("dts-stable");
    for (int q = 0; q < 6; ++q) {
      const auto part = [q](Row& row) {
        row.task = q % 3 == 0 ? "maze" : q % 3 == 1 ? "order" : "sum";
        row.difficulty = q < 2 ? "easy" : q < 3 ? "medium" : "hard";
      };
      results.add("standard", "q" + std::to_string(q), 0, q < 3 ? 1 : 0, part);
      results.add("dts-stable", "q" + std::to_string(q), 0, 1, part);
    }
  }
  const Results results({file()});
  const std::vector<Radar> parts = radars(results);
  ASSERT_EQ(parts.size(), 2U);  // tasks and difficulties are never on one web
  EXPECT_EQ(parts[0].by, "task");
  EXPECT_EQ(parts[0].axes, (std::vector<std::string>{"maze", "order", "sum"}));
  ASSERT_EQ(parts[0].series.size(), 2U);
  EXPECT_EQ(parts[0].series[0].name, "standard");
  for (const double accuracy : parts[0].series[0].accuracy) EXPECT_DOUBLE_EQ(accuracy, 0.5);  // q0 of q0, q3
  EXPECT_EQ(parts[1].by, "difficulty");
  EXPECT_EQ(parts[1].axes, (std::vector<std::string>{"easy", "medium", "hard"}));
  EXPECT_DOUBLE_EQ(parts[1].series[0].accuracy[0], 1);
  EXPECT_DOUBLE_EQ(parts[1].series[0].accuracy[1], 1);
  EXPECT_DOUBLE_EQ(parts[1].series[0].accuracy[2], 0);

  {
    ResultsFile several(file("several.db"));
    for (const char* dataset : {"aime24", "aime25", "gpqa-diamond"}) {
      several.on("m", dataset);
      several.method("standard");
      several.add("standard", "q", 0, 1);
    }
  }
  const std::vector<Radar> sets = radars(Results({file("several.db")}));
  ASSERT_EQ(sets.size(), 1U);
  EXPECT_EQ(sets[0].axes, (std::vector<std::string>{"aime24", "aime25", "gpqa-diamond"}));
}

TEST_F(FiguresTest, FilesAreMerged) {
  const nlohmann::json cold = {{"temperature", 0.1}};
  {
    ResultsFile first(file("first.db"));
    first.method("standard", cold);
    first.add("standard", "q1", 0, 1);
    ResultsFile same(file("same.db"));
    same.method("standard", cold);
    same.add("standard", "q1", 0, 0);  // the first file's row counts
    same.add("standard", "q2", 0, 1);
    ResultsFile other(file("hot.db"));
    other.method("standard", {{"temperature", 1.0}});
    other.add("standard", "q1", 0, 0);
    ResultsFile model(file("model.db"), "another model");
    model.method("standard", cold);
    model.add("standard", "q1", 0, 1);
  }
  const Results results({file("first.db"), file("same.db"), file("hot.db"), file("model.db")});
  EXPECT_EQ(results.rows(), 4U);
  EXPECT_EQ(results.models(), (std::vector<std::string>{"a model", "a model (hot)", "another model"}));
  EXPECT_EQ(results.benchmarks()[0].baseline().size(), 2U);
  EXPECT_DOUBLE_EQ(summarise(results.benchmarks()[0].baseline(), {}).accuracy.mean, 1);
  EXPECT_DOUBLE_EQ(summarise(results.benchmarks()[1].baseline(), {}).accuracy.mean, 0);
}

TEST_F(FiguresTest, FilesOfOneNameAreToldApartByTheirPaths) {
  const std::vector<std::string> names = {"a/results.db", "b/results.db", "c/results.db"};
  std::vector<std::string> files;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::filesystem::create_directories(std::filesystem::path(file(names[i])).parent_path());
    files.push_back(file(names[i]));
    ResultsFile results(files.back());
    results.method("standard", {{"temperature", 0.1 * static_cast<double>(i + 1)}});
    results.add("standard", "q1", 0, i == 1 ? 1 : 0);
  }
  const Results results(files);
  EXPECT_EQ(results.rows(), 3U);
  EXPECT_EQ(results.models(),
            (std::vector<std::string>{"a model", "a model (" + files[1] + ")", "a model (" + files[2] + ")"}));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_DOUBLE_EQ(summarise(results.benchmarks()[i].baseline(), {}).accuracy.mean, i == 1 ? 1 : 0) << i;
  }
}

TEST_F(FiguresTest, MethodsComeInTheirOrderUnderTheirNames) {
  {
    ResultsFile results(file());
    for (const char* label : {"short-m@k:votes=3:samples=8", "dts-stable", "self-consistency", "standard", "my-own"}) {
      nlohmann::json settings = nlohmann::json::object();
      if (std::string(label).starts_with("short")) settings = {{"stop_finished", 3}, {"width", 8}};
      results.method(label, settings);
      results.add(label, "q", 0, 1);
    }
  }
  const Results results({file()});
  std::vector<std::string> names;
  for (const MethodResults& method : results.benchmarks().front().methods) names.push_back(method.name);
  EXPECT_EQ(names, (std::vector<std::string>{"standard", "self-consistency", "short-3@8", "dts-stable", "my-own"}));
}

}  // namespace
}  // namespace dts::eval::report
