#include "answer/letter/choice_letter.h"

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

TEST(ChoiceLetter, InTheWordsOfPeople) {
  expect_all({{"The answer is most likely C.", 'C'},
              {"The answer is most likely (C).", 'C'},
              {"The answer is indeed C.", 'C'},
              {"The answer seems to be C.", 'C'},
              {"The answer turns out to be option C.", 'C'},
              {"The answer, then, is C.", 'C'},
              {"The answer is, therefore, C.", 'C'},
              {"Given the constraints, the most plausible is D, although B cannot be excluded.", 'D'},
              {"B is the most likely answer.", 'B'},
              {"The closest is D.", 'D'},
              {"The answer is a.", 'A'},
              {"The answer is **b**.", 'B'},
              {"The answer is C, D being impossible.", 'C'},
              {"The answer is C and D is wrong.", 'C'},
              {"There is no doubt that the answer is B.", 'B'},
              {"It is not hard to see that the answer is B.", 'B'},
              {"I am not sure, but the answer is B.", 'B'},
              // near misses
              {"The answer to A is complicated.", '-'},
              {"To answer, A and B must be compared.", '-'},
              {"The answer is a\nketone", '-'},
              {"The answer is a.k.a. boron.", '-'},
              {"The answer is C_6H_6.", '-'},
              {"The answer is $C_6$.", '-'},
              {"The answer is D-glucose.", '-'},
              {"The answer is C\u2013H activation.", '-'},
              {"The answer is C=O.", '-'},
              {"The answer is B or C.", '-'},
              {"The answer is B/C.", '-'},
              {"The answer is A, B, and D.", '-'},
              {"The answer is A and C.", '-'},
              {"I don't think the answer is B.", '-'},
              {"I'm not sure the answer is B.", '-'},
              {"I don't think it is B.", '-'},
              {"I would not choose B.", '-'}});
}

TEST(ChoiceLetter, ByWhatIsLeft) {
  expect_all({{"B is not the correct answer; D is.", 'D'},
              {"A is not the right answer, but C is.", 'C'},
              {"The correct answer is not B but A.", 'A'},
              {"The answer is not B, but rather option C.", 'C'},
              {"Only D is consistent with the data.", 'D'},
              {"only (C) remains.", 'C'},
              {"D is the only option consistent with the data.", 'D'},
              {"D is the only one that fits.", 'D'},
              {"A, B and D can be ruled out, which leaves C.", 'C'},
              {"That leaves only B.", 'B'},
              {"It is between B and C; C is more accurate.", 'C'},
              {"(A) is wrong. (B) is wrong. (D) is wrong. Only (C) remains.", 'C'},
              {"B is therefore correct.", 'B'},
              {"B is clearly the correct one.", 'B'},
              // near misses
              {"While A is not aromatic, B is.", '-'},
              {"A is not the best leaving group; D is.", '-'},
              {"We must find what C is.", '-'},
              {"The answer is not B but C is close too.", '-'},
              {"The answer is not B but C or D.", '-'},
              {"Only B is chiral.", '-'},
              {"Only B remains unchanged.", '-'},
              {"Only B is inconsistent with the data.", '-'},
              {"Not only B is consistent with it.", '-'},
              {"D is the only option that fails.", '-'},
              {"D is the only option that does not fit.", '-'},
              {"CO2 is removed, which leaves C and O.", '-'},
              {"A is therefore wrong.", '-'},
              {"A is right-handed.", '-'},
              {"A is right of the peak.", '-'},
              {"Neither A nor B is correct.", '-'},
              {"Either A or B is correct.", '-'},
              {"If B is correct, then parity holds.", '-'},
              {"(A) is wrong. (B) is wrong.", '-'},
              {"It cannot be (C).", '-'},
              {"It could be (A) or (B).", '-'}});
}

