#include "eval/grade/grade.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "support/eval_support.h"

namespace dts::eval {
namespace {

struct Case {
  std::string_view gold;
  std::string_view text;
  double score;
  std::string_view answer;
};

Question with_gold(std::string_view gold) {
  Question question;
  question.id = "q";
  question.answer = gold;
  return question;
}

void expect_grades(std::string_view dataset, const std::vector<Case>& cases) {
  const DatasetInfo& info = find_dataset(dataset);
  for (const Case& one : cases) {
    const Grade result = grade(info, with_gold(one.gold), one.text, false);
    EXPECT_EQ(result.score, one.score) << dataset << ": " << one.gold << "  |  " << one.text;
    EXPECT_EQ(result.answer, one.answer) << dataset << ": " << one.text;
    EXPECT_EQ(result.extracted, !one.answer.empty()) << dataset << ": " << one.text;
  }
}

TEST(Grade, Aime) {
  for (const std::string_view dataset : {"aime24", "aime25"}) {
    expect_grades(dataset, {
                               {"33", R"(So \boxed{33}.)", 1, "33"},
                               {"33", R"(\boxed{033})", 1, "33"},
                               {"33", R"(\boxed{33.0})", 1, "33"},
                               {"33", R"(\boxed{33^\circ})", 1, "33"},
                               {"33", R"(\boxed{\text{33}})", 1, "33"},
                               {"33", R"(\boxed{33 \text{ units}})", 1, "33"},
                               {"33", R"(\boxed{m+n=33})", 1, "33"},
                               {"33", R"(\boxed{m+n = 10 + 23 = 33})", 1, "33"},
                               {"33", R"(\boxed{\frac{66}{2}})", 1, "33"},
                               {"33", R"(\boxed{34})", 0, "34"},
                               {"33", R"(\boxed{33.4})", 0, "33.4"},
                               {"33", R"(\boxed{-33})", 0, "-33"},
                               {"33", R"(\boxed{33, 44})", 0, "33, 44"},
                               {"33", R"(\boxed{12}, no, \boxed{33})", 1, "33"},
                               {"33", R"(\boxed{33}, no, \boxed{12})", 0, "12"},
                               {"33", R"(\boxed{33} and put it in \boxed{})", 1, "33"},
                               {"33", R"(\boxed{33} and then \boxed{12)", 1, "33"},
                               {"0", R"(\boxed{000})", 1, "0"},
                               {"33", "The answer is 33.", 1, "33"},
                               {"33", "**Final answer:** 33", 1, "33"},
                               {"33", "33", 1, "33"},
                               {"33", "It is 33, I think", 0, ""},
                               {"33", "", 0, ""},
                           });
  }
}

TEST(Grade, ThinkingDoesNotAnswer) {
  const DatasetInfo& info = find_dataset("aime24");
  const Question question = with_gold("33");
  for (const bool opens : {false, true}) {
    EXPECT_EQ(grade(info, question, R"(<think>\boxed{12}</think>\boxed{33})", opens).score, 1);
    EXPECT_EQ(grade(info, question, R"(\boxed{12}</think>\boxed{33})", opens).score, 1);
    EXPECT_EQ(grade(info, question, R"(\boxed{12}</think>The answer is 33.)", opens).score, 1);
    const Grade undecided = grade(info, question, R"(\boxed{33}</think>I am not sure.)", opens);
    EXPECT_EQ(undecided.score, 0);
    EXPECT_FALSE(undecided.extracted);
    // Never closed, though it ended: all of it is read.
    EXPECT_EQ(grade(info, question, R"(<think>so \boxed{33}, let me check)", opens).score, 1);
    EXPECT_EQ(grade(info, question, "<think>It is 30+3.\n\nTherefore, the answer is 33.", opens).score, 1);
    EXPECT_EQ(grade(info, question, "<think>33", opens).score, 1);
    EXPECT_FALSE(grade(info, question, "<think>so it is 33. Let me check the", opens).extracted);
    EXPECT_FALSE(grade(info, question, "<think>It is 33.</think>I am not sure.", opens).extracted);
  }
  for (const bool opens : {false, true}) {
    EXPECT_EQ(grade(info, question, "30+3.\n\nTherefore, the answer is 33.", opens).score, 1);
    EXPECT_EQ(grade(find_dataset("gsm8k"), question, "30 + 3 = 33.\n#### 33", opens).score, 1);
    EXPECT_EQ(grade(find_dataset("math-500"), question, "30+3.\n\nTherefore, the answer is $33$.", opens).score, 1);
    EXPECT_EQ(grade(find_dataset("gpqa-diamond"), with_gold("B"), "Hm.\n\nSo the answer is B.", opens).score, 1);
  }
}

TEST(Grade, Gpqa) {
  expect_grades("gpqa-diamond", {
                                    {"B", "Answer: B", 1, "B"},
                                    {"B", "answer:b", 1, "B"},
                                    {"B", "Answer: $B$", 1, "B"},
                                    {"B", "**Answer: B**", 1, "B"},
                                    {"B", R"(\boxed{B})", 1, "B"},
                                    {"B", R"(\boxed{\text{(B)}})", 1, "B"},
                                    {"B", "The correct answer is (B).", 1, "B"},
                                    {"B", "Answer: A\nNo.\nAnswer: B", 0, "A"},
                                    {"B", "**Answer:** A\nNo.\n**Answer:** B", 1, "B"},
                                    {"B", "Answer: C", 0, "C"},
                                    {"B", "<think>Answer: C</think>Answer: B", 1, "B"},
                                    {"B", "Answer: B</think>I do not know", 0, ""},
                                    {"B", "I do not know", 0, ""},
                                });
}

TEST(Grade, Gsm8k) {
  expect_grades("gsm8k", {
                             {"18", R"(\boxed{18})", 1, "18"},
                             {"18", R"(\boxed{\$18.00})", 1, "18"},
                             {"18", R"(\boxed{18 \text{ dollars}})", 1, "18"},
                             {"18", R"(\boxed{18 eggs})", 1, "18"},
                             {"1234", R"(\boxed{1,234})", 1, "1234"},
                             {"18", "She makes 9 * 2 = 18.\n#### 18", 1, "18"},
                             {"18", "#### 18\nThat is 3 more.", 1, "18"},
                             {"-5", "#### -5", 1, "-5"},
                             {"18", "The answer is $18.", 1, "18"},
                             {"18", "In the end she has 18 eggs left.", 1, "18"},
                             {"1234.5", "That makes $1,234.50 in all.", 1, "1234.5"},
                             {"5", "That is 10-5", 1, "5"},
                             {"18", "First 18, then 19.", 0, "19"},
                             {"18", R"(\boxed{17})", 0, "17"},
                             {"18", "No idea.", 0, ""},
                         });
}

TEST(Grade, Mathematics) {
  for (const std::string_view dataset : {"math-500", "custom"}) {
    expect_grades(dataset, {
                               {R"(\frac{1}{2})", R"(\boxed{0.5})", 1, "0.5"},
                               {R"(\left( 3, \frac{\pi}{2} \right))", R"(\boxed{(3,\pi/2)})", 1, "(3, pi/2)"},
                               {R"(3\sqrt{13})", R"(\boxed{\sqrt{117}})", 1, "sqrt(117)"},
                               {"p - q", R"(\boxed{-q+p})", 1, "-q+p"},
                               {R"(\text{Evelyn})", R"(\boxed{Evelyn})", 1, "evelyn"},
                               {R"(36\%)", R"(\boxed{0.36})", 1, "0.36"},
                               {"0.36", R"(\boxed{36\%})", 1, "36%"},
                               {"(-2,1)", R"(\boxed{(1,-2)})", 0, "(1, -2)"},
                               {R"(\{-2,1\})", R"(\boxed{\{1,-2\}})", 1, "{-2, 1}"},
                               {"Paris", "It is on the Seine.\nThe answer is Paris.", 1, "paris"},
                               {"Paris", "London", 0, "london"},
                               {"7", "", 0, ""},
                           });
  }
  expect_grades("nano-bench", {{"244", R"(<think>244 or 245</think>The answer is \boxed{244}.)", 1, "244"},
                               {"244", R"(The answer is \boxed{245}.)", 0, "245"}});
}

TEST(Grade, BoxesThatAreJoinedAreOneAnswer) {
  expect_grades("math-500",
                {
                    {R"(\frac13, -2)", R"(So the solutions are $\boxed{-2}$ and $\boxed{\frac13}$.)", 1, "-2, 1/3"},
                    {"1, 2, 3", R"(\boxed{1}, \boxed{2}, and \boxed{ 3 })", 1, "1, 2, 3"},
                    {"1, -2", R"($x=\boxed{1}$ or $x = \boxed{-2}$)", 1, "-2, 1"},
                    {"1, 2", R"(The first is \boxed{1}. The second is \boxed{2}.)", 0, "2"},
                    {"12", R"(So it is \boxed{12}.

\boxed{12})",
                     1, "12"},
                    {"12", R"(\boxed{11}, no, \boxed{12})", 1, "12"},
                });
}

TEST(Grade, LiveBench) {
  const DatasetInfo& info = find_dataset("livebench-reasoning");
  Question question = with_gold("cat, red, 1");
  question.task = "zebra_puzzle";
  question.release = "2024-11-25";
  const Grade partial =
      grade(info, question, "<solution>cat, red, 1</solution></think><solution>Cat, blue, 1</solution>", true);
  EXPECT_DOUBLE_EQ(partial.score, (2.0 / 3) / 2);
  EXPECT_EQ(partial.answer, "cat, blue, 1");
  EXPECT_TRUE(partial.extracted);
  EXPECT_FALSE(grade(info, question, "I could not find out who lives in which house.", false).extracted);
  EXPECT_EQ(grade(info, question, "<think>hm</think>", false).score, 0);
}

// What is voted on is what is graded, and the right answer has no say in it.
TEST(Grade, TheVoteIsTheAnswer) {
  static const std::vector<std::string> pieces = {
      "<think>",        "</think>", "\\boxed{", "}",     "33",         "Answer: ",    "B",  "####",     " ", "\n",
      "The answer is ", "=",        "-",        "1,234", "<solution>", "</solution>", "**", "\\frac12", "%", "\xff"};
  std::mt19937_64 random(29);
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (std::size_t left = random() % 12; left > 0; --left) text += pieces[random() % pieces.size()];
    for (const DatasetInfo& info : datasets()) {
      Question question = with_gold(info.answers == AnswerKind::kLetter ? "B" : "33");
      question.task = "spatial";
      const bool opens = random() % 2 == 0;
      const Grade result = grade(info, question, text, opens);
      question.answer = "something else";
      ASSERT_EQ(result.answer, answer_for_vote(info, question, text, opens)) << info.name << ": " << text;
      ASSERT_TRUE(result.score == 0 || result.extracted) << info.name << ": " << text;
      ASSERT_TRUE(result.score >= 0 && result.score <= 1);
    }
  }
}

