#include "eval/grade/livebench.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "eval/grade/livebench_text.h"
#include "support/eval_support.h"

namespace dts::eval {
namespace {

struct Case {
  std::string_view gold;
  std::string_view text;
  double score;
};

Question question(std::string_view task, std::string_view gold, std::string_view release = "2024-11-25") {
  Question result;
  result.id = "q";
  result.task = task;
  result.answer = gold;
  result.release = release;
  return result;
}

void expect_scores(std::string_view task, const std::vector<Case>& cases, std::string_view release = "2024-11-25") {
  for (const Case& one : cases) {
    EXPECT_DOUBLE_EQ(livebench_score(question(task, one.gold, release), one.text), one.score)
        << one.gold << "  |  " << one.text;
  }
}

TEST(WebOfLies, Solutions) {
  expect_scores("web_of_lies_v2",
                {
                    {"yes, no, yes", "So <solution>yes, no, yes</solution>", 1},
                    {"yes, no, yes", "<solution>no, no, no</solution> wait <solution>yes, no, yes</solution>", 1},
                    {"yes, no, yes", "<solution>yes, no, yes</solution> wait <solution>no, no, no</solution>", 0},
                    {"yes, no, yes", "<solution> yes, no, yes.</solution>", 1},
                    {"yes, no, yes", "<solution>Yes, no, yes</solution>", 0},  // case counts here
                    {"yes, no, yes", "<solution>yes,no,yes</solution>", 0},    // and so do spaces
                    {"Yes, No, Yes", "<solution>yes, no, yes</solution>", 1},
                    {"yes, no, yes", "<solution>yes, no, yes, no</solution>", 0},  // four labels
                    {"yes, no, yes", "<solution>yes, no, yes and no more</solution>", 0},
                    {"yes, no, unknown", "<solution>yes, no, unknown</solution>", 1},
                    {"yes, no, unknown", "<solution>yes, no, unknown.</solution>", 0},  // "unknown" has a "no" in it
                    {"yes, no, yes", "</solution>yes, no, yes</solution>", 1},
                    {"yes, no, yes", "<solution>yes, no, yes", 1},              // in plain text, too
                    {"yes, no, yes", "<solution>yes,\nno, yes</solution>", 0},  // on one line
                    {"yes, no, yes", "<SOLUTION>no, no, no</SOLUTION> **yes, no, yes**", 1},
                });
}

TEST(WebOfLies, BoldBoxedAndPlain) {
  expect_scores("web_of_lies_v2",
                {
                    {"yes, no, yes", "**yes, no, yes**", 1},
                    {"yes, no, yes", "**Yes**, **No** and **yes.**", 1},
                    {"yes, no, yes", "**no** ... **yes, no, yes**", 1},
                    {"yes, no, yes", "**yes, no, yes** and **no**", 0},
                    {"yes, no, yes", "**yes, no**", 0},
                    {"yes, no, yes", "**yes-no-yes**", 0},
                    {"yes, no, unknown", "**yes, no, Unknown**", 1},
                    {"yes, no, yes", "**bold** but \\boxed{yes, no, yes}", 1},
                    {"yes, no, yes", "\\boxed{\\textbf{yes, no, yes}}", 1},
                    {"yes, no, yes", "\\textbf{yes, no, yes}", 1},
                    {"yes, no, yes", "\\fbox{yes, no, yes}", 1},
                    {"yes, no, yes", "\\boxed{\\text{yes, no, yes}}", 1},  // contains it
                    {"yes, no, yes", "<solution> </solution> \\boxed{yes, no, yes}", 1},
                    {"yes, no, yes", "<solution></solution> yes, no, yes", 0},  // an empty solution is a solution
                    {"yes, no, yes", "it is Yes, No, Yes", 1},
                    {"yes, no, yes", "no, no, no or rather yes, no, yes", 1},
                    {"yes, no, yes", "yes, no, yes or rather no, no, no", 0},
                    // Each triple counts where it is first: the second "yes, no, yes" is no new one.
                    {"yes, no, yes", "yes, no, yes; no, no, no; yes, no, yes", 0},
                    {"yes, no, yes", "yes no yes", 0},
                    {"yes, no, yes", "", 0},
                });
}

TEST(Zebra, ListsSinceNovember2024) {
  const double third = (1.0 / 3) / 2;
  const double two_thirds = (2.0 / 3) / 2;
  expect_scores("zebra_puzzle",
                {
                    {"cat, red, 1", "<solution>cat, red, 1</solution>", 1},
                    {"cat, red, 1", "<solution>Cat,RED,1</solution>", 1},
                    {"cat, red, 1", "<solution>cat, blue, 1</solution>", two_thirds},
                    {"cat, red, 1", "<solution>cat, blue, 2</solution>", third},
                    {"cat, red, 1", "<solution>dog, blue, 2</solution>", 0},
                    {"cat, red, 1", "<solution>red, 1, cat</solution>", 0},
                    {"cat, red, 1", "<solution>cat, red</solution>", two_thirds},
                    {"cat, red, 1", "<solution>cat</solution>", third},
                    {"cat, red, 1", "<solution>cat, red, 1, blue</solution>", 1},  // one list from its beginning
                    {"cat, red, 1", "<solution>x</solution><solution>cat, red, 1</solution>", 1},
                    {"cat, red, 1", "<solution>cat</solution> <solution>red</solution> <solution>1</solution>", 1},
                    {"cat, red, 1", "<solution>cat, red, 1</solution><solution>x</solution>", 0},  // red, 1, x
                    {"cat, red, 1", "<solution>a cat, reddish, 10</solution>", 1},                 // contains
                    {"cat, red, one", "<solution>cat, red, 1</solution>", two_thirds},  // number words do not count
                    {"sci-fi, cat", "<solution>sci fi, cat</solution>", 1},
                    {"sci fi, cat", "<solution>Sci-Fi, cat</solution>", 1},
                    {"1, 2", "<solution>position 1, position 2</solution>", 1},
                    {"cat, red, 1", "</solution>cat, red, 1</solution>", 1},
                    {"cat, red, 1", "\\boxed{cat, red, 1}", 1},
                    {"cat, red, 1", "\\boxed{\\text{cat}, \\text{red}, 1}", 1},
                    {"cat, red, 1", "\\boxed{dog, red, 1} and \\boxed{cat, red, 1}", 1},
                    {"cat, red, 1", "\\fbox{cat, red, 1}", 1},
                    {"cat, red, 1", "$\\boxed cat, red, 1$ it is", 1},
                    {"cat, red, 1", "Reasons.\ncat, red, 1", 1},
                    {"cat, red, 1", "Reasons.\nIt is cat, red, 1.\n", 1},
                    {"cat, red, 1", "cat, red, 1\nDone.", 0},
                    {"cat, red, 1", "So, in the end: cat, red, 1", 0},  // three commas
                    {"cat, red, 1", "**cat, red, 1**\n", 1},
                    {"cat, red, 1", "", 0},
                    {"cat", "<solution>cat</solution>", 1},
                    {"cat", "cat", 1},
                });
}

TEST(Zebra, WordsBefore) {
  expect_scores("zebra_puzzle",
                {
                    {"cat", "the pet is ***cat***", 1},
                    {"Cat", "***cAT***", 1},
                    {"cat", "***dog*** no, ***cat***", 1},
                    {"cat", "***cat*** no, ***dog***", 0},
                    {"four", "***4***", 1},
                    {"4", "***four***", 0},
                    {"action movies", "***action***", 1},
                    {"cat", "**cat** it is", 0},
                    {"cat", "The pet is: cat.", 1},
                    {"cat", "The pet is **cat**", 1},
                    {"four", "It is 4!", 1},
                    {"cat", "cat, says everyone", 0},
                    {"cat", "***the cat***", 1},  // two words are no bold word, and the last word is right
                    {"cat", "", 0},
                    {"", "", 1},
                },
                "2024-06-24");
  // One day before the list evaluator, and on its day.
  EXPECT_EQ(livebench_score(question("zebra_puzzle", "cat", "2024-11-24"), "<solution>cat</solution> ok"), 0);
  EXPECT_EQ(livebench_score(question("zebra_puzzle", "cat", "2024-11-25"), "<solution>cat</solution> ok"), 1);
}

TEST(Spatial, Bold) {
  expect_scores("spatial", {
                               {"4", "There are **4** pieces.", 1},
                               {"4", "There are **four** pieces.", 1},
                               {"4", "**Four**", 1},
                               {"20", "**twenty**", 1},
                               {"21", "**twenty-one**", 0},
                               {"four", "**4**", 0},
                               {"4", "**4** then **a**, **b**", 1},
                               {"4", "**4** then **a**, **b**, **c**", 0},  // the last three only
                               {"4", "**4 pieces**", 0},
                               {"4", "** 4 **", 1},
                               {"4", "***4***", 1},
                               {"4", "4", 1},
                               {"4", "It is 4", 0},
                               {"tetrahedra", "**two tetrahedra**", 1},
                               {"tetrahedra", "**Tetrahedra**", 1},
                               {"tetrahedra", "**tetrahedra and other things besides**", 0},
                               {"triangle", "**equilateral triangle**", 1},
                               {"triangle", "**circle square triangle**", 0},
                               {"square", "**a square**", 1},
                               {"square", "**rectangle and square**", 0},
                               {"circle", "**a circle**", 0},  // no leniency for other shapes
                               {"4", "**\n4\n**", 1},
                               {"4", "", 0},
                           });
}

TEST(Spatial, Boxed) {
  expect_scores("spatial", {
                               {"4", "\\boxed{4}", 1},
                               {"4", "**5** but \\boxed{4}", 1},
                               {"4", "\\boxed{\\textbf{4}}", 1},
                               {"4", "\\boxed{\\mathbf{4}}", 1},
                               {"square", "\\boxed{\\text{square}}", 1},
                               {"square", "\\boxed{Square}", 0},
                               {"4", "\\boxed{four}", 0},
                               {"4", "\\boxed{ 4 }", 0},
                               {"4", "\\boxed{4} \\boxed{5}", 0},
                               {"4", "\\boxed{4", 0},
                               {"4", "$\\boxed{4$}", 1},
                               {"4", "\\fbox{4}", 1},
                               {"4", "\\boxedx{4}", 0},
                           });
}

TEST(HouseTraversal, NamesInOrder) {
  expect_scores("house_traversal", {
                                       {"Ann Bob Cy", "**Ann, Bob, Cy**", 1},
                                       {"Ann Bob Cy", "First **x**, then **ann** and **bob** and **cy**", 1},
                                       {"Ann Bob Cy", "**Ann**, **Cy**, **Bob**", 0},
                                       {"Ann Bob Cy", "**Ann then Bob, at last Cy**", 1},
                                       {"Ann Bob Cy", "**Ann, Cy, Bob**", 0},
                                       {"Ann Bob Cy", "**Ann, Bob, Cy** and **more**", 0},
                                       {"Ann Bob Cy", "***Ann Bob Cy***", 1},
                                       {"Ann Bob Cy", "Ann, Bob, Cy", 0},
                                       {"Ann Bob Cy", "**Ann Bob\nCy**", 0},
                                       {"Ann", "**ann**", 1},
                                       {"Ann Bob Cy", "", 0},
                                   });
}

// As Python's regular expressions have it.
TEST(LiveBenchText, BoldBetweenAsManyStars) {
  using Texts = std::vector<std::string_view>;
  EXPECT_EQ(matched_bold("**a** **b**"), (Texts{"a", "b"}));
  EXPECT_EQ(matched_bold("***a***"), (Texts{"a"}));
  EXPECT_EQ(matched_bold("****"), (Texts{""}));
  EXPECT_EQ(matched_bold("***a**"), (Texts{"*a"}));
  EXPECT_EQ(matched_bold("**a***"), (Texts{"a"}));
  EXPECT_EQ(matched_bold("*****"), (Texts{""}));
  EXPECT_EQ(matched_bold("**a\n**b**"), (Texts{"b"}));
  EXPECT_EQ(matched_bold("a ** b ** c *** d *** e"), (Texts{" b ", " d "}));
  EXPECT_EQ(matched_bold("***** a ** b *** c"), (Texts{"** a ** b "}));
  EXPECT_EQ(matched_bold("********a****"), (Texts{"", ""}));
  EXPECT_EQ(matched_bold("**a*b**"), (Texts{"a*b"}));
  EXPECT_EQ(matched_bold("***a** b***"), (Texts{"a** b"}));
  EXPECT_EQ(matched_bold("**"), Texts{});
}

TEST(LiveBench, RefusesOtherTasks) {
  test::expect_in("'sudoku'", test::error_of([] { livebench_score(question("sudoku", "1"), "1"); }));
  test::expect_in("'sudoku'", test::error_of([] { livebench_answer(question("sudoku", "1"), "1"); }));
}

TEST(LiveBench, AnswersForVotes) {
  struct Vote {
    std::string_view task, text, answer;
  };
  const std::vector<Vote> votes = {
      {"web_of_lies_v2", "<solution>yes, no, yes</solution>", "yes, no, yes"},
      {"web_of_lies_v2", "**Yes**, **no**, **yes**", "yes, no, yes"},
      {"web_of_lies_v2", "<solution> Yes,no , yes</solution>", "yes, no, yes"},
      {"web_of_lies_v2", "<solution>The answer is yes, no, yes.</solution>", "yes, no, yes"},
      {"web_of_lies_v2", "<solution>**yes, no, yes**</solution>", "yes, no, yes"},
      {"web_of_lies_v2", "\\boxed{\\text{yes, no, yes}}", "yes, no, yes"},
      {"web_of_lies_v2", "nothing", ""},
      {"zebra_puzzle", "<solution>Cat, sci-fi, position 1</solution>", "cat, sci fi, 1"},
      {"zebra_puzzle", "<solution>x, y</solution> no: <solution>cat, red</solution>", "cat, red"},
      {"zebra_puzzle", "<solution>a, b</solution> <solution>cat</solution> <solution>red</solution>", "cat, red"},
      {"zebra_puzzle", "\\boxed{\\text{cat}, red}", "cat, red"},
      {"zebra_puzzle", "Reasons.\nCat, Red", "cat, red"},
      {"zebra_puzzle", "I could not find out who lives in which of these houses.", ""},
      {"spatial", "**Four**", "4"},
      {"spatial", "**4** pieces. **Final answer:**", "4"},
      {"spatial", "**tetrahedra.**", "tetrahedra"},
      {"spatial", "\\boxed{\\text{Square}}", "square"},
      {"spatial", "**two tetrahedra**", "tetrahedra"},
      {"spatial", "**a pair of tetrahedra**", "tetrahedra"},
      {"spatial", "**Equilateral triangle**", "triangle"},
      {"spatial", "**rectangle and square**", "rectangle and square"},
      {"spatial", "4", "4"},
      {"spatial", "", ""},
      {"house_traversal", "**Ann, Bob and Cy**", "ann, bob, cy"},
      {"house_traversal", "**The order** is **Ann**, **Bob**", "ann, bob"},
      {"house_traversal", "Ann", ""},
  };
  for (const Vote& vote : votes) {
    EXPECT_EQ(livebench_answer(question(vote.task, "the right answer is not looked at"), vote.text), vote.answer)
        << vote.text;
  }
  EXPECT_EQ(livebench_answer(question("zebra_puzzle", "", "2024-06-24"), "It is ***4***"), "four");
  EXPECT_EQ(livebench_answer(question("zebra_puzzle", "", "2024-06-24"), "It is Four."), "four");
}

TEST(LiveBenchText, WithoutThinking) {
  EXPECT_EQ(without_thinking("<think>a</think>b", false), "b");
  EXPECT_EQ(without_thinking("<think>a\nb</think>c<think>d</think>e", false), "ce");
  EXPECT_EQ(without_thinking("a</think>b", false), "b");
  EXPECT_EQ(without_thinking("a</think>b", true), "b");
  EXPECT_EQ(without_thinking("a<think>b</think>c", false), "ac");
  EXPECT_EQ(without_thinking("a<think>b</think>c", true), "c");
  EXPECT_EQ(without_thinking("<think>a<think>b</think>c</think>d", false), "d");
  EXPECT_EQ(without_thinking("<think>never ends", false), "<think>never ends");
  EXPECT_EQ(without_thinking("never ends", true), "never ends");
  EXPECT_EQ(without_thinking("plain", false), "plain");
}

TEST(LiveBenchText, WordsAndSpacesAreThoseOfPython) {
  EXPECT_EQ(python_strip("\u00a0\t x y\u3000\n"), "x y");
  EXPECT_EQ(python_words("a\u2003b  c").size(), 3U);
  EXPECT_EQ(last_word("the caf\u00e9 \u2014 \u201d"), "caf\u00e9");
  EXPECT_EQ(last_word("a_1!"), "a_1");
  EXPECT_EQ(last_word("?!"), "");
  EXPECT_EQ(last_line("a\nb\n\n"), "b");
  EXPECT_EQ(count_of("aaaa", "aa"), 2U);
  EXPECT_EQ(split_at("a,,b", ',').size(), 3U);
  EXPECT_EQ(split_at("", ',').size(), 1U);
}

TEST(LiveBenchText, Boxes) {
  EXPECT_EQ(livebench_boxed("\\boxed{a{b}c}"), "a{b}c");
  EXPECT_EQ(livebench_boxed("\\boxed{1} \\boxed{2"), std::nullopt);
  EXPECT_EQ(livebench_boxed("\\fbox{1}"), "1");
  EXPECT_EQ(livebench_boxed("\\boxed{1} \\fbox{2}"), "1");
  EXPECT_EQ(livebench_boxed("\\boxed 7$ and"), "7");
  EXPECT_EQ(livebench_boxed("\\boxed{}"), "");
  EXPECT_EQ(livebench_boxed("none"), std::nullopt);
}

TEST(LiveBench, HostileText) {
  static const std::vector<std::string> pieces = {
      "<solution>", "</solution>", "**",       "***",      "*",       "yes",      "no",     "unknown",   ", ", ",",
      " ",          "\n",          "\\boxed{", "\\boxed ", "\\fbox{", "{",        "}",      "$",         "4",  "four",
      "tetrahedra", "<think>",     "</think>", "\\",       "\xff",    "\xe2\x80", "\u00a0", "\\textbf{", "cat"};
  std::mt19937_64 random(23);
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (std::size_t left = random() % 16; left > 0; --left) {
      text += random() % 16 == 0 ? std::string(1, static_cast<char>(random())) : pieces[random() % pieces.size()];
    }
    for (const std::string_view task : {"web_of_lies_v2", "zebra_puzzle", "spatial", "house_traversal"}) {
      for (const std::string_view release : {"2024-06-24", "2024-11-25"}) {
        const Question one = question(task, "yes, no, yes", release);
        const double score = livebench_score(one, text);
        ASSERT_TRUE(score >= 0 && score <= 1) << text;
        const std::string answer = livebench_answer(one, text);
        ASSERT_EQ(answer, livebench_answer(question(task, "4", release), text)) << text;
      }
    }
  }
}

// Quadratic code would take hours here.
TEST(LiveBench, TenMegabytesOfAnything) {
  constexpr std::size_t kBytes = 10U << 20U;
  for (const std::string_view piece : {"\\", "*", "**a ", "<solution>", "</solution>", "yes, no, ", "\\boxed{", "\n"}) {
    std::string text;
    while (text.size() < kBytes) text += piece;
    text += "\n<solution>yes, no, yes</solution>";
    EXPECT_EQ(livebench_score(question("web_of_lies_v2", "yes, no, yes"), text), 1) << piece;
    EXPECT_GT(livebench_score(question("zebra_puzzle", "yes, no, yes"), text), 0) << piece;
    text += "\n\\boxed{4}";
    EXPECT_EQ(livebench_score(question("spatial", "4"), text), 1) << piece;
    text += "\n**ann bob**";
    EXPECT_EQ(livebench_score(question("house_traversal", "Ann Bob"), text), 1) << piece;
    text += "\n***cat***";
    EXPECT_EQ(livebench_score(question("zebra_puzzle", "cat", "2024-06-24"), text), 1) << piece;
  }
}

}  // namespace
}  // namespace dts::eval
