#include "dts/vote.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <random>

namespace dts {
namespace {

TEST(Vote, MajorityWinsWithItsShortestTrace) {
  const std::vector<Ballot> ballots = {{"7", 50}, {"8", 20}, {"8", 10}, {"7", 40}, {"8", 30}};
  const auto counts = count_votes(ballots);
  ASSERT_EQ(counts.size(), 2U);
  EXPECT_EQ(counts[0].answer, "8");
  EXPECT_EQ(counts[0].votes, 3);
  EXPECT_EQ(counts[0].first, 1);
  EXPECT_EQ(counts[0].shortest, 2);
}

TEST(Vote, ATieGoesToTheAnswerThatFinishedFirst) {
  const std::vector<Ballot> ballots = {{"b", 9}, {"a", 1}, {"a", 1}, {"b", 9}};
  EXPECT_EQ(count_votes(ballots).front().answer, "b");
}

TEST(Vote, EmptyAnswersDoNotVote) {
  const std::vector<Ballot> ballots = {{"", 1}, {"", 1}, {"x", 5}};
  const auto counts = count_votes(ballots);
  ASSERT_EQ(counts.size(), 1U);
  EXPECT_EQ(counts.front().first, 2);
  EXPECT_TRUE(count_votes(std::vector<Ballot>{{"", 3}}).empty());
  EXPECT_TRUE(count_votes({}).empty());
}

TEST(Vote, OfEquallyShortTracesTheFirstIsReturned) {
  const std::vector<Ballot> ballots = {{"x", 5}, {"x", 4}, {"x", 4}};
  EXPECT_EQ(count_votes(ballots).front().shortest, 1);
}

TEST(Vote, WeightsDecideAndZeroDoesNotVote) {
  const std::vector<Ballot> ballots = {{"a", 9, 1.0}, {"b", 9, 2.5}, {"a", 9, 1.0}, {"c", 9, 0.0}};
  const auto counts = count_votes(ballots);
  ASSERT_EQ(counts.size(), 2U);
  EXPECT_EQ(counts[0].answer, "b");
  EXPECT_EQ(counts[0].votes, 1);
  EXPECT_EQ(counts[1].votes, 2);
  EXPECT_DOUBLE_EQ(counts[1].weight, 2.0);
}

// Values of the regularised incomplete beta function at 1/2.
TEST(Vote, CertaintyOfAMajority) {
  EXPECT_DOUBLE_EQ(majority_certainty(0, 0), 0.5);
  EXPECT_DOUBLE_EQ(majority_certainty(1, 0), 0.75);
  EXPECT_DOUBLE_EQ(majority_certainty(4, 0), 0.96875);
  EXPECT_DOUBLE_EQ(majority_certainty(3, 1), 0.8125);
  EXPECT_DOUBLE_EQ(majority_certainty(5, 5), 0.5);
}

// A relation that is not transitive makes classes all the same: every answer is in one, spelled as its first.
TEST(AnswerClasses, AreAPartitionWhateverTheRelation) {
  std::mt19937 rng(2);
  for (int round = 0; round < 300; ++round) {
    const int reach = static_cast<int>(rng() % 4);
    const SameAnswer same = [reach](const std::string& a, const std::string& b) {
      return std::abs(std::stoi(a) - std::stoi(b)) <= reach;
    };
    AnswerClasses classes(same);
    std::map<std::string, std::string> first;
    std::vector<std::string> founders;
    for (int i = 0; i < 30; ++i) {
      const std::string answer = std::to_string(rng() % 20);
      const std::string found = classes.class_of(answer);
      EXPECT_EQ(first.try_emplace(answer, found).first->second, found) << "an answer changed its class";
      EXPECT_EQ(first.at(found), found) << "a class is not spelled as one of its own";
      EXPECT_TRUE(found == answer || same(found, answer));
      if (found == answer && std::find(founders.begin(), founders.end(), answer) == founders.end()) {
        for (const std::string& earlier : founders) EXPECT_FALSE(same(earlier, answer));
        founders.push_back(answer);
      }
    }
    EXPECT_EQ(classes.class_of(""), "");
  }
}

TEST(LengthPenalty, IsThatOfWuAndOthers) {
  EXPECT_DOUBLE_EQ(length_penalised(-6, 7, 0), -6);
  EXPECT_DOUBLE_EQ(length_penalised(-6, 7, 1), -3);
  EXPECT_NEAR(length_penalised(-6, 100, 0.6), -6 / std::pow(17.5, 0.6), 1e-12);
}

TEST(Vote, EqualsAPlainRecount) {
  std::mt19937 rng(1);
  for (int round = 0; round < 500; ++round) {
    std::vector<Ballot> ballots(rng() % 12);
    for (Ballot& ballot : ballots) {
      const auto answer = rng() % 4;
      ballot = {answer == 0 ? "" : std::to_string(answer), static_cast<int>(rng() % 5)};
    }
    std::map<std::string, int> plain;
    for (const Ballot& ballot : ballots) {
      if (!ballot.answer.empty()) ++plain[ballot.answer];
    }
    const auto counts = count_votes(ballots);
    ASSERT_EQ(counts.size(), plain.size());
    for (std::size_t i = 0; i < counts.size(); ++i) {
      EXPECT_EQ(counts[i].votes, plain[counts[i].answer]);
      if (i == 0) continue;
      EXPECT_TRUE(counts[i - 1].votes > counts[i].votes ||
                  (counts[i - 1].votes == counts[i].votes && counts[i - 1].first < counts[i].first));
    }
  }
}

}  // namespace
}  // namespace dts