// Who votes for an answer votes for what is right with it: two trajectories are one vote exactly when the one is right
// where the other is the right answer. What the form that votes leaves out would make a difference here.
TEST(Grade, VotesAndGradesAreOneRelation) {
  const std::vector<std::string> answers = {"5",
                                            "x=5",
                                            "y=5",
                                            R"(5\text{ cm})",
                                            R"(5\text{ kg})",
                                            R"(\$5)",
                                            "5%",
                                            "0.05",
                                            "5 apples",
                                            "y=2x+3",
                                            "x=2y+3",
                                            "2x-y+3=0",
                                            "2x+3",
                                            "1,2",
                                            "(1,2)",
                                            "(2,1)",
                                            R"(\{2,1\})",
                                            R"(\begin{pmatrix}1\\2\end{pmatrix})",
                                            "x=1,y=2",
                                            "x=2,y=1",
                                            R"(90^\circ)",
                                            R"(\frac{\pi}{2})",
                                            R"(3 \pmod 7)",
                                            "x>1",
                                            "y>1",
                                            R"((1,\infty))",
                                            "5 June",
                                            "f(2)=5",
                                            R"(\textbf{(B) } 5)",
                                            "B",
                                            "3:30 PM",
                                            "1011_2",
                                            "1011",
                                            R"(9.8\text{ m/s}^2)",
                                            "9.8",
                                            R"(x\in[0,1])",
                                            "[0,1]"};
  const DatasetInfo& info = find_dataset("math-500");
  const SameAnswer same = same_answers(info);
  for (const std::string& a : answers) {
    for (const std::string& b : answers) {
      const std::string vote_a = answer_for_vote(info, with_gold("7"), "\\boxed{" + a + "}", false);
      const std::string vote_b = answer_for_vote(info, with_gold("7"), "\\boxed{" + b + "}", false);
      const bool right = grade(info, with_gold(b), "\\boxed{" + a + "}", false).score == 1;
      EXPECT_EQ(vote_a == vote_b || same(vote_a, vote_b), right) << a << "  " << b << "  " << vote_a << "  " << vote_b;
    }
  }
}

