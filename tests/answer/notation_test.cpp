// The same answer in the notations of plain TeX, of other countries and of word processors, each beside what it must
// not be taken for.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "answer/structure.h"
#include "answer/value/number_base.h"
#include "dts/answer.h"

namespace dts {
namespace {

struct Pair {
  std::string_view a;
  std::string_view b;
};

void expect_same(const std::vector<Pair>& pairs) {
  for (const Pair& pair : pairs) {
    EXPECT_TRUE(equivalent(pair.a, pair.b)) << pair.a << " and " << pair.b;
    EXPECT_TRUE(equivalent(pair.b, pair.a)) << pair.b << " and " << pair.a;
    for (const std::string_view one : {pair.a, pair.b}) {
      const std::string normal = normalise_answer(one);
      EXPECT_EQ(normalise_answer(normal), normal) << one;
    }
  }
}

void expect_different(const std::vector<Pair>& pairs) {
  for (const Pair& pair : pairs) {
    EXPECT_FALSE(equivalent(pair.a, pair.b)) << pair.a << " and " << pair.b;
    EXPECT_FALSE(equivalent(pair.b, pair.a)) << pair.b << " and " << pair.a;
  }
}

TEST(Notation, ThousandsHoweverTheyAreSetApart) {
  expect_same({{"1234567", "1'234'567"},
               {"1234567", R"(1{\,}234{\,}567)"},
               {"2500", R"(2\thinspace500)"},
               {"2500", R"(2{\small,}500)"},
               {"1234567", R"(\num{1234567})"},
               {"2500", R"(2{,}500)"},
               {"2.5", R"(2{.}5)"}});
  expect_different({{"1234567", "1'234'56"}, {"1234567", "1'234 567"}, {"12", "f'12"}, {"2.5", R"(2{,}5)"}});
}

TEST(Notation, BracesAroundAMarkHoldNothing) {
  expect_same(
      {{"-3/4", R"({-}\frac{3}{4})"}, {"x=5", "x{=}5"}, {R"(\frac{\binom{5}{2}}{4})", R"(\frac{{5 \choose 2}}{4})"}});
  expect_different({{"3/4", R"({-}\frac{3}{4})"}, {R"(\{\})", "0"}});
}

TEST(Notation, BracesThatOnlyHoldTogether) {
  expect_same({{"x^2", R"({x}^{2})"},
               {"e^{2x}", R"({e}^{2x})"},
               {"(x-1)^2", R"({\left( x-1 \right)}^{2})"},
               {"x^2+y^2=4", R"({{x}^{2}}+{{y}^{2}}=4)"},
               {"3*2^5", R"(3{2}^{5})"},
               {R"(\{0,1\}^n)", R"(\{0, 1\}^{n})"}});
  expect_different({{"32^5", R"(3{2}^{5})"}, {R"(x-1^2)", R"({\left( x-1 \right)}^{2})"}, {R"(\{x\}+1)", "x+1"}});
}

TEST(Notation, DomainsMembersAndLengths) {
  expect_same({{"[-2,7]", R"(x\in\mathbb{R}, -2\le x\le 7)"},
               {R"(x\ne 3)", R"(x \in \mathbb{R}, x \neq 3)"},
               {"[-2,7]", R"(x\in\mathbb{R}: -2\le x\le 7)"},
               {"(1,2),(2,1)", R"((x,y)\in\{(1,2),(2,1)\})"},
               {"AB=5", "|AB|=5"},
               {"52_8", "52_{(8)}"}});
  expect_different({{"[-2,7]", R"(x\in\mathbb{R})"},
                    {R"(\mathbb{R})", R"(x\in\mathbb{R}, x\ne 3)"},
                    {"(1,2)", R"((x,y)\in\{(1,2),(2,1)\})"},
                    {"AC=5", "|AB|=5"},
                    {"52_8", "52_{(7)}"}});
}

TEST(Notation, FractionsOfRaisedAndLoweredDigits) {
  expect_same({{"3/56", R"(^{3}/_{56})"}, {"3/56", R"({}^{3}/_{56})"}, {"3/4", "\u00b3\u2044\u2084"}});
  expect_different({{"2 3/56", R"(2^{3}/_{56})"}, {"56/3", R"(^{3}/_{56})"}});
}

TEST(Notation, RepeatingDecimalsBetweenTwoDots) {
  expect_same({{R"(0.\overline{36})", R"(0.\dot{3}\dot{6})"}, {R"(0.1\overline{234})", R"(0.1\dot{2}3\dot{4})"}});
  expect_different({{R"(0.3\overline{6})", R"(0.\dot{3}\dot{6})"}, {R"(0.\overline{36})", R"(0.3\dot{6})"}});
}

TEST(Notation, MatricesOfPlainTex) {
  expect_same({{R"(\begin{pmatrix}1&2\\3&4\end{pmatrix})", R"(\pmatrix{1&2\cr3&4})"},
               {R"(\begin{pmatrix}1&2\\3&4\end{pmatrix})", R"(\begin{pmatrix} 1 & 2 \cr 3 & 4 \end{pmatrix})"},
               {R"(3\sqrt[3]{2})", R"(\root 3 \of {54})"}});
  expect_different({{R"(\begin{pmatrix}1&2\\3&4\end{pmatrix})", R"(\pmatrix{1&3\cr2&4})"},
                    {R"(3\sqrt[3]{2})", R"(\root 4 \of {54})"}});
}

TEST(Notation, CombinationsAndFactorials) {
  expect_same({{"120", R"({}_{10}C_3)"},
               {"120", R"(_{10}C_{3})"},
               {"120", R"(^{10}C_3)"},
               {"120", "5! = 120"},
               {"120", "5!=120"},
               {R"(\binom{100}{50})", R"(\frac{100!}{50!\,50!})"},
               {"x!=5", R"(x \ne 5)"}});
  expect_different({{"120", R"({}_{10}C_4)"}, {"121", "5! = 121"}, {"120", R"(5 \ne 120)"}});
}

TEST(Notation, OpenIntervalsWithBracketsTurnedOutwards) {
  expect_same({{"(-1,3)", "]-1,3["},
               {"[-1,3)", "[-1,3["},
               {R"([2,\infty))", R"([2,+\infty[)"},
               {R"((-\infty,-1]\cup[4,\infty))", R"(]-\infty,-1]\cup[4,+\infty[)"}});
  expect_different({{"(-1,3)", "[-1,3["}, {"[-1,3]", "]-1,3["}, {"(-1,3]", "[-1,3["}});
  EXPECT_EQ(with_usual_brackets("]1, 2["), "(1, 2)");
  for (const char* other : {"]1[", "][", "]", "[[1, 2], [3, 4]]", "[1, 2]", "x]1, 2[", "]1, 2[\\cup"}) {
    EXPECT_EQ(with_usual_brackets(other), other);
  }
}

TEST(Notation, PointsBesideIntervals) {
  expect_same({{R"([0,1]\cup\{2\})", R"(0\le x\le1 \text{ or } x=2)"}, {R"([0,1]\cup\{2,3\})", R"(\{3,2\}\cup[0,1])"}});
  expect_different({{R"([0,1]\cup\{2\})", R"(0\le x\le1 \text{ or } x=3)"},
                    {R"([0,1]\cup\{2\})", R"(0\le x\le1 \text{ and } x=2)"},
                    {R"([0,1]\cup\{2\})", R"(0\le x\le1)"},
                    {R"(\{2,3\})", "[2,3]"}});
}

TEST(Notation, NamesOfPointsAndSolutions) {
  expect_same({{"(3,-2)", "P(3,-2)"}, {R"(\{1,3\})", "x_1=3, x_2=1"}});
  expect_different({{"(3,-2)", "P(-2,3)"}, {"P(3,-2)", "Q(3,-2)"}, {"(3,-2)", "f(3,-2)"}, {R"(\{1,3\})", "a=1, b=3"}});
}

TEST(Notation, OfComplexNumbers) {
  expect_same({{"3+4i", "3+i4"},
               {R"(e^{i\pi/3})", R"(\operatorname{cis}\frac{\pi}{3})"},
               {R"(e^{i\pi/3})", R"(\text{cis } 60^\circ)"},
               {R"(2e^{i\pi/6})", R"(2\operatorname{cis}(30^\circ))"},
               {"|x-3|", R"(\operatorname{abs}(x-3))"},
               {R"(\arctan\frac12)", R"(\operatorname{arctan}\frac{1}{2})"}});
  expect_different({{R"(e^{i\pi/3})", R"(\operatorname{cis}\frac{\pi}{6})"}, {"x2", "2x"}, {"|x-3|", "x-3"}});
}

TEST(Notation, Bases) {
  expect_same({{"1011_2", R"(1011 \text{ (base 2)})"},
               {"11", "1011_2 = 11"},
               {"11", "1011_2 = 11_{10}"},
               {"1011_2", "11 = 1011_2"}});
  expect_different(
      {{"11", "1011_2"}, {"13", "1011_2 = 13"}, {"1011_2", "1011_2 = 11"}, {"1011_2", R"(1011 \text{ (base 3)})"}});
  EXPECT_EQ(value_in_base("1011_2")->text(), "11");
  EXPECT_EQ(value_in_base("ff0_(16)")->text(), "4080");
  for (const char* none : {"a_5", "12_2", "12_", "_2", "12_1", "12_37", "1.5_8", "-12_8", "12_x", ""}) {
    EXPECT_FALSE(value_in_base(none)) << none;
  }
  EXPECT_FALSE(value_in_base(std::string(65, '1') + "_2"));
}

TEST(Notation, UnitsCurrenciesAndOrdinals) {
  expect_same({{R"(25\%)", R"(25 \text{ per cent})"},
               {R"(\$18.90)", R"(\text{USD } 18.90)"},
               {"36", R"(\text{Rs. } 36)"},
               {R"(60^\circ)", R"(60^{\text{o}})"},
               {"3", R"(\text{3rd})"},
               {"3:4", R"(3\text{ to }4)"},
               {"3,5,7", R"(3, 5, \& 7)"},
               {"3/8", R"(3/8 \text{ or } 0.375)"},
               {"(x+1)^2", R"(x^2+2x+1=(x+1)^2)"},
               {"12", R"(12\ \checkmark)"},
               {"12", "12 \u2705"},
               {"12", R"(\therefore 12)"},
               {"12", R"(12 \text{ meters squared})"}});
  expect_different({{"36", R"(\text{Rs. } 35)"},
                    {R"(\$18.90)", R"(\text{EUR } 18.90)"},
                    {"15", R"(15\text{ squared})"},
                    {"15", R"(15\text{ hundredths})"},
                    {"15", R"(15\text{ more than }x)"},
                    {"3:4", R"(4\text{ to }3)"},
                    {"3/8", R"(3/8 \text{ or } 5/8)"},
                    {"2", "2, 2"},
                    {"(x+1)^2", R"(x^2+2x=(x+1)^2)"}});
}

TEST(Notation, RatiosOfRoots) {
  expect_same({{R"(1:\sqrt{2})", R"(\sqrt2:2)"}, {R"(1:\sqrt{2})", R"(\frac{1}{\sqrt2})"}, {"3:4:5", "6:8:10"}});
  expect_different({{R"(1:\sqrt{2})", R"(\sqrt2:1)"}, {R"(1:\sqrt{2})", "0.7071"}, {"3:4:5", "3:5:4"}, {"0:1", "0:2"}});
}

TEST(Notation, BoundsWithoutSomePoints) {
  expect_same({{R"((0,1)\cup(1,\infty))", R"(x>0, x\neq1)"},
               {R"((0,1)\cup(1,\infty))", R"(x > 0 \text{ and } x \ne 1)"},
               {R"([-2,0)\cup(0,1)\cup(1,2))", R"(-2\le x<2, x\ne0, 1)"}});
  expect_different({{R"((0,1)\cup(1,\infty))", "x>0"},
                    {R"((0,1)\cup(1,\infty))", R"(x\ge0, x\ne1)"},
                    {R"((0,1)\cup(1,\infty))", R"(x>0, y\ne1)"},
                    {R"((0,1)\cup(1,\infty))", R"(x>0 \text{ or } x\ne1)"},
                    {R"((-\infty,-2)\cup(3,\infty))", R"(y<-2 \text{ or } x>3)"},
                    {R"((0,\infty))", R"(x>0, x\ne-1)"}});
}

TEST(Notation, SetsOfNumbersByName) {
  expect_same({{R"((0,\infty))", R"(\mathbb{R}^+)"},
               {R"((0,\infty))", R"(\mathbb{R}_{>0})"},
               {"x>0", R"(\text{all positive real numbers})"},
               {R"(x\ge0)", R"(\mathbb{R}_{\ge0})"}});
  expect_different({{R"([0,\infty))", R"(\mathbb{R}^+)"},
                    {R"((0,\infty))", R"(\mathbb{Z}^+)"},
                    {R"(\mathbb{R})", R"(\mathbb{R}^+)"}});
}

TEST(Notation, DressingAndSpacing) {
  for (const std::string_view dressed : {R"(\left.\frac{1}{7}\right.)", R"(\pmb{\frac17})", R"(\frac{1}{7}\strut)",
                                         R"(\frac{1}{7}\tag{1})", R"(\blue{\frac{1}{7}})", R"(\rule{0pt}{3ex}\frac17)",
                                         R"(\frac{1}{7}\label{a})", R"(\frac17{})", R"(0.142857142857\ldots)"}) {
    expect_same({{"1/7", dressed}});
  }
  expect_same({{"3/2", R"(1{\frac{1}{2}})"}, {"4/11", "0.3636..."}, {"5", R"(\begin{array}{c}5\end{array})"}});
  expect_different({{"1/7", R"(\left.\frac{1}{70}\right.)"}, {"1/3", "0.33..."}, {"1/2", R"(1{\frac{1}{2}})"}});
}

TEST(Notation, NamesBeforeValues) {
  expect_same({{"5", R"(\text{Total: }5)"},
               {"5", R"(\int_0^1 f(x)\,dx=5)"},
               {"5", R"(\sum_{i=1}^{3} a_i=5)"},
               {"x=2", R"(\text{only }x=2)"},
               {"6", R"(\text{exactly }6)"},
               {"B", R"(\text{Option B})"},
               {"75", R"(\text{seventy-five percent})"},
               {R"(5\text{ cents})", "5\u00a2"},
               {"12", R"(\Rightarrow 12)"},
               {"12", "It's 12."}});
  expect_different({{"5", R"(\text{not: }5)"},
                    {"B", R"(\text{Option C})"},
                    {R"(5\text{ dollars})", "5\u00a2"},
                    {"12", "It's not 12."}});
}

// m is a metre only where nothing says that it is a letter.
TEST(Notation, FormulasHoldForEveryLetter) {
  const std::vector<Pair> pairs = {{R"(\frac{#^2+#}{2})", R"(\frac12 #^2+\frac12 #)"},
                                   {R"(\frac{#}{2})", R"(0.5 #)"},
                                   {R"(#\cdot2^{#-1})", R"(\frac{#2^#}{2})"},
                                   {R"(\frac{3}{4} #y)", R"(\frac{3y#}{4})"},
                                   {R"(3-2#)", R"(-2#+3)"},
                                   {R"(2#-y=3)", R"(y=2#-3)"},
                                   {R"(# > 3)", R"((3,\infty))"}};
  for (const char letter : std::string("abcdhjklmnopqrstuvwxzABCDPRTV")) {
    for (const Pair& pair : pairs) {
      std::string a(pair.a);
      std::string b(pair.b);
      for (std::string* one : {&a, &b}) std::replace(one->begin(), one->end(), '#', letter);
      expect_same({{a, b}});
      std::replace(b.begin(), b.end(), '3', '4');
      std::replace(b.begin(), b.end(), '5', '8');
      std::replace(b.begin(), b.end(), '2', '5');
      expect_different({{a, b}});
    }
  }
}

// A letter in brackets that is multiplied is no option.
TEST(Notation, OptionsAndFormulasInBrackets) {
  expect_same({{"(B) 12", "12"}, {"(B) 12", "B"}, {R"((A) $\sqrt{3}$)", R"(\sqrt{3})"}, {"(C) x+1", "x+1"}});
  expect_different({{"(x)(x+1)", "x+1"},
                    {"(x)(x+1)", "x"},
                    {"(n)!", "n"},
                    {"(a)^2", "a"},
                    {"(a)(b)", "b"},
                    {"(a)/(a+1)", "a"},
                    {R"((x)\sqrt3)", R"(\sqrt3)"}});
}

TEST(Notation, WordsThatScaleANumberAreNoUnits) {
  expect_same({{"5 millions", "5000000"}, {"2 dozens", "24"}, {"3 quarters", "3"}, {"12 (boxes)", "12"}});
  expect_different({{"5 millions", "5"},
                    {"2 dozens", "2"},
                    {"3 fourths", "3"},
                    {"3 (million)", "3"},
                    {"5 (dozen)", "5"},
                    {"101 (binary)", "101"}});
}

// Of any two letters each is negative once where the other is not, and others are told from both.
TEST(Notation, SignsOfLetters) {
  expect_same({{"|x||y|", "|xy|"}, {R"(\sqrt{x_1^2})", "|x_1|"}});
  const std::string names = "abcdhjkmnpqrstuvwxyz";
  for (const char a : names) {
    expect_different({{"|" + std::string(1, a) + "|", std::string(1, a)}});
    for (const char b : names) {
      if (a >= b) continue;
      const std::string x(1, a);
      const std::string y(1, b);
      expect_different({{"|" + x + "|+|" + y + "|", "|" + x + "+" + y + "|"},
                        {"|" + x + y + "+0|", x + "*" + y},
                        {"max(" + x + "," + y + ")", y},
                        {"min(" + x + "," + y + ")", y}});
    }
  }
  expect_different({{"|x_1|", "x_1"}, {R"(|\theta|)", R"(\theta)"}, {R"(|x_1 x_2|)", "x_1 x_2"}});
}

TEST(Notation, WhatIsTooSmallIsNotZero) {
  expect_same({{R"(\sqrt[3]{2}\cdot\sqrt[3]{4})", "2"}});
  expect_different({{"e^{-1000.5}", "0"},
                    {R"(\exp(-1000.5))", "0"},
                    {R"(\exp(-800.5))", R"(\exp(-900.5))"},
                    {R"((\sqrt[3]{2})^{-5000})", "0"}});
}

// Groups within groups that each look for an end beyond their own.
TEST(Notation, GroupsThatLookBeyondTheirEndAreReadOnce) {
  std::string text = "x";
  for (int level = 0; level < 12; ++level) {
    std::string next;
    for (int i = 0; i < 10; ++i) next += R"({\over\sqrt[})";
    text = next + "]{" + text + "}";
  }
  EXPECT_LE(normalise_answer(text).size(), 8 * text.size());
  std::string scripts;
  for (int i = 0; i < 300; ++i) scripts += R"(_{\sqrt[}C_2)";
  EXPECT_LE(normalise_answer(scripts + "]").size(), 16 * scripts.size());
}

// A list of them is computed as fast as one.
TEST(Notation, FactorialsInListsStayCheap) {
  std::string list = "4000!4000!";
  while (list.size() < 4000) list += ",4000!4000!";
  EXPECT_TRUE(equivalent("{" + list + "}", "{(4000!)^2}"));
  EXPECT_EQ(normalise_answer(normalise_answer(list)), normalise_answer(list));
  EXPECT_TRUE(equivalent(R"(\binom{4000}{2000})", R"(\frac{4000!}{2000!2000!})"));
  EXPECT_FALSE(equivalent(R"(\binom{4000}{2000})", R"(\frac{4000!}{2001!1999!})"));
}

TEST(Notation, AnglesBetweenBounds) {
  expect_same({{R"([0, 2\pi))", R"(0\leq\theta<2\pi)"},
               {R"(0\leq\theta<2\pi)", R"(2\pi>\theta\ge0)"},
               {R"(\theta\leq\frac{\pi}{2})", R"((-\infty,\pi/2])"}});
  expect_different({{R"(0\leq\theta<2\pi)", R"(0\leq\phi<2\pi)"},
                    {R"(0\leq\theta<2\pi)", R"(0\leq\theta\leq2\pi)"},
                    {R"(x<3)", R"(\theta<3)"}});
}

TEST(Notation, AllNumbersButAnInterval) {
  expect_same({{R"((-\infty,2)\cup(3,\infty))", R"(\mathbb{R}\setminus[2,3])"},
               {R"((-\infty,2]\cup[3,\infty))", R"(\mathbb{R} \setminus (2,3))"},
               {R"((-\infty,2]\cup(3,\infty))", R"(\R\setminus(2,3])"}});
  expect_different({{R"((-\infty,2)\cup(3,\infty))", R"(\mathbb{R}\setminus(2,3))"},
                    {R"((-\infty,2)\cup(3,\infty))", R"(\mathbb{R}\setminus\{2,3\})"},
                    {R"((-\infty,2)\cup(2,3)\cup(3,\infty))", R"(\mathbb{R}\setminus[2,3])"}});
}

TEST(Notation, WhatIsComputedOfAMatrix) {
  constexpr std::string_view kTable = R"(\begin{pmatrix}1&2\\3&4\end{pmatrix})";
  expect_same({{kTable, R"(A^{-1}=\begin{pmatrix}1&2\\[2pt]3&4\\\end{pmatrix})"},
               {kTable, R"(\mathbf{A}^T=\begin{bmatrix}1&2\\3&4\end{bmatrix})"},
               {kTable, R"(A^2=\begin{pmatrix}1&2\\3&4\end{pmatrix})"}});
  expect_different({{kTable, R"(A^{-1}=\begin{pmatrix}1&3\\2&4\end{pmatrix})"},
                    {R"(A=\begin{pmatrix}1&2\\3&4\end{pmatrix})", R"(A^{-1}=\begin{pmatrix}1&2\\3&4\end{pmatrix})"},
                    {"4", "x^2=4"}});
}

TEST(Notation, CountsInWords) {
  expect_same({{R"(3\text{ hours})", R"(\text{three hours})"},
               {"3", R"(\text{three hours})"},
               {"21", "twenty-one marbles"},
               {"21", "twenty one marbles"}});
  expect_different({{R"(3\text{ hours})", R"(\text{three minutes})"},
                    {"3", "three hundred"},
                    {"20", "twenty one marbles"},
                    {"3", "three or four"}});
}

TEST(Notation, HostileScriptsAndBracesStayCheap) {
  for (const std::string piece :
       {"{}_{10}C_", "^{9}C_", "{-", "\\pmatrix{", "\\root 3 \\of {", "0.\\dot{1", "]1,", "5!= ", "{\\small,"}) {
    std::string text;
    while (text.size() < 4000) text += piece;
    const std::string normal = normalise_answer(text);
    EXPECT_TRUE(equivalent(text, text));
    EXPECT_LE(normal.size(), 16 * text.size());
  }
}

// Deeper than anything is read, with and without an end.
TEST(Notation, WhateverIsNestedIsReadToItsEnd) {
  struct Nest {
    std::string_view open;
    std::string_view close;
  };
  for (const Nest& nest : std::vector<Nest>{{R"(1{\frac{)", "}{2}}"},
                                            {R"(1{\frac)", "}"},
                                            {"{", "}^2"},
                                            {"{x^", "}+1"},
                                            {R"({1 \over )", "}"},
                                            {R"(\sqrt[3]{)", "}"},
                                            {R"(\text{)", "}"},
                                            {R"(\color{red}{)", "}"},
                                            {"x^{", "}"},
                                            {"^{1}/_{", "}"},
                                            {R"(\begin{pmatrix})", R"(\end{pmatrix})"}}) {
    for (const int depth : {31, 32, 33, 60, 400}) {
      std::string text;
      for (int i = 0; i < depth; ++i) text += nest.open;
      text += "1";
      EXPECT_TRUE(equivalent(text, text));
      for (int i = 0; i < depth; ++i) text += nest.close;
      EXPECT_TRUE(equivalent(text, text)) << nest.open << ' ' << depth;
    }
  }
}

}  // namespace
}  // namespace dts
