#include "draw/answer_colours.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "text/display.h"

namespace dts::draw {
namespace {

TEST(AnswerColours, GoByTheOrderOfFinishingAndStay) {
  const auto finished = [](const std::vector<std::string>& answers) {
    std::vector<FinishedTrace> traces(answers.size());
    for (std::size_t i = 0; i < answers.size(); ++i) traces[i].answer = answers[i];
    return traces;
  };
  AnswerColours colours(finished({"", "7", "9", "7", "11"}));
  EXPECT_EQ(colours.of("7").name, kAnswerColours[0].name);
  EXPECT_EQ(colours.of("9").name, kAnswerColours[1].name);
  EXPECT_EQ(colours.of("11").name, kAnswerColours[2].name);
  EXPECT_EQ(colours.of("").name, kOtherAnswer.name);
  // As a search goes on it may only add.
  AnswerColours live;
  for (const std::string answer : {"", "7", "9", "7", "11"}) live.of(answer);
  for (const std::string answer : {"7", "9", "11", "12"}) EXPECT_EQ(live.of(answer).name, colours.of(answer).name);
}

TEST(AnswerColours, AnswersBeyondTheLastColourShareOne) {
  AnswerColours colours;
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kAnswerColours.size() + 5; ++i) names.insert(colours.of(std::to_string(i)).name);
  EXPECT_EQ(names.size(), kAnswerColours.size() + 1);
  EXPECT_EQ(colours.of("0").name, kAnswerColours[0].name);
  EXPECT_EQ(colours.of("none of those").name, kOtherAnswer.name);
}

TEST(AnswerColours, WhatStandsBesideATreeLeavesItsColoursToIt) {
  AnswerColours colours;
  EXPECT_EQ(colours.beside("124").name, kAnswerColours.back().name);
  EXPECT_EQ(colours.of("236").name, kAnswerColours.front().name);
  EXPECT_EQ(colours.of("124").name, kAnswerColours.back().name);
  EXPECT_EQ(colours.beside("236").name, kAnswerColours.front().name);
  EXPECT_EQ(colours.beside("").name, kOtherAnswer.name);
  for (std::size_t i = 2; i < kAnswerColours.size(); ++i) {
    EXPECT_NE(colours.of(std::to_string(i)).name, kOtherAnswer.name);
  }
  EXPECT_EQ(colours.beside("one more").name, kOtherAnswer.name);
}

TEST(AnswerColours, MarksTakeOneCell) {
  for (const AnswerColour& colour : kAnswerColours) EXPECT_EQ(text::display_width(colour.mark), 1) << colour.name;
  for (const auto mark : {kOtherAnswer.mark, kRightSign, kWrongSign}) EXPECT_EQ(text::display_width(mark), 1) << mark;
}

}  // namespace
}  // namespace dts::draw
