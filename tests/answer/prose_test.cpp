// What the last lines of a text without a box state: values in sentences, lists of equations, bold, other scripts.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "dts/answer.h"

namespace dts {
namespace {

struct Text {
  std::string text;
  std::string answer;
};

void expect_answers(const std::vector<Text>& texts) {
  for (const Text& it : texts) {
    const std::string found = extract_answer(it.text, false);
    EXPECT_TRUE(equivalent(found, it.answer)) << it.text << "\nfound: " << found << "\nit says: " << it.answer;
  }
}

void expect_none(const std::vector<Text>& texts) {
  for (const Text& it : texts) {
    const std::string found = extract_answer(it.text, false);
    EXPECT_FALSE(equivalent(found, it.answer)) << it.text << "\ndoes not say " << found;
  }
}

TEST(Prose, ASentenceThatEndsInAValue) {
  expect_answers({{"So the whole simplifies to x+1.", "x+1"},
                  {"That comes to 12.", "12"},
                  {"It amounts to $7$ alone.", "7"},
                  {"So I'd go with 42.", "42"},
                  {"They meet at 10:45 a.m.", "10:45 am"}});
  expect_none({{"The sum is not 12.", "12"}, {"They look at 12 boxes.", "12"}, {"I would not go with 42.", "42"}});
}

TEST(Prose, ASentenceWithItsReason) {
  expect_answers({{"It is 12, since 3 * 4 = 12.", "12"},
                  {"The number of ways is 35, because 7*5=35.", "35"},
                  {"It is 12, which is even.", "12"}});
  // What follows the reason may be the answer.
  expect_none({{"It is 12, since 3 * 4 = 12, so we get 12 + 1 things.", "12"}});
}

TEST(Prose, CountsWithUnitsAndInWords) {
  expect_answers({{"Tom has nineteen marbles.", "19"},
                  {"The bag holds 75 marbles.", "75"},
                  {"The bridge lasts 40 years.", "40"},
                  {"The ticket costs him 15 dollars.", "15"}});
  expect_none({{"Tom has 3 more marbles.", "3"}, {"If Tom has 3 marbles", "3"}});
}

TEST(Prose, CountsInConclusions) {
  expect_answers({{"In total, she has 12 apples.", "12"},
                  {"So, in total, Mary sold 12 tickets.", "12"},
                  {"Altogether 12 apples.", "12"},
                  {"I get 12 as the final answer.", "12"},
                  {"So Jim spent a total of 12 dollars on fruit.", "12"},
                  {"Thus she earned $12.", "12"},
                  {"As a result, the train arrives after 12 hours.", "12"}});
  expect_none({{"So she did not buy 12 of them.", "12"},
               {"In total, we look at 12 cases.", "12"},
               {"If she sold 12 tickets, it fits.", "12"},
               {"Mary sold 12 or more tickets.", "12"}});
}

TEST(Prose, AWordThatAnswers) {
  expect_answers({{"Hence the function is odd.", "odd"},
                  {"It must be an ellipse (not a circle).", "ellipse"},
                  {"Therefore the system has no solutions.", "no solutions"}});
  expect_none({{"The function is not odd.", "odd"}, {"We add one to it, which is odd.", "odd"}});
}

TEST(Prose, EquationsInAList) {
  expect_answers(
      {{"The solution:\n- $x = 2$\n- $y = 3$", "x=2, y=3"}, {"We find\n* **a = 1**\n* **b = 4**", "a=1, b=4"}});
  // A letter twice is two steps, or two roots: no tuple.
  expect_none({{"Then\n- x = 2\n- x = 3", "(2,3)"}});
}

TEST(Prose, BoldAtTheFrontOrInTheLastLine) {
  expect_answers({{"**11/36**\n\nThis is the share of pairs with a six.", "11/36"},
                  {"Adding all of them leads to **56** such paths in the grid.", "56"}});
  expect_none({{"**11/36**\n\nBut we must count again.", "11/36"},
               {"Both **56** and **57** are in the grid.", "56"},
               {"**Note:** there may be others in the grid.", "note"}});
}

TEST(Prose, LinesThatOnlyCloseAreNoAnswer) {
  expect_answers({{"The number of ways is 12.\n\nThis completes the proof.", "12"},
                  {"We get $x = 5$.\n\nQED", "5"},
                  {"So it is 9.\nThat is the final result.", "9"}});
  expect_answers({{"That is the answer: 12", "12"}});
}

TEST(Prose, DigitsOfOtherScripts) {
  expect_answers({{"\u0661\u0662", "12"},           // Arabic
                  {"\u06F3\u06F4", "34"},           // Persian
                  {"\u0967\u0968\u0964", "12"},     // Devanagari, and the danda that ends a sentence
                  {"\u09E8\u09E9", "23"},           // Bengali
                  {"\u0E51\u0E50", "10"},           // Thai
                  {"\u0661\u066B\u0665", "1.5"}});  // with its decimal point
}

}  // namespace
}  // namespace dts
