#include "dts/answer.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace dts {
namespace {

struct Example {
  std::string_view in;
  std::string_view out;
};

TEST(SplitThinking, BothTags) {
  const SplitText split = split_thinking("<think>\nhmm\n</think>\n\nIt is 4.", false);
  EXPECT_EQ(split.thinking, "hmm");
  EXPECT_EQ(split.answer, "It is 4.");
  EXPECT_FALSE(split.thinking_open);
}

TEST(SplitThinking, OnlyTheClosingTag) {
  for (const bool opens : {false, true}) {
    const SplitText split = split_thinking("hmm </think> 4", opens);
    EXPECT_EQ(split.thinking, "hmm");
    EXPECT_EQ(split.answer, "4");
    EXPECT_FALSE(split.thinking_open);
  }
}

TEST(SplitThinking, NoThinking) {
  const SplitText split = split_thinking(" It is 4. ", false);
  EXPECT_EQ(split.thinking, "");
  EXPECT_EQ(split.answer, "It is 4.");
  EXPECT_FALSE(split.thinking_open);
}

TEST(SplitThinking, NeverClosed) {
  const SplitText by_prompt = split_thinking("still at it", true);
  EXPECT_EQ(by_prompt.thinking, "still at it");
  EXPECT_EQ(by_prompt.answer, "");
  EXPECT_TRUE(by_prompt.thinking_open);

  const SplitText by_model = split_thinking("<think>still at it", false);
  EXPECT_EQ(by_model.thinking, "still at it");
  EXPECT_EQ(by_model.answer, "");
  EXPECT_TRUE(by_model.thinking_open);

  const SplitText again = split_thinking("<think>a</think><think>b", false);
  EXPECT_EQ(again.thinking, "a");
  EXPECT_EQ(again.answer, "");
  EXPECT_TRUE(again.thinking_open);
}

TEST(SplitThinking, SplitsAtTheLastClosingTag) {
  const SplitText split = split_thinking("<think>a</think>b</think>c", false);
  EXPECT_EQ(split.thinking, "a</think>b");
  EXPECT_EQ(split.answer, "c");
}

TEST(SplitThinking, AMentionOfTheTagIsNoThinking) {
  EXPECT_EQ(split_thinking("use <think> wisely", false).answer, "use <think> wisely");
}

TEST(LastBoxed, Examples) {
  const std::vector<Example> examples = {
      {R"(\boxed{7})", "7"},
      {R"(\fbox{7})", "7"},
      {R"(first \boxed{1}, then \boxed{2}.)", "2"},
      {R"(\boxed{\frac{1}{2}})", R"(\frac{1}{2})"},
      {R"(\boxed {7})", "7"},
      {R"(\boxed{ 7 })", "7"},
      {R"(\boxed{\{1, 2\}})", R"(\{1, 2\})"},
      {R"(\boxed{\left\{ x \right.})", R"(\left\{ x \right.)"},
      {R"(\boxed{1} \boxed{2)", "1"},
      {R"(\boxed{1} and put it in \boxed{})", "1"},
      {R"(\boxed{a \boxed{b}})", "b"},
      {R"(\\boxed{7})", "7"},
      {R"(} \boxed{7} {)", "7"},
      {R"({ \boxed{7})", "7"},
      {R"(\boxed{\text{yes}})", R"(\text{yes})"},
      {R"(\boxedx{7})", ""},
      {R"(\boxed 7)", ""},
      {R"(boxed{7})", ""},
      {R"(\boxed{)", ""},
      {R"(\boxed)", ""},
      {"\\", ""},
      {"", ""},
  };
  for (const Example& example : examples) EXPECT_EQ(last_boxed(example.in), example.out) << example.in;
}

TEST(NormaliseAnswer, Numbers) {
  const std::vector<Example> examples = {
      {"7", "7"},
      {"+7", "7"},
      {"07", "7"},
      {"7.0", "7"},
      {"7.", "7"},
      {"7,000", "7000"},
      {"7{,}000", "7000"},
      {"7\\,000", "7000"},
      {"7,\\!000", "7000"},
      {"1,234,567", "1234567"},
      {"-0", "0"},
      {"-0.00", "0"},
      {".5", "0.5"},
      {"-.50", "-0.5"},
      {"0.50", "0.5"},
      {"100", "100"},
      {"$42$", "42"},
      {"\\$42", "42"},
      {"$42.50", "42.5"},
      {"\u20ac42", "42"},
      {"42 \u20ac", "42"},
      {"50%", "50"},
      {"50\\%", "50"},
      {"90^\\circ", "90"},
      {"90^{\\circ}", "90"},
      {"90\u00b0", "90"},
      {"90\\degree", "90"},
      {"\u22125", "-5"},
      {"5\\text{ cm}", "5"},
      {"5\\text{ cm}^2", "5"},
      {"5 \\mathrm{~km/h}", "5"},
      {"12:05", "12:05"},
      {"1.2.3", "1.2.3"},
      {"000", "0"},
      {"x = 5", "5"},
      {"x=+5.0", "5"},
      {"\\(5\\)", "5"},
      {"\\[5\\]", "5"},
      {"**5**", "5"},
      {"\"5\"", "5"},
      {"5!", "120"},
      {"0.(3)", "1/3"},
      {R"(0.1\overline{6})", "1/6"},
      {R"(0.\overline{09})", "1/11"},
      {"0.1666...", "1/6"},
      {"2\u00bd", "2.5"},
      {R"(\binom{5}{2})", "10"},
      {"1.5e3", "1500"},
      {"2e", "2e"},
      {"5 cm", "5"},
      {"64 square feet", "64"},
      {"60 km/h", "60"},
      {"90 degrees", "90"},
      {"5cm^2", "5"},
      {"5 m", "5 m"},
      {"5 apples", "5 apples"},
      {"1/2", "0.5"},
      {"2/4", "0.5"},
      {"-2/6", "-1/3"},
      {"7/1", "7"},
      {"1/0", "1/0"},
      {"1 1/2", "1.5"},
      {"\u00bd", "0.5"},
      {"(5)", "5"},
      {"2+3", "5"},
      {"2-", "2-"},
      {"1/1024", "0.0009765625"},
      {"1,200,30", "1, 30, 200"},
      {"1, 200", "1, 200"},
      {"12,34", "12, 34"},
      {"34, 12", "12, 34"},
      {"5 or 6", "5, 6"},
      {"123456789012345678901234567890123456789012345678901234567890.10",
       "123456789012345678901234567890123456789012345678901234567890.1"},
      {"10^35", "100000000000000000000000000000000000"},
      {"10^36", "10^36"},
  };
  for (const Example& example : examples) EXPECT_EQ(normalise_answer(example.in), example.out) << example.in;
}

TEST(NormaliseAnswer, Latex) {
  const std::vector<Example> examples = {
      {R"(\frac{1}{2})", "0.5"},
      {R"(\dfrac{1}{2})", "0.5"},
      {R"(\tfrac12)", "0.5"},
      {R"(\frac 1 2)", "0.5"},
      {R"(\frac{1}{3})", "1/3"},
      {R"(-\frac{1}{2})", "-0.5"},
      {R"(\frac{-1}{2})", "-0.5"},
      {R"(1\frac{1}{2})", "1.5"},
      {R"(-1\frac{1}{2})", "-1.5"},
      {R"(x\frac{1}{2})", "x*1/2"},
      {R"(\frac{1}{xy})", "1/(xy)"},
      {R"(\frac{x+1}{2})", "(x+1)/2"},
      {R"(\frac{\frac{1}{2}}{3})", "1/6"},
      {R"(\frac{1}{\sqrt{2}})", "1/(sqrt(2))"},
      {R"(2\sqrt{3})", "2sqrt(3)"},
      {R"(2\sqrt3)", "2sqrt(3)"},
      {"2\u221a3", "2sqrt(3)"},
      {R"(\sqrt[3]{x})", "sqrt[3](x)"},
      {R"(2\pi)", "2pi"},
      {"2\u03c0", "2pi"},
      {R"(x^{2})", "x^2"},
      {R"(x^2)", "x^2"},
      {R"(x^{10})", "x^10"},
      {R"(x^{n+1})", "x^(n+1)"},
      {R"(3 \cdot 10^{5})", "300000"},
      {R"(6.02\times10^{-3})", "0.00602"},
      {R"(3 \times 4)", "12"},
      {R"(\sqrt{16})", "4"},
      {R"(\sqrt[3]{-27})", "-3"},
      {R"(2^{-3})", "0.125"},
      {R"(\left( 1, 2 \right))", "(1, 2)"},
      {R"((1,200))", "(1, 200)"},
      {R"(\{1,2\})", "{1, 2}"},
      {R"(\{2, 1, 2/2\})", "{1, 2}"},
      {R"((\frac12, 0.50])", "(0.5, 0.5]"},
      {R"(\begin{pmatrix} 1 & 2 \\ 3 & \frac12 \end{pmatrix})", "[[1, 2], [3, 0.5]]"},
      {R"(\left[\begin{array}{cc}1&2\\3&4\end{array}\right])", "[[[1, 2], [3, 4]]]"},
      {R"(x \in [0, 1])", "[0, 1]"},
      {R"(1 \pm \sqrt{2})", "1+-sqrt(2)"},
      {R"(\frac{3}{4}\text{ cm})", "0.75"},
      {R"([0, \infty))", "[0, infinity)"},
      {R"(\text{Friday})", "friday"},
      {R"(\textbf{(B)})", "b"},
      {R"(\mathrm{(C)})", "c"},
      {R"(x \leq 5)", "x<=5"},
      {"x \u2264 5", "x<=5"},
      {R"(\alpha + \Delta)", R"(\alpha+\Delta)"},
      {R"(\\frac{1}{2})", "0.5"},
      {R"(\boxed{7})", "7"},
      {R"(5 \text{ or } 6)", "5, 6"},
      {R"(\frac{)", "()/()"},
  };
  for (const Example& example : examples) EXPECT_EQ(normalise_answer(example.in), example.out) << example.in;
}

TEST(NormaliseAnswer, Words) {
  const std::vector<Example> examples = {
      {"  Yes. ", "yes"},
      {"New   York", "new york"},
      {"(A)", "a"},
      {"A)", "a"},
      {"A.", "a"},
      {"[b]", "b"},
      {"(ab)", "(ab)"},
      {"a , b,c", "a, b, c"},
      {"f (x) = 2 x", "f(x)=2 x"},
      {"x=y=5", "x=y=5"},
      {"\u00c9t\u00e9", "\u00c9t\u00e9"},
      {"%", ""},
      {"", ""},
      {"\n\t ", ""},
      {"...", ""},
      {"'no'", "no"},
  };
  for (const Example& example : examples) EXPECT_EQ(normalise_answer(example.in), example.out) << example.in;
}

TEST(ExtractAnswer, PrefersTheBoxOfTheAnswer) {
  EXPECT_EQ(extract_answer(R"(<think>\boxed{1}</think> So \boxed{2}.)", false), "2");
  EXPECT_EQ(extract_answer(R"(<think>\boxed{1}</think> done)", false), "1");
  EXPECT_EQ(extract_answer(R"(<think>\boxed{1}</think> The answer is 2.)", false), "2");
  EXPECT_EQ(extract_answer(R"(maybe \boxed{3}, wait)", true), "3");
}

TEST(ExtractAnswer, FallsBackToTheLastLine) {
  const std::vector<Example> examples = {
      {"Adding up.\n\nThe answer is 42.", "42"},
      {"The final answer is: **42**", "42"},
      {"Answer: (C)", "c"},
      {"#### 42", "42"},
      {"**Answer:** 42\n", "42"},
      {"So, the answer is $42$.", "42"},
      {"-5", "-5"},
      {"- 5", "5"},
      {"42", "42"},
      {"Paris", "paris"},
      {"The answers vary", "the answers vary"},
      {"hmm</think>\n\nAdding up.\r\n7,000\r\n", "7000"},
      {"", ""},
  };
  for (const Example& example : examples) EXPECT_EQ(extract_answer(example.in, false), example.out) << example.in;
}

TEST(ExtractAnswer, ALongLineIsProse) {
  EXPECT_EQ(extract_answer(std::string(1024, 'a'), false).size(), 1024U);
  EXPECT_EQ(extract_answer(std::string(1025, 'a'), false), "");
}

TEST(ExtractAnswer, UnfinishedThinkingHasNoLastLine) { EXPECT_EQ(extract_answer("let me see\n42", true), ""); }

// Text made of the pieces that the rules look at, and of arbitrary bytes.
std::string hostile_text(std::mt19937_64& random) {
  static const std::vector<std::string> pieces = {
      "\\",   "{",      "}",        "\\boxed{", "\\fbox{", "\\frac", "\\sqrt",   "\\text{", "\\left",  "\\circ",
      "^",    "_",      "$",        "\\$",      "(",       ")",      "[",        "]",       ",",       "{,}",
      "1",    "0",      "000",      ".",        "-",       "+",      "=",        "x",       "A",       " ",
      "\n",   "%",      "\u00b0",   "\u221a",   "\u20ac",  "**",     "\"",       "`",       "<think>", "</think>",
      "\\,",  "\\\\",   "\\pi",     "\\Foo",    ":",       "/",      "\\degree", "or",      "cm",      "\xff",
      "\xc2", "\u2212", "\\mathrm", "!",        "12,345"};
  std::string text;
  const std::size_t length = random() % 24;
  for (std::size_t i = 0; i < length; ++i) {
    text += random() % 16 == 0 ? std::string(1, static_cast<char>(random())) : pieces[random() % pieces.size()];
  }
  return text;
}

bool has_visible(std::string_view text) { return text.find_first_not_of(" \t\n\v\f\r") != std::string_view::npos; }

TEST(AnswerProperties, HoldForHostileText) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 50000; ++i) {
    const std::string text = hostile_text(random);
    const std::string once = normalise_answer(text);
    ASSERT_EQ(normalise_answer(once), once) << text;

    const std::string_view boxed = last_boxed(text);
    if (!boxed.empty()) {
      ASSERT_GE(boxed.data(), text.data());
      ASSERT_LE(boxed.data() + boxed.size(), text.data() + text.size());
      ASSERT_TRUE(has_visible(boxed));
    }
    // A box put at the end is the one that is found, whatever came before.
    ASSERT_EQ(last_boxed(text + " \\boxed{7}"), "7") << text;

    for (const bool opens : {false, true}) {
      const SplitText split = split_thinking(text, opens);
      ASSERT_EQ(split.answer.find("</think>"), std::string_view::npos);
      const std::string answer = extract_answer(text, opens);
      ASSERT_EQ(normalise_answer(answer), answer) << text;
    }
  }
}

