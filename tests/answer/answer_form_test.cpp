// In which form a question is asked, and which of its answers are one vote.
#include "question/answer_form.h"

#include <gtest/gtest.h>

#include <random>

namespace dts {
namespace {

TEST(AnswerForm, AutoKnowsOptionsValuesAndText) {
  const auto form = [](const char* question) { return form_of(AnswerForm::kAuto, question); };
  for (const char* question :
       {"How many primes are below 50?", "Compute 3 + 4.", "What is 12*7?", "Solve x^2 = 4 for x.",
        "What is the probability that they differ?", "12 + 30 = ?", "Find all real x with |x| = 2."}) {
    EXPECT_EQ(form(question), AnswerForm::kBoxed) << question;
  }
  for (const char* question :
       {"Which is heavier?\nA) ice\nB) water", "Pick one.\n(A) x\n(B) y\n(C) z", "Pick.\n  A. one\n  B. two\n"}) {
    EXPECT_EQ(form(question), AnswerForm::kLetter) << question;
  }
  for (const char* question : {"Why is the sky blue?", "Write a poem about 3 cats.", "hi", "", "Who wrote Faust?",
                               "A) alone is no list of options", "Explain well-known e-mail habits."}) {
    EXPECT_EQ(form(question), AnswerForm::kText) << question;
  }
  EXPECT_EQ(form("Why? Put it within \\boxed{}."), AnswerForm::kBoxed);
  EXPECT_EQ(form_of(AnswerForm::kText, "How many?"), AnswerForm::kText);
}

TEST(AnswerForm, AsksOnce) {
  for (const AnswerForm form : {AnswerForm::kBoxed, AnswerForm::kLetter, AnswerForm::kText}) {
    const std::string once = asked_in(form, "What?");
    EXPECT_TRUE(once.starts_with("What?"));
    EXPECT_EQ(asked_in(form, once), once);
    EXPECT_EQ(form_of(AnswerForm::kAuto, once), form_of(form, once));
  }
  EXPECT_EQ(asked_in(AnswerForm::kText, "What?"), "What?");
}

TEST(AnswerForm, ReadsAnswersAsTheyWereWritten) {
  const AnswerReader boxed = form_reader(AnswerForm::kBoxed, "How many?", false);
  EXPECT_EQ(boxed("<think>\\boxed{1}</think>It is \\boxed{\\frac{1}{2}}."), "\\frac{1}{2}");
  EXPECT_EQ(boxed("So it is clear.\nThe answer is 0.50"), "0.50");
  EXPECT_EQ(boxed(""), "");
  EXPECT_TRUE(form_equality(AnswerForm::kBoxed)("\\frac{1}{2}", "0.50"));
  EXPECT_FALSE(form_equality(AnswerForm::kBoxed)("0.5", "0.6"));

  const AnswerReader letter = form_reader(AnswerForm::kLetter, "Which?\nA) x\nB) y", false);
  EXPECT_EQ(letter("Because.\nAnswer: B"), "B");
  EXPECT_EQ(letter("I cannot say."), "");
  EXPECT_EQ(letter("<think>Answer: A</think>Answer: B"), "B");

  const AnswerReader text = form_reader(AnswerForm::kText, "Why?", true);
  EXPECT_EQ(text("thinking</think>\n\nBecause Rayleigh scattering.\nIt favours blue."),
            "Because Rayleigh scattering.\nIt favours blue.");
  EXPECT_EQ(text("still thinking"), "");
  EXPECT_LE(text("x</think>" + std::string(100000, 'y')).size(), 4096U);
  EXPECT_EQ(text("x</think>\xff"), "\xEF\xBF\xBD");
}

TEST(AnswerForm, FreeTextsAgreeWhenTheySayTheSame) {
  const auto same = [](const char* a, const char* b) {
    EXPECT_EQ(same_text(a, b), same_text(b, a)) << a;
    return same_text(a, b);
  };
  EXPECT_TRUE(same("Goethe wrote Faust.", "goethe wrote Faust"));
  EXPECT_TRUE(same("The sky is blue because air scatters blue light most.",
                   "The sky is blue, because the air scatters blue light most."));
  EXPECT_TRUE(same("It took 7,000 men and 3 years to build it.", "It took 7000 men and 3 years to build it!"));
  EXPECT_FALSE(same("It took 7000 men and 3 years to build it.", "It took 7000 men and 4 years to build it."));
  EXPECT_FALSE(same("It is safe to drink the water there.", "It is not safe to drink the water there."));
  EXPECT_FALSE(same("Yes.", "No."));
  EXPECT_FALSE(same("Goethe wrote it.", "Schiller wrote it."));
  EXPECT_FALSE(same("Paris", "London"));
  EXPECT_TRUE(same("PARIS.", "Paris"));
}

TEST(AnswerForm, AnyBytesAreTaken) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    std::string a(random() % 200, '\0');
    std::string b(random() % 200, '\0');
    for (char& c : a) c = static_cast<char>(random());
    for (char& c : b) c = static_cast<char>(random());
    EXPECT_EQ(same_text(a, b), same_text(b, a));
    for (const AnswerForm form : {AnswerForm::kBoxed, AnswerForm::kLetter, AnswerForm::kText}) {
      form_reader(form, a, (round % 2) == 0)(b);
      asked_in(form_of(AnswerForm::kAuto, a), a);
    }
  }
}

}  // namespace
}  // namespace dts
