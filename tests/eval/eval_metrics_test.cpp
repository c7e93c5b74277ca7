#include <gtest/gtest.h>

#include "eval/report/metrics.h"

namespace dts::eval {
namespace {

Row row(const std::string& method, std::uint64_t seed, const std::string& question, double score,
        const std::string& dataset = "aime24", const std::string& task = "") {
  Row row;
  row.key = {"m", dataset, method, seed, question};
  row.score = score;
  row.task = task;
  row.finished = true;
  row.extracted = true;
  row.unique_tokens = 100;
  return row;
}

TEST(Metrics, PassAtKIsUnbiased) {
  EXPECT_DOUBLE_EQ(pass_at_k(10, 0, 3), 0.0);
  EXPECT_DOUBLE_EQ(pass_at_k(10, 10, 1), 1.0);
  EXPECT_DOUBLE_EQ(pass_at_k(10, 3, 1), 0.3);
  EXPECT_DOUBLE_EQ(pass_at_k(4, 2, 2), 1.0 - 1.0 / 6.0);
  EXPECT_DOUBLE_EQ(pass_at_k(4, 3, 2), 1.0);
}

TEST(Metrics, VotesAcrossSeedsCountMeanings) {
  const std::vector<TraceResult> samples = {{9, 0, "7"}, {9, 1, "70sqrt(2)"}, {9, 1, "70*sqrt(2)"}};
  EXPECT_EQ(majority_score(samples), 0.0);  // three texts: the first wins the tie
  EXPECT_EQ(majority_score(samples, same_answers_of("math-500")), 1.0);
  EXPECT_EQ(same_answers_of("gpqa-diamond"), nullptr);
}

// Two seeds showed the options in other orders: the letters they chose are not the same option.
TEST(Metrics, LettersAreThoseOfTheDatasetsOwnOrder) {
  Row a = row("m", 0, "q", 1.0, "gpqa-diamond");
  a.answer = "A";
  a.options = "CABD";
  EXPECT_EQ(as_sample(a).answer, "C");
  a.answer = "D";
  EXPECT_EQ(as_sample(a).answer, "D");
  a.options.clear();
  EXPECT_EQ(as_sample(a).answer, "D");
}

TEST(Metrics, DifferencesArePairedByQuestionAndSeed) {
  std::vector<Row> rows;
  for (int q = 0; q < 20; ++q) {
    const std::string id = std::to_string(q);
    const double base = q % 2;
    rows.push_back(row("standard", 0, id, base));
    rows.push_back(row("dts-stable", 0, id, 1.0));
    rows.push_back(row("dts-stable", 1, id, 1.0));  // no twin: not compared
  }
  const auto summaries = summarise(rows);
  ASSERT_EQ(summaries.size(), 2U);
  EXPECT_EQ(summaries[0].method, "standard");
  EXPECT_FALSE(summaries[0].difference.has_value());
  EXPECT_DOUBLE_EQ(summaries[0].accuracy.mean, 0.5);
  ASSERT_TRUE(summaries[1].difference.has_value());
  EXPECT_DOUBLE_EQ(summaries[1].difference->mean, 0.5);
  EXPECT_GT(summaries[1].difference->low, 0.2);
  EXPECT_EQ(summaries[1].rows, 40U);
  EXPECT_EQ(summaries[1].seeds, 2U);
  EXPECT_DOUBLE_EQ(summaries[1].unique_tokens, 100);
}

TEST(Metrics, LiveBenchIsTheMeanOfItsTasksMeans) {
  std::vector<Row> rows;
  for (int q = 0; q < 10; ++q)
    rows.push_back(row("m", 0, "z" + std::to_string(q), 1.0, "livebench-reasoning", "zebra_puzzle"));
  for (int q = 0; q < 2; ++q)
    rows.push_back(row("m", 0, "s" + std::to_string(q), 0.0, "livebench-reasoning", "spatial"));
  EXPECT_DOUBLE_EQ(summarise(rows).front().accuracy.mean, 0.5);
}

TEST(Metrics, UnfinishedRunsCountAsWrongAndAreReported) {
  std::vector<Row> rows = {row("m", 0, "a", 1.0), row("m", 0, "b", 0.0), row("m", 0, "c", 0.0)};
  rows[1].finished = false;
  rows[1].extracted = false;
  rows[2].extracted = false;
  const Summary summary = summarise(rows).front();
  EXPECT_NEAR(summary.accuracy.mean, 1.0 / 3, 1e-12);
  EXPECT_NEAR(summary.unfinished.mean, 1.0 / 3, 1e-12);
  EXPECT_NEAR(summary.unextracted, 0.5, 1e-12);
}

}  // namespace
}  // namespace dts::eval