TEST(Grade, FindsWhatIsStatedBeforeMoreIsSaid) {
  expect_grades("custom", {
                              {"42", "Final Answer: The final answer is $42$. I hope it is correct.", 1, "42"},
                              {"42", "The answer is: $42$\n\nI am confident in this.", 1, "42"},
                              {"42", "Thus, the answer is $42$, as required.", 1, "42"},
                              {"42", "**Final Answer**\n\n$$42$$", 1, "42"},
                              {"42", "So we get $42$.", 1, "42"},
                              {"42", "Then\n\\[\n42\n\\]", 1, "42"},
                              {"42", "The value of $x$ is 42.", 1, "42"},
                              {"12\\pi", "The area is \\(12\\pi\\) square units.", 1, "12pi\\text{ square units}"},
                              {"1,2", "The solutions are $x=1$ and $x=2$.", 1, "x=1 and x=2"},
                              {"2", "The solutions are $x=1$ and $x=2$.", 0, "x=1 and x=2"},
                              {"3.5", "The answer is 3.5. I hope it is correct.", 1, "3.5"},
                              {"7", "The answer is not 7.", 0, "not 7"},
                          });
  expect_grades("aime24", {{"204", "The final answer is $204$. I hope it is correct.", 1, "204"},
                           {"204", "The answer is: **204**\n\nDone.", 1, "204"},
                           {"204", "The answer is 203. Not 204.", 0, "203"}});
}