TEST(ChoiceLetter, ByWhatItMatches) {
  expect_all({{"The energy is 2 eV, which matches **B**.", 'B'},
              {"The energy is 2 eV, which matches B).", 'B'},
              {"So the match is D.", 'D'},
              {"It is 2 eV, which corresponds to B.", 'B'},
              {"Thus the product is the one in D.", 'D'},
              {"**Conclusion:** C", 'C'},
              {"In conclusion, B.", 'B'},
              {"The correct letter is C.", 'C'},
              {"The correct statement is C, because the others fail.", 'C'},
              {"The correct reaction sequence is (C).", 'C'},
              {"Letter: C", 'C'},
              {"2 eV\n\u2192 C", 'C'},
              {"2 eV\n=> **C**", 'C'},
              // near misses
              {"None of this matches B.", '-'},
              {"The spectrum matches A and B.", '-'},
              {"The peak corresponds to B. It is broad.", '-'},
              {"Conclusion: A compound forms.", '-'},
              {"The correct sequence is A, B, C, D.", '-'},
              {"The correct order is A \u2192 B \u2192 C.", '-'},
              {"The incorrect statement is C.", '-'},
              {"B is correct because it is D.", 'B'},
              {"The newsletter is C.", '-'},
              {"the letter B denotes the field", '-'},
              {"The reaction is A \u2192 B.", '-'},
              {"A => B", '-'}});
}

TEST(ChoiceLetter, InABoxHoweverItIsSet) {
  expect_all({{R"(\boxed{\text{Answer: } \textbf{A}})", 'A'},
              {R"(\boxed{\text{The correct option is } \mathbf{B}})", 'B'},
              {R"(\boxed{\large B})", 'B'},
              {R"(\boxed{\color{red}{B}})", 'B'},
              {R"(\boxed{\textcolor{blue}{\textbf{(C)}}})", 'C'},
              {R"(\boxed{\textsf{B}})", 'B'},
              {R"(\boxed{'B'})", 'B'},
              {R"(\boxed{**B**})", 'B'},
              {R"(\boxed{\left(B\right)})", 'B'},
              {R"(\boxed{\text{B}\ 2\text{ eV}})", 'B'},
              // near misses
              {R"(\boxed{\mathrm{C}_6})", '-'},
              {R"(\boxed{\large B_2})", '-'},
              {R"(\boxed{\text{A},\text{C}})", '-'},
              {R"(\boxed{(A) and (C)})", '-'},
              {R"(\boxed{A'})", '-'},
              {R"(\boxed{A:B})", '-'},
              {R"(\boxed{A+B})", '-'},
              {R"(\boxed{\text{Answer: } \textbf{Argon}})", '-'},
              {R"(\boxed{\text{The answer is Argon}})", '-'}});
}

TEST(ChoiceLetter, AListOfOptionsIsNoChoice) {
  expect_all({{"A) too small B) right C) too large", '-'},
              {"A) no\nB) yes\nC) no\nD) too large", '-'},
              {"It is 2 eV.\nB) 2 eV", 'B'},
              {"C) 3 eV\nB) 2 eV", 'B'}});
}

TEST(ChoiceLetter, WhatItIsComparedWithIsNotChosen) {
  expect_all({{"The fitting description is Option (B), since option (A) lacks the minus sign.", 'B'},
              {"So it is option D, whereas option C has the wrong units.", 'D'},
              {"The answer is option A, because only this operator is Hermitian, unlike the one in B.", 'A'},
              {"Option A was tempting because option B looked odd. Still, I choose option B.", 'B'},
              {"The answer is option A, because it is linear. Wait, the answer is B.", 'B'},
              {"It has to be chosen because option C fits.", 'C'},
              {"The spectrum shows a triplet, which matches the one in B.", 'B'}});
}

// Every window that is looked at has a bound: quadratic code would take minutes.
TEST(ChoiceLetter, ByAVerdictOnEachOption) {
  expect_all({{"A: no. B: no. C: yes. D: no.", 'C'},
              {"(A) false (B) false (C) true (D) false", 'C'},
              {"- **Option A**: incorrect\n- **Option B**: correct\n- **Option C**: incorrect", 'B'},
              {"Option D: incorrect. Option B: correct.", 'B'},
              {"C \u2013 correct, since the charge is conserved.", 'C'},
              // near misses
              {"A: no.", '-'},
              {"Option D: incorrect.", '-'},
              {"C: no change of rate", 'C'},
              {"C: true north", 'C'}});
}