// The matched boxes of `text`, found by trying every place: the oracle of last_boxed.
std::string slow_last_boxed(std::string_view text) {
  std::string last;
  for (std::size_t begin = 0; begin < text.size(); ++begin) {
    for (const std::string_view opening : {"\\boxed{", "\\fbox{"}) {
      if (text.substr(begin, opening.size()) != opening) continue;
      const std::size_t first = begin + opening.size();
      std::size_t depth = 1;
      for (std::size_t at = first; at < text.size() && depth > 0; ++at) {
        if (text[at] == '{') ++depth;
        if (text[at] == '}' && --depth == 0 && has_visible(text.substr(first, at - first))) {
          last = text.substr(first, at - first);
        }
      }
    }
  }
  return last;
}

TEST(LastBoxed, AgreesWithTheOracle) {
  static const std::vector<std::string> pieces = {"{", "}", "\\boxed{", "\\fbox{", "x", "1", "\\frac", " y"};
  std::mt19937_64 random(11);
  for (int i = 0; i < 50000; ++i) {
    std::string text;
    const std::size_t length = random() % 16;
    for (std::size_t piece = 0; piece < length; ++piece) text += pieces[random() % pieces.size()];
    std::string expected = slow_last_boxed(text);
    while (!expected.empty() && expected.front() == ' ') expected.erase(0, 1);
    ASSERT_EQ(last_boxed(text), expected) << text;
  }
}

// Quadratic code would take hours here.
TEST(AnswerProperties, TenMegabytesOfAnything) {
  constexpr std::size_t kBytes = 10U << 20U;
  for (const std::string_view piece :
       {"\\",       "{",       "}", "\\boxed{", "\\boxed ", "\\frac{", "\\sqrt", "^{", "{}",         "(",   "**",
        "</think>", "<think>", " ", "0",        ",",        "1,",      "-",      "\n", "\\\\boxed{", "\xff"}) {
    std::string text;
    text.reserve(kBytes + piece.size());
    while (text.size() < kBytes) text += piece;
    EXPECT_LE(extract_answer(text, false).size(), text.size());
    EXPECT_EQ(extract_answer(text + "\\boxed{7}", false), "7") << piece;
  }
}

}  // namespace
}  // namespace dts