TEST(Grade, OfASentenceThatIsStatedItsValueCounts) {
  expect_grades("aime24", {
                              {"33", "**Final Answer:** The value of $m+n$ is **33**.", 1, "33"},
                              {"33", "**Answer:** The sum $m+n$ equals **33**.", 1, "33"},
                              {"33", "**Final Answer**\n\nThe value of $m+n$ is $33$.", 1, "33"},
                              {"33", "**Final Answer:** There are $33$ such sets.", 1, "33"},
                              {"33", "**Final Answer:** There are 33 such sets.", 1, "33"},
                              {"33", "The answer is **33** (since $3\\cdot 11=33$).", 1, "33"},
                              {"33", "The answer is 33, not 34.", 1, "33"},
                              {"33", "The answer is 33 rather than 34.", 1, "33"},
                              {"33", "Answer: 33 (mod 1000)", 1, "33"},
                              {"33", "The number of primes not exceeding 137 is 33.", 1, "33"},
                              // near misses
                              {"33", "The answer is 34, not 33.", 0, "34"},
                              {"33", "The answer is 33 (or 34).", 0, ""},
                              {"33", "**Final Answer:** The value of $m+n$ is not **33**.", 0, ""},
                              {"33", "**Final Answer:** There are 33 or more such sets.", 0, ""},
                              {"33", "**Final Answer:** There are 33 sets of 4 elements.", 0, ""},
                              {"33", "**Answer:** The least is $3$ and the greatest is $33$.", 0, ""},
                              {"33", "The answer cannot be 33.", 0, ""},
                              {"33", "The answer is not 33.", 0, ""},
                              {"33", "The answer isn't 33.", 0, ""},
                              {"33", "It could never be 33.", 0, ""},
                              {"33", "I don't think the answer is 33.", 0, ""},
                          });
  expect_grades("math-500", {
                                {"12", "**Final Answer:** There are $12$ such sets.", 1, "12"},
                                {"12", "**Answer:** The number of such sets is $12$.", 1, "12"},
                                {"12", "The answer is 12, not 13.", 1, "12"},
                                {"2,3", "The answers are 2 and 3.", 1, "2, 3"},
                                {"3", "The answers are 2 and 3.", 0, "2, 3"},
                                {"12", "The answer is 13, not 12.", 0, "13"},
                                {"12", "The answer cannot be 12.", 0, "cannot be 12"},
                            });
}