TEST(ChoiceLetter, InFewerWords) {
  expect_all({{"Ans: B", 'B'},
              {"Ans. (B)", 'B'},
              {"A, C and D can be ruled out, leaving B.", 'B'},
              {"B seems the most reasonable.", 'B'},
              {"B appears to be correct.", 'B'},
              {"So A it is.", 'A'},
              {"I'd say C.", 'C'},
              {"The only one left is C.", 'C'},
              {"The correct structure is given in C.", 'C'},
              {"**Solution: C**", 'C'},
              {"I compared it with option B.\n\n**C) like option B but with spin**", 'C'},
              {"Eliminating the others leaves D.", 'D'},
              {"The answer that fits best is D.", 'D'},
              {"D is the only viable option.", 'D'},
              {"The only possibility that remains is D.", 'D'},
              {"The best option here is D.", 'D'},
              {"Response: D", 'D'},
              {"> **D**", 'D'},
              {"- **D**", 'D'},
              {"Most likely D.", 'D'},
              {"D will be the answer.", 'D'},
              {"D fits best.", 'D'},
              {"D, since the rest fail.", 'D'},
              {"D \u2013 the others violate parity.", 'D'},
              {"Answer => D", 'D'},
              {"D.\n\nThis is because A is too small.", 'D'},
              {"\\boxed{D \\text{ is correct}}", 'D'},
              // near misses
              {"The least likely is B.", '-'},
              {"C \u2013 H bonds break", '-'},
              {"The wrong answer is B.", '-'},
              {"The answer is A. Note that B would be the answer if T were higher.", 'A'},
              {"A compound, since it has two elements", '-'},
              {"The correct option cannot be B.", '-'},
              {"The correct answer could not be B.", '-'},
              {"All but C are correct.", '-'},
              {"Ansatz: B", '-'},
              {"B seems wrong.", '-'},
              {"The solution is C-rich.", '-'},
              {"leaving C unchanged", '-'}});
}

TEST(ChoiceLetter, WideFormsQuotesAndTags) {
  expect_all({{"Answer\uff1a C", 'C'},
              {"\uff21\uff4e\uff53\uff57\uff45\uff52\uff1a\uff22", 'B'},
              {"The answer is \uff08D\uff09\u3002", 'D'},
              {"The answer is\u3000B\u3002It is stable.", 'B'},
              {"The answer is \u201cB\u201d.", 'B'},
              {"The correct letter is \u2018A\u2019, as shown.", 'A'},
              {"So I pick \"D\".", 'D'},
              {"The correct choice: <b>B</b>", 'B'},
              {"<p>The answer is <strong>A</strong>.</p>", 'A'},
              {"<em>C</em> is correct.", 'C'},
              {"__A__ is correct.", 'A'},
              {"The answer is\u00a0C.", 'C'},
              // near misses
              {"The answer is C<sub>6</sub>H<sub>6</sub>.", '-'},
              {"The answer is \u201cboron\u201d.", '-'},
              {"The answer is \uff23\uff2f.", '-'},
              {"The answer is A\u2019s.", '-'},
              {"a <b and c> d", '-'}});
}

