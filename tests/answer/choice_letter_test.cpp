#include "answer/choice_letter.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace dts {
namespace {

struct Example {
  std::string_view text;
  char letter;  // '-': none
};

void expect_all(const std::vector<Example>& examples) {
  for (const Example& example : examples) {
    const char letter = choice_letter(example.text);
    EXPECT_EQ(letter == '\0' ? '-' : letter, example.letter) << example.text;
  }
}

TEST(ChoiceLetter, AsSimpleEvalsReadsIt) {
  expect_all({{"Answer: B", 'B'},
              {"answer: c", 'C'},
              {"ANSWER : D", 'D'},
              {"Answer:A", 'A'},
              {"Answer:\t$B$", 'B'},
              {"Answer: $C", 'C'},
              {"Reasons.\n\nAnswer: D.", 'D'},
              {"The final answer: B", 'B'},
              {"Answer: A) 5 eV", 'A'},
              {"Answer: Boron", 'B'},
              {"Answer: E", '-'},
              {"Answer: $LETTER", '-'},
              {"", '-'}});
}

TEST(ChoiceLetter, Dressed) {
  expect_all({{"**Answer: B**", 'B'},
              {"**Answer:** C", 'C'},
              {"**Answer**: C", 'C'},
              {"Answer: **D**", 'D'},
              {"Answer: (A)", 'A'},
              {"Answer: [B]", 'B'},
              {"Answer: \\(C\\)", 'C'},
              {"Answer: $\\text{D}$", 'D'},
              {"Answer: $\\boxed{B}$", 'B'},
              {"Answer: `A`", 'A'},
              {"### Answer:\n\n**C**", 'C'},
              {"Answer:\nA compound of iron", '-'},
              {"\\boxed{A}", 'A'},
              {"\\boxed{b}", 'B'},
              {"\\boxed{\\text{C}}", 'C'},
              {"\\boxed{\\textbf{(D)}}", 'D'},
              {"\\boxed{\\mathrm{B}}", 'B'},
              {"\\boxed{(C)}", 'C'},
              {"\\boxed{D) 5 eV}", 'D'},
              {"\\boxed{\\text{B: gold}}", 'B'},
              {"\\fbox{A}", 'A'},
              {"\\boxed{Boron}", '-'},
              {"\\boxed{A, C}", '-'},
              {"\\boxed{7}", '-'},
              {"\\boxed{", '-'}});
}

// simple-evals searches, and so takes the first.
TEST(ChoiceLetter, WhereSimpleEvalsFindsOneItIsThatOne) {
  expect_all({{"Answer: A\nWait, no.\nAnswer: B", 'A'},
              {"\\boxed{A} then Answer: B", 'B'},
              {"Answer: B, so \\boxed{C}", 'B'},
              {"**Answer:** C\nAnswer: B", 'B'},
              {"Answer: boron, so\nAnswer: C", 'B'},
              {"Answer: the first\nAnswer: C", 'C'},
              {"Answer: B (not C, not (D))", 'B'},
              {"The answer is A.\nAnswer: B\nSo option C is wrong", 'B'}});
}

TEST(ChoiceLetter, OtherwiseTheLastStatementCounts) {
  expect_all({{"**Answer:** A\nWait, no.\n**Answer:** B", 'B'},
              {"\\boxed{A} then **Answer**: B", 'B'},
              {"**Answer:** (B), so \\boxed{C}", 'C'},
              {"The answer is A.\n**Answer:** B\nSo option C is wrong", 'B'}});
}

TEST(ChoiceLetter, InWords) {
  expect_all({{"The answer is B.", 'B'},
              {"the correct answer is (C)", 'C'},
              {"The correct option is **D**", 'D'},
              {"So the answer must be A", 'A'},
              {"The answer is A because it is.", 'A'},
              {"The answer is A compound.", '-'},
              {"The answer is option B", 'B'},
              {"I choose option C.", 'C'},
              {"choice (b)", 'B'},
              {"The answer is boron", '-'},
              {"The answer is a compound", '-'},
              {"optional B vitamins", '-'}});
}

TEST(ChoiceLetter, OnTheLastLineOrInBrackets) {
  expect_all({{"B", 'B'},
              {"b", 'B'},
              {"Reasons.\n\nC", 'C'},
              {"Reasons.\n**D**", 'D'},
              {"(A)", 'A'},
              {"B) 5 eV", 'B'},
              {"C. Gold", 'C'},
              {"**(D)** it is", 'D'},
              {"I would go for (C) here.", 'C'},
              {"first (A), then (B), done", 'B'},
              {"A compound", '-'},
              {"E", '-'},
              {"(x)", '-'},
              {"No idea.", '-'}});
}

TEST(ChoiceLetter, AsManyAsThereAre) {
  EXPECT_EQ(choice_letter("Answer: E", 5), 'E');
  EXPECT_EQ(choice_letter("Answer: C", 2), '\0');
}

TEST(ChoiceLetter, HostileText) {
  static const std::vector<std::string> pieces = {"Answer", ":",       " ",      "\n",     "A",  "b",    "C", "(",
                                                  ")",      "\\boxed", "\\fbox", "{",      "}",  "$",    "*", "option",
                                                  "choice", "is",      "the",    "\\text", "\\", "\xff", "z"};
  std::mt19937_64 random(17);
  for (int i = 0; i < 50000; ++i) {
    std::string text;
    for (std::size_t left = random() % 16; left > 0; --left) text += pieces[random() % pieces.size()];
    const char letter = choice_letter(text);
    ASSERT_TRUE(letter == '\0' || (letter >= 'A' && letter <= 'D')) << text;
    // What is stated first stays; else what is stated last as simple-evals has it decides.
    const char first = choice_letter(text + "\nAnswer: D");
    ASSERT_EQ(choice_letter(text + "\nAnswer: D\nAnswer: C"), first) << text;
    if (text.find(':') == std::string::npos) {
      ASSERT_EQ(first, 'D') << text;
    }
  }
}

// Quadratic code would take hours here.
TEST(ChoiceLetter, TenMegabytesOfAnything) {
  constexpr std::size_t kBytes = 10U << 20U;
  for (const std::string_view piece :
       {"answer", "answer:", "answer: ", "answer is ", "option ", "choice is ", "\\boxed{", "\\boxed", "(", "*", " ",
        "\n", "answer:\n", "\\text{", "answer********"}) {
    std::string text;
    while (text.size() < kBytes) text += piece;
    // "answer: answer" has an a after the colon.
    const bool states = piece == "answer:" || piece == "answer: ";
    EXPECT_EQ(choice_letter(text), states ? 'A' : '\0') << piece;
    EXPECT_EQ(choice_letter(text += "\nAnswer: C"), states ? 'A' : 'C') << piece;
  }
}

TEST(ChoiceLetter, ReadsTheWaysModelsPutIt) {
  EXPECT_EQ(choice_letter("I weigh A and B, and go with C."), 'C');
  EXPECT_EQ(choice_letter("I'll go for option (D)"), 'D');
  EXPECT_EQ(choice_letter("Answer - C"), 'C');
  EXPECT_EQ(choice_letter("**Answer** \u2014 B"), 'B');
  EXPECT_EQ(choice_letter("so\n<answer>C</answer>"), 'C');
  EXPECT_EQ(choice_letter("<answer> (B) 5 eV </answer>"), 'B');
  EXPECT_EQ(choice_letter("<answer>Carbon</answer>"), '\0');
  EXPECT_EQ(choice_letter("we go with Carbon"), '\0');
  EXPECT_EQ(choice_letter("All told I am going with C"), 'C');
  EXPECT_EQ(choice_letter("Going with **B** here."), 'B');
  EXPECT_EQ(choice_letter("I pick B."), 'B');
  EXPECT_EQ(choice_letter("So I would choose option (D)!"), 'D');
  EXPECT_EQ(choice_letter("I'd select C because it is stable"), 'C');
  EXPECT_EQ(choice_letter("I'll settle on A."), 'A');
  EXPECT_EQ(choice_letter("My guess: D"), 'D');
}

TEST(ChoiceLetter, ChoosingANumberIsNoChoice) {
  EXPECT_EQ(choice_letter("We choose A = 2 and go on"), '\0');
  EXPECT_EQ(choice_letter("we can pick C, D and E at will"), '\0');
  EXPECT_EQ(choice_letter("select a point"), '\0');
  EXPECT_EQ(choice_letter("choose A point on the line"), '\0');
  EXPECT_EQ(choice_letter("toothpick B."), '\0');
  EXPECT_EQ(choice_letter("undergoing with B"), '\0');
}

}  // namespace
}  // namespace dts