TEST(Grade, WideFormsAreTheirNarrowOnes) {
  expect_grades("aime24", {{"116", "The answer is \uff11\uff11\uff16\u3002", 1, "116"},
                           {"116", "\\boxed{\uff11\uff11\uff16}", 1, "116"},
                           {"116", "Answer\uff1a116", 1, "116"}});
}

TEST(Grade, OtherLanguagesStateAnAnswer) {
  expect_grades("aime24", {
                              {"204", "因此答案是 204。", 1, "204"},
                              {"204", "所以最终答案为 $m+n=204$。", 1, "204"},
                              {"204", "答案：**204**\n\n以上即为完整的推导。", 1, "204"},
                              {"204", "【答案】204", 1, "204"},
                              {"204", "答案是：\n\n$$204$$", 1, "204"},
                              {"204", "答案是204个。", 1, "204"},
                              {"204", "答案不是 203，而是 204。", 1, "204"},
                              {"204", "La réponse est donc 204.", 1, "204"},
                              {"204", "La respuesta es 204, porque 203 es primo.", 1, "204"},
                              {"204", "Die gesuchte Antwort lautet $204$.", 1, "204"},
                              {"204", "A resposta é 204.", 1, "204"},
                              {"204", "La risposta è **204**.", 1, "204"},
                              {"204", "Ответ: 204.", 1, "204"},
                              // near misses
                              {"204", "答案不是 204。", 0, ""},
                              {"204", "如果答案是 204，则矛盾。", 0, ""},
                              {"204", "答案是 204 或 205。", 0, ""},
                              {"204", "答案是 204 万。", 0, ""},
                              {"204", "La respuesta no es 204.", 0, ""},
                              {"204", "Die Antwort ist 204, oder 205.", 0, ""},
                          });
  expect_grades("math-500",
                {{"x+1", "所以答案是 $x+1$。", 1, "x+1"}, {"(1,2)", "La réponse est $(1, 2)$.", 1, "(1, 2)"}});
}

TEST(Grade, ANumberThatIsTheAnswer) {
  expect_grades("aime24", {
                              {"60", "n = 60 is the answer.", 1, "60"},
                              {"60", "Therefore, $n = 60$ is the final answer.", 1, "60"},
                              {"60", "The trip takes `60` minutes in all, which is the answer.", 1, "60"},
                              {"699", "The answer is six hundred ninety-nine, i.e. 699.", 1, "699"},
                              {"60", "There are 60 such pairs. (I checked it up to 5.)", 1, "60"},
                              {"60", "{\"answer\": 60}", 1, "60"},
                              {"60", "{\"work\": \"12 times 5\", \"final_answer\": \"060\"}", 1, "60"},
                              {"60", "Die gesuchte Zahl ist 60.", 1, "60"},
                              // near misses
                              {"60", "n = 60 is the wrong answer.", 0, ""},
                              {"60", "n < 60 is the answer.", 0, ""},
                              {"60", "It takes 12 trips of 60 minutes, which is the answer.", 0, ""},
                              {"60", "It takes at least 60 minutes, which is the answer.", 0, ""},
                              {"60", "It does not take 60 minutes, which is the answer.", 0, ""},
                              {"60", "There are more. (At least 60.)", 0, ""},
                              {"60", "{\"answer\": \"60 or 61\"}", 0, ""},
                              {"60", "El valor no es 60.", 0, ""},
                          });
}