TEST(ChoiceLetter, AListOfVerdictsNamesTheOneThatIsRight) {
  expect_all(
      {{"- A: \u274c\n- B: \u274c\n- C: \u2705 fits the data\n- D: \u274c too heavy", 'C'},
       {"\u2717 A\n\u2717 B\n\u2714\ufe0f C\n\u2717 D", 'C'},
       {"(A) too slow \u2717\n(B) \u2713 as measured\n(C) \u2717\n(D) \u2717", 'B'},
       {"- [ ] A\n- [ ] B\n- [ ] C\n- [x] D", 'D'},
       {"[x] **A** the cis isomer\n[ ] **B** the trans isomer", 'A'},
       {"1. A \u2013 wrong: no proton.\n2. B \u2013 right: it is the strongest acid.\n3. C \u2013 wrong.", 'B'},
       {"A. incorrect\nB. **correct**\nC. incorrect\nD. incorrect", 'B'},
       {"### A) False\nToo small by far.\n### B) False\nAs (A).\n### C) True\n### D) False\nAs (B).", 'C'},
       {"| option | holds |\n|---|---|\n| (A) | no |\n| (B) | no |\n| (C) | no |\n| (D) | **yes** |", 'D'},
       {"| | parity | charge |\n|-|-|-|\n| A | \u2713 | \u2717 |\n| B | \u2713 | \u2713 |\n| C | \u2717 | \u2713 |",
        'B'},
       {"A: 2 eV \u2192 too small, wrong\nB: 3 eV \u2192 correct\nC: 4 eV \u2192 wrong", 'B'},
       {"Option A (2 eV): incorrect.\nOption B (3 eV): incorrect.\nOption C (4 eV): correct.", 'C'},
       {"A: false, B: true, C: false, D: false", 'B'},
       {"A: \u2717\nB: \u2713\n\nOn second thoughts the answer is A.", 'A'},
       {"**A** \u2013 does it conserve charge? Yes.\n**B** \u2013 does it? No.\n**C** \u2013 does it? No.", 'A'},
       // near misses
       {"- A: \u2713\n- B: \u2717\n- C: \u2713\n- D: \u2717", '-'},
       {"- A: \u2717\n- B: \u2717\n- C: \u2717\n- D: \u2717", '-'},
       {"A. right\nB. right\nC. wrong\nD. right", '-'},
       {"A: true, B: true, C: false", '-'},
       {"- A: in part\n- B: in part\n- C: in part\n- D: in part", '-'},
       {"[ ] A\n[ ] B\n[ ] C\n[ ] D", '-'},
       {"| A | yes |\n| B | yes |\n| C | no |\n| D | yes |", '-'},
       {"A) Yes\nB) No\nC) Yes, but only in vacuum\nD) No, never", '-'},
       {"A: true north\nB: right angle", '-'}});
}

TEST(ChoiceLetter, ByADescription) {
  expect_all({{"The only option compatible with a charge of 2.5 e and with the spin is B.", 'B'},
              {"The statement that survives all of these tests is therefore C.", 'C'},
              {"The one we have to mark is A, because the others decay.", 'A'},
              {"The candidate whose spectrum has two lines is (D).", 'D'},
              {"Statement C is the one that agrees with this.", 'C'},
              {"Claim B is the true one.", 'B'},
              {"So the true statement is D.", 'D'},
              {"A is the only value within the error.", 'A'},
              {"A is the only curve that fits.", 'A'},
              {"That is precisely what B predicts.", 'B'},
              {"It doubles, which is just what option D says.", 'D'},
              {"Therefore C should be chosen over B.", 'C'},
              {"So \"B\" is chosen.", 'B'},
              {"This points to D as the correct choice.", 'D'},
              {"It leaves us B as the only answer.", 'B'},
              {"So C, not A, is the right description.", 'C'},
              {"The last option, D, is correct.", 'D'},
              {"All of this makes option C the best answer.", 'C'},
              {"A is the one we were to find, and B is the one we are asked for.", 'B'},
              {"I lean toward D here.", 'D'},
              {"The choice is obvious: C.", 'C'},
              {"B, not C", 'B'},
              // near misses
              {"The only option that contradicts this is B.", '-'},
              {"The statement that is false is C.", '-'},
              {"One that has two rings is A.", '-'},
              {"The option that looks best is A compound with two rings.", '-'},
              {"The one with the larger mass is A or C.", '-'},
              {"The wrong one is D.", '-'},
              {"We must find what C says.", '-'},
              {"That is not what B predicts.", '-'},
              {"C is chosen as the origin.", '-'},
              {"It excludes D as the correct choice.", '-'},
              {"Statement C is the one that fails.", '-'},
              {"A is the only metal that melts here.", '-'},
              {"Let B, not A, be the origin.", '-'},
              {"C is correct about the sign, wrong about the rest.", '-'},
              {"D is right only if the gas is ideal.", '-'}});
}