TEST(Grade, OfALastLineItsValueCounts) {
  expect_grades("math-500", {
                                {"12", "Result: 12", 1, "12"},
                                {"12", "Final answer \u2014 12", 1, "12"},
                                {"12", "Hence **12** is the final answer.", 1, "12"},
                                {"12", "The value is 12, which matches our expectation.", 1, "12"},
                                {"12", "So we have 12 possible values.", 1, "12"},
                                {"12", "In total, 12 ways.", 1, "12"},
                                {"73", "We have 24 + 25 + 24 ordered ways. Hence there are 73 such numbers.", 1, "73"},
                                {"12", "Thus, the smallest such n is 12.\n\nI hope this helps!", 1, "12"},
                                {"12", "\\framebox{12}", 1, "12"},
                                {"12", "The maximum is $12$ when $x=3$.", 1, "12"},
                                {"12", "The minimal value is 12, attained at x = 3.", 1, "12"},
                                {"12", "Ans. 12", 1, "12"},
                                {"12", "So $12$ is the answer.", 1, "12"},
                                {"12", "So it takes 12 days.", 1, "12\\text{ days}"},
                                {"12", "Therefore, Alice has 12 marbles.", 1, "12"},
                                {"3", "The maximum is $12$ when $x=3$.", 0, "12"},
                                {"12", "\\bbox[border:1px solid]{12}", 1, "12"},
                                // near misses
                                {"12", "12 is not the answer.", 0, "12 is not the answer"},
                                {"12", "We have 12 more cases to check.", 0, "we have 12 more cases to check"},
                                {"12", "Alice does not have 12 marbles.", 0, "alice does not have 12 marbles"},
                                {"12", "Alice has at least 12 marbles.", 0, "alice has at least 12 marbles"},
                                {"12", "If Alice has 12 marbles, she wins.", 0, "if alice has 12 marbles, she wins"},
                                {"12", "We have 12 sets of 3 elements.", 0, "we have 12 sets of 3 elements"},
                                {"12", "The value is not 12, which is odd.", 0, "the value is not 12, which is odd"},
                                {"12", "Step 3: 12", 0, "step 3: 12"},
                                {"12", "There are 12 for odd n. Hence there are not 12 of them.", 0,
                                 "there are 12 for odd n. hence there are not 12 of them"},
                            });
}

TEST(Grade, OfEquationsTheValueThatIsAskedFor) {
  expect_grades("aime24", {
                              {"33", R"(\boxed{33 = m+n})", 1, "33"},
                              {"33", R"(\boxed{p+q = 33 \text{ where } p=3})", 1, "33"},
                              {"33", R"(\boxed{m+n=3+30=33})", 1, "33"},
                              {"33", R"(\boxed{100m+n=33})", 1, "33"},
                              {"33", R"(\boxed{33\pmod{1000}})", 1, "33"},
                              {"33", "So with m=3 and n=30 we get m+n=33", 1, "33"},
                              {"30", R"(\boxed{m=3, n=30})", 0, "m=3, n=30"},
                              {"30", R"(\boxed{m=3 \quad n=30})", 0, "m=3 n=30"},
                              {"30", R"(\boxed{m=3;n=30})", 0, "m=3;n=30"},
                              {"33", R"(\boxed{x=3 \text{ or } x=33})", 0, "x=3 or x=33"},
                              {"33", R"(\boxed{x >= 33})", 0, "x>=33"},
                              {"33", R"(\boxed{x \geq 33})", 0, "x>=33"},
                              {"33", R"(\boxed{1033\pmod{1000}})", 0, "1033 mod 1000"},
                              {"33", "Then x=3 or x=33", 0, ""},
                          });
}

TEST(Grade, OfAStatedAmountItsNumberCounts) {
  expect_grades("gsm8k", {
                             {"5", "The answer is 5 apples after 2 days.", 1, "5"},
                             {"5", "**Answer: 5 apples (2 red, 3 green)**", 1, "5"},
                             {"5", "The answer is $5 per day for 3 days.", 1, "5"},
                             {"18", "The answer is above. She has 18 eggs.", 1, "18"},
                             {"1000000", R"(\boxed{1\text{ million}})", 1, "1000000"},
                             {"5000000", R"(\boxed{5\text{ million dollars}})", 1, "5000000"},
                             {"12", R"(\boxed{\text{a dozen}})", 1, "12"},
                             {"24", R"(\boxed{2\text{ dozen eggs}})", 1, "24"},
                             {"2", R"(\boxed{\text{two}})", 1, "2"},
                             {"18", R"(\boxed{18\text{ eggs in 2 days}})", 1, "18"},
                             // near misses
                             {"40", R"(\boxed{2\text{ hours }40\text{ minutes}})", 0, "2 hours 40 minutes"},
                             {"8", R"(\boxed{5 \text{ out of } 8})", 0, "5 out of 8"},
                             {"30", R"(\boxed{m=3, n=30})", 0, "m=3, n=30"},
                             {"18", R"(\boxed{x \geq 18})", 0, "x>=18"},
                             {"5", "The answer is 5 apples and 3 pears.", 0, ""},
                             {"5", "The answer is 5 or 6.", 0, ""},
                             {"5", "The answer is 5 in 8.", 0, ""},
                             {"5", "The answer is 5 and a half.", 0, ""},
                             {"2", "The answer is 2 hours, 40 minutes.", 0, ""},
                             {"12", "The answer is not 12.", 0, ""},
                         });
}