TEST(ChoiceLetter, ByWhatComesBackToIt) {
  expect_all({{"Only A has the right sign at T = 0, making it the answer.", 'A'},
              {"The curve falls as in B, so that's my answer.", 'B'},
              {"That is found in column D, which is the answer.", 'D'},
              {"The reaction in C is allowed and is therefore the correct choice.", 'C'},
              {"By that convention it has to be B, which is what I choose.", 'B'},
              // near misses
              {"Its mass is 5, which is the answer.", '-'},
              {"The value at A and B is 5, which is the answer.", '-'},
              {"It cannot be A, which is the answer of most students.", '-'},
              {"A compound forms, which is the answer.", '-'},
              {"Vitamin C, which is the answer.", '-'},
              {"We compare it with B. That is 5, which is the answer.", '-'}});
}

TEST(ChoiceLetter, InChinese) {
  expect_all({{"由此可得，答案为 C。", 'C'},
              {"答案：**D**", 'D'},
              {"【答案】B", 'B'},
              {"最终答案是：（A）", 'A'},
              {"因此答案应该是选项 B，因为能量守恒。", 'B'},
              {"综上，应选 D。", 'D'},
              {"故选C", 'C'},
              {"所以我选择B选项。", 'B'},
              {"正确的选项为A。", 'A'},
              {"符合条件的选项是 Ｃ。", 'C'},
              {"A选项错误，B选项正确。", 'B'},
              {"只有选项D是正确的。", 'D'},
              {"答案不是C，而是A。", 'A'},
              {"A. 错误\nB. 错误\nC. 正确\nD. 错误", 'C'},
              {"不选A，选B。", 'B'},
              // near misses
              {"点A到直线BC的距离为 3。", '-'},
              {"选A点为原点，选B点为终点。", '-'},
              {"如果答案是A，那么能量不守恒。", '-'},
              {"答案不是B。", '-'},
              {"不应选C。", '-'},
              {"为什么选B？", '-'},
              {"不正确的是D。", '-'},
              {"错误的选项是D。", '-'},
              {"选项A、B都正确。", '-'},
              {"A和C正确。", '-'},
              {"答案是A和C。", '-'},
              {"选A、B、D。", '-'},
              {"答案是A类化合物。", '-'},
              {"答案是B族维生素。", '-'},
              {"备选A。", '-'},
              {"D正确吗？", '-'},
              {"C的正确性未知。", '-'},
              {"A与B反应生成C。", '-'}});
}

TEST(ChoiceLetter, InOtherLanguages) {
  expect_all({{"La réponse est donc la B.", 'B'},
              {"La bonne réponse est l'option C, car l'énergie est conservée.", 'C'},
              {"La respuesta correcta es, por lo tanto, la opción D.", 'D'},
              {"Respuesta: **A**", 'A'},
              {"Die richtige Antwort ist also (C).", 'C'},
              {"Die Antwort lautet B, da nur dort die Ladung stimmt.", 'B'},
              {"La risposta corretta è la D.", 'D'},
              {"A resposta correta é a alternativa C.", 'C'},
              {"De esto se deduce que la respuesta es B.", 'B'},
              {"Итак, ответ: B", 'B'},
              {"Правильный ответ — C.", 'C'},
              {"答えはBです。", 'B'},
              {"따라서 정답은 D입니다.", 'D'},
              // near misses
              {"Si la réponse est A, la masse double.", '-'},
              {"La réponse n'est pas C.", '-'},
              {"Die falsche Antwort ist B.", '-'},
              {"Die Antwort ist nicht B.", '-'},
              {"Wenn die Antwort B ist, gilt das nicht.", '-'},
              {"Die Antwort ist B-förmig.", '-'},
              {"La respuesta es A o C.", '-'},
              {"La respuesta es B y C.", '-'},
              {"A resposta é a mesma.", '-'},
              {"Die Beantwortung ist A.", '-'},
              {"Сила соответствует B.", '-'}});
}

TEST(ChoiceLetter, ByALabel) {
  expect_all({{"TL;DR: B\n\nThe D-term vanishes.", 'B'},
              {"I said C at first. Correction: A.", 'A'},
              {"Conclusion \u2192 D", 'D'},
              {"Conclusion \u2014 **B**", 'B'},
              {"The answer's C.", 'C'},
              {"\u2705 **B**", 'B'},
              {"Step 2. Look it up among the options: B.", 'B'},
              // near misses
              {"Correction: A term is missing.", '-'},
              {"Correction: C and D are the same.", '-'},
              {"Conclusion: B is larger than A.", '-'},
              {"Let us look at the options: A. 2 eV B. 3 eV", '-'},
              {"\U0001f449 **C**", 'C'},
              {"\u274c **B**", '-'},
              {"(A) F\n(B) T\n(C) F\n(D) T", '-'},
              {"(A) 2 eV\n(B) 3 eV\n\nWe get 3 eV, so (B).", 'B'}});
}