TEST(Grade, ALetterThatIsRefusedIsNoChoice) {
  expect_grades("gpqa-diamond", {
                                    {"D", "closest to option D, not option C", 1, "D"},
                                    {"B", "The answer is B, because option C is wrong.", 1, "B"},
                                    {"B", "Hence, (B) is the answer, while (C) is not.", 1, "B"},
                                    {"B", "We can rule out option C. So option B.", 1, "B"},
                                    {"C", "Going with C", 1, "C"},
                                    {"C", "Both A and B are wrong. Thus, C.", 1, "C"},
                                    {"A", "So A is correct.", 1, "A"},
                                    {"A", "Option A is the right one.", 1, "A"},
                                    {"B", "The answer is not B.", 0, ""},
                                    {"A", "A careful analysis is needed.", 0, ""},
                                });
}

// Whoever answers with the right answer of the file is right, in every dataset.
TEST(Grade, GoldAnswersAreRight) {
  const auto expect_right = [](const Dataset& data, const std::string& before, const std::string& after) {
    for (const Question& question : data.questions) {
      EXPECT_EQ(grade(data.info, question, before + question.answer + after, false).score, 1)
          << data.info.name << " " << question.id << ": " << question.answer;
    }
  };
  expect_right(load_dataset("aime24", test::data_file("parquet/aime24.parquet"), {}), "so \\boxed{", "}.");
  expect_right(parse_dataset("aime25", R"({"id":"1","problem":"p","answer":"070"})", "a.jsonl", {}), "\\boxed{", "}");
  expect_right(parse_dataset("gsm8k", R"({"question":"q","answer":"2+2=4\n#### 1,234"})", "g.jsonl", {}), "#### ", "");
  expect_right(parse_dataset("math-500",
                             "{\"problem\":\"p\",\"answer\":\"\\\\left( 3, \\\\frac{\\\\pi}{2} \\\\right)\"}\n"
                             "{\"problem\":\"p\",\"answer\":\"\\\\text{(E)}\"}\n"
                             "{\"problem\":\"p\",\"answer\":\"x \\\\in [-2,7]\"}\n"
                             "{\"problem\":\"p\",\"answer\":\"10,\\\\!080\"}\n",
                             "m.jsonl", {}),
               "so $\\boxed{", "}$.");
  const std::string gpqa =
      "Question,Correct Answer,Incorrect Answer 1,Incorrect Answer 2,Incorrect Answer 3\nq,a,b,c,d\nr,e,f,g,h\n";
  expect_right(parse_dataset("gpqa-diamond", gpqa, "g.csv", {}), "Answer: ", "");
  const Dataset live = load_dataset("livebench-reasoning", test::data_file("parquet/livebench-reasoning.parquet"), {});
  for (const Question& question : live.questions) {
    const std::string right = question.task == "spatial"        ? "**" + question.answer + "**"
                              : question.release < "2024-11-25" ? "***" + question.answer + "***"
                                                                : "<solution>" + question.answer + "</solution>";
    EXPECT_EQ(
        grade(live.info, question, question.task == "web_of_lies_v2" ? "**" + question.answer + "**" : right, false)
            .score,
        1)
        << question.id << ": " << question.answer;
  }
}

TEST(Grade, HostileTextIsGradedInLinearTime) {
  constexpr std::size_t kBytes = 10U << 20U;
  for (const std::string_view piece :
       {"\\", "{", "\\boxed{", "9", "answer: ", "####", "answer is ", "is not ", "x=", "is x=3, "}) {
    std::string text;
    while (text.size() < kBytes) text += piece;
    for (const std::string_view dataset : {"aime24", "gsm8k", "math-500", "gpqa-diamond"}) {
      const bool letter = dataset == "gpqa-diamond";
      const std::string_view end = letter ? "\nAnswer: B" : "\n\\boxed{33}";
      if (letter && piece == "answer: ") continue;  // the first of them states an A
      EXPECT_EQ(grade(find_dataset(dataset), with_gold("7"), text, false).score, 0) << piece;
      EXPECT_EQ(grade(find_dataset(dataset), with_gold(letter ? "B" : "33"), text + std::string(end), false).score, 1)
          << piece;
    }
  }
}

}  // namespace
}  // namespace dts::eval