TEST(ChoiceLetter, WhatIsSaidOfSeveralChoosesNone) {
  expect_all({{"Both B and C are right.", '-'},
              {"A and D are both correct.", '-'},
              {"Both (A) and (B) are true.", '-'},
              {"All four claims (A\u2013D) are correct.", '-'},
              {"The options B to D are valid.", '-'},
              {"A, B and C are correct.", '-'},
              {"It is B. Or rather C? I cannot decide between them.", '-'},
              {"I'd say it is D. But I am unable to tell which one is meant.", '-'},
              {"Option A fails. Option C is", '-'},
              {"The answer is", '-'},
              {"Option A: the mass doubles.\nOption B: the mass is halved.", '-'},
              {"- **Option C**: as before.\n- **Option D**: the field vanishes", '-'},
              // near misses
              {"I can't decide between the two by symmetry, but the energy says that B is right.", 'B'},
              {"A and C are wrong, and B is right.", 'B'},
              {"A fails. B and D fail. C is correct.", 'C'},
              {"Option C: the mass doubles, as found above.", 'C'},
              {"Option A: 2 eV.\nOption B: 3 eV.\n\nWe found 3 eV, hence option B.", 'B'}});
}

TEST(ChoiceLetter, WhatALetterIsTheNameOfIsNotChosen) {
  expect_all({{"Vitamin B is right for this.", '-'},
              {"Hepatitis C is the most likely cause.", '-'},
              {"Ring A is correct as drawn.", '-'},
              {"Student B is right.", '-'},
              {"Operator A is valid on all of them.", '-'},
              {"Ring A is correct as drawn, so statement D is correct.", 'D'}});
}

// What a tag or a wide form stands for is none of simple-evals' business.
TEST(ChoiceLetter, SimpleEvalsReadsTheTextAsItIs) {
  expect_all({{"Answer\uff1aB\nAnswer: C", 'C'}, {"Answer: <b>B</b>\nAnswer: D", 'D'}});
}

TEST(ChoiceLetter, HostileWordsInLinearTime) {
  constexpr std::size_t kBytes = 1U << 20U;
  for (const std::string_view piece : {"A is. ",
                                       "only ",
                                       "correct ",
                                       "is not ",
                                       "matches ",
                                       "not correct, B is ",
                                       "\\color{",
                                       "\\boxed{A",
                                       "which leaves ",
                                       "C and ",
                                       "the answer, then, ",
                                       "letter ",
                                       "=> ",
                                       "B is the only option ",
                                       "<",
                                       "<b",
                                       "<span ",
                                       "\uff21",
                                       "\u201c",
                                       "A: \u2713\n",
                                       "- A: no. ",
                                       "A: no. B: yes. ",
                                       "| A | ",
                                       "A: - ",
                                       "[ ] "}) {
    std::string text;
    while (text.size() < kBytes) text += piece;
    choice_letter(text);
    EXPECT_EQ(choice_letter(text + "\nAnswer: C"), 'C') << piece;
  }
}

TEST(ChoiceLetter, ExceptionsAbbreviationsAndAgreement) {
  for (const std::string_view text : {"Out of all options, C is closest to our result.", "the closest is 6, which is C",
                                      "Our calculation agrees with C.", "The calculation is consistent with C."}) {
    EXPECT_EQ(choice_letter(text), 'C') << text;
  }
  for (const std::string_view text : {"Everything except C is right.", "All options except for C are correct.",
                                      "We consider carbon (C) atoms.", "Our calculation is not consistent with C."}) {
    EXPECT_EQ(choice_letter(text), '\0') << text;
  }
  EXPECT_EQ(choice_letter("The best choice (C) follows."), 'C');
}

}  // namespace
}  // namespace dts
