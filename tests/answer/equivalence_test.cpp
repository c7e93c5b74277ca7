#include "answer/equivalence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "answer/value/expression.h"
#include "answer/value/rational.h"
#include "dts/answer.h"
#include "dts/vote.h"

namespace dts {
namespace {

struct Pair {
  std::string_view a;
  std::string_view b;
};

TEST(Equivalent, Same) {
  const std::vector<Pair> pairs = {
      // Numbers, however written.
      {"42", "42.0"},
      {"0.5", R"(\frac{1}{2})"},
      {".5", R"(\dfrac12)"},
      {"1/3", R"(\tfrac{2}{6})"},
      {R"(2\frac{1}{3})", "7/3"},
      {R"(-\frac{7}{3})", R"(\frac{-7}{3})"},
      {R"(1{,}000)", "1000"},
      {R"(10,\!080)", "10080"},
      {R"(\$18.90)", "18.9"},
      {R"(5\text{ cm})", "5"},
      {R"(15\mbox{ cm}^2)", "15"},
      {R"(\frac{270}{7}\text{ degrees})", R"(\frac{270}{7})"},
      {R"(90^\circ)", "90"},
      {R"(50\%)", "50"},
      {R"(50\%)", "0.5"},
      {"12.5%", "1/8"},
      {R"(3.0 \times 10^{8})", "300000000"},
      {"1e-3", "0.001"},
      {R"(10^{30})", "1000000000000000000000000000000"},
      {"1234567890123456789012345678901234567890123", "1,234,567,890,123,456,789,012,345,678,901,234,567,890,123"},
      // Closed forms.
      {R"(\sqrt{8})", R"(2\sqrt{2})"},
      {R"(\frac{1}{\sqrt{2}})", R"(\frac{\sqrt{2}}{2})"},
      {R"(\frac{3\pi}{2})", R"(1.5\pi)"},
      {R"(\pi/2)", R"(\frac{1}{2}\pi)"},
      {R"(4^{1/2})", "2"},
      {R"(\sqrt[3]{-8})", "-2"},
      {R"(\sqrt{2}-\sqrt{2})", "0"},
      {R"(\left(1+\sqrt5\right)/2)", R"(\frac{1+\sqrt{5}}{2})"},
      {R"(-\infty)", "-infinity"},
      // Functions.
      {"x^2-1", "(x-1)(x+1)"},
      {"2x+3", "3+2x"},
      {R"(\frac{ab}{c})", "ab/c"},
      {R"(2\pi r)", R"(2r\pi)"},
      {R"(x^{1/2})", R"(\sqrt{x})"},
      {"6 - 5i", "-5i+6"},
      {R"(3+4\mathrm{i})", "3+4i"},
      {R"(3+4\text{i})", "3+4i"},
      {R"(2\mathrm{e})", "2e"},
      {R"(2\mathbf{x})", "2x"},
      {R"(5\,\mathrm{m/s}^2)", "5"},
      {R"(9\mathrm{cm})", "9"},
      {R"(\ln 2)", R"(\ln(2))"},
      {R"(\ln 8)", R"(3\ln{2})"},
      {R"(\log_2 8)", "3"},
      {R"(\log_{10} 1000)", "3"},
      {R"(\ln\frac{1}{2})", R"(-\ln 2)"},
      {R"(\sin 2x)", R"(2\sin x\cos x)"},
      {R"(\sin^2 x+\cos^{2}(x))", "1"},
      {R"(\tan\theta)", R"(\frac{\sin\theta}{\cos\theta})"},
      {R"(\sin\left(\frac{\pi}{6}\right))", "1/2"},
      {R"(\tan^{-1} 1)", R"(\frac{\pi}{4})"},
      {R"(\exp(2))", "e^2"},
      {"sin(x)", R"(\sin{x})"},
      {R"(x\ln x-x)", R"(x(\ln(x)-1))"},
      // Relations.
      {"x=5", "5"},
      {"m+n=33", "33"},
      {"(x,y)=(1,2)", "(1,2)"},
      {"y = 2x+3", "y=3+2x"},
      {"2x = y", "y=2x"},
      {"x>5", "5<x"},
      {"x^2+y^2=1", "x^2 + y^2 = 1"},
      {"f(x)=x^2", "x^2"},
      {"x_1 = 7", "7"},
      {R"(a_{10} = 7)", "7"},
      {R"(\angle ABC = 30^\circ)", "30"},
      {"x+y=1", "x+y-1=0"},
      {"x+y=1", "2x+2y=2"},
      {"x+y=1", "y = 1-x"},
      {R"(y = \frac{1}{2}x+3)", "x-2y+6=0"},
      {"x^2+y^2=1", "1-x^2=y^2"},
      {"2x-3y>4", "2x > 3y+4"},
      {"2x-3y>4", "3y-2x<-4"},
      {R"(1 \le x \le 4)", R"(1\leq x\leq 4)"},
      // Parts.
      {"(1, 1/2)", R"(\left(1, 0.5\right))"},
      {R"(\left(3, \frac{\pi}{2}\right))", R"((3,\pi/2))"},
      {"[0, 1)", "[0,1)"},
      {R"(\{1,\sqrt2\})", R"(\{\sqrt{2}, 1\})"},
      {R"(\{\sqrt{8},1\})", R"(\{1, 2\sqrt2\})"},
      {"1,-2", "-2, 1"},
      {R"(1 \pm \sqrt{2})", R"(1-\sqrt2, 1+\sqrt2)"},
      {R"(\pm 3)", R"(\{-3, 3\})"},
      {R"(x=1 \text{ or } x=2)", "2, 1"},
      {R"((-\infty,3)\cup(5,\infty))", R"((5,\infty) \cup (-\infty, 3))"},
      {R"(x \in [0, \tfrac12])", "[0,0.5]"},
      {R"(\begin{pmatrix} 1/2 \\ 3 \end{pmatrix})", R"(\begin{bmatrix} 0.5 \\ 3 \end{bmatrix})"},
      {R"(\{1,2\})", "2, 1"},
      {R"(\{5\})", "5"},
      {R"(\{1\pm\sqrt2\})", R"(1+\sqrt{2}, 1-\sqrt{2})"},
      {R"(\pm 1, \pm 2)", "-2, -1, 1, 2"},
      {R"(\{\pm1, 3\})", R"(\{-1, 1, 3\})"},
      {"3, 5, and 7", "7,5,3"},
      {R"(3,\ 5,\text{ and }7)", "3, 5, 7"},
      {R"(x \le 5)", R"((-\infty, 5])"},
      {"5 > x", R"((-\infty, 5))"},
      {R"(x\geq -2)", R"([-2,\infty))"},
      {R"(-1 < x \le 2)", "(-1, 2]"},
      {R"(2 \ge x > -1)", "(-1,2]"},
      {R"(x<1 \text{ or } x>3)", R"((-\infty,1)\cup(3,\infty))"},
      {R"(\begin{pmatrix} 1 \\[4pt] 2 \end{pmatrix})", R"(\begin{pmatrix} 1 \\ 2 \end{pmatrix})"},
      // Dress.
      {R"(11,\! 111,\! 111,\! 100)", "11111111100"},
      {R"(2\sqrt{3} \approx 3.46)", R"(2\sqrt3)"},
      {R"(x \approx 3.46)", "3.46"},
      {R"(\approx 3.46)", "3.46"},
      {R"(x = 2\sqrt{3} \approx 3.46)", R"(2\sqrt3)"},
      {R"(\large 5)", "5"},
      {R"({\Large \frac12})", "0.5"},
      {R"(\color{red}{5})", "5"},
      {R"(\textcolor{blue}{\frac{1}{2}})", "1/2"},
      {R"(\color{red}7)", "7"},
      {R"(\underline{12})", "12"},
      {R"(3 \pmod{7})", R"(3 \bmod 7)"},
      {R"(x \equiv 3 \pmod 7)", R"(3 \pmod{7})"},
      {R"(3 \pmod{7})", "3"},
      {R"(3 \pmod{7})", R"(x \equiv 3\ (\text{mod}\ 7))"},
      {R"(\emptyset)", R"(\varnothing)"},
      {"42_{10}", "42"},
      {R"(\textbf{(B) } 12)", "12"},
      {R"(\textbf{(B) } 12)", "B"},
      {R"(\text{Final answer: } 5)", "5"},
      {R"(\text{The answer is } 5)", "5"},
      {R"(70 \sqrt{2})", R"(70\sqrt2)"},
      {R"(-\frac{\pi}{6})", R"(-\pi/6)"},
      // Words.
      {R"(\text{Friday})", "friday"},
      {R"(\textbf{(C)})", "C"},
      {"2516_8", "2516_{8}"},
      {"", ""},
      // Bases of logarithms, in braces or not.
      {R"(\log_{2}3)", R"(\log_2 3)"},
      {R"(\log_23)", R"(\frac{\ln 3}{\ln 2})"},
      {R"(\log_{10} 100)", "2"},
      {R"(\lg 100)", "2"},
      // Numbers that no machine word holds.
      {"2^{200}", "4^{100}"},
      {"2^{2023}", R"(2\cdot 2^{2022})"},
      {R"(\binom{100}{50})", R"({100 \choose 50})"},
      {R"(\binom{100}{50})", R"(\frac{100!}{50!50!})"},
      {"20!", "2432902008176640000"},
      {R"(\binom{n}{k})", R"(\frac{n!}{k!(n-k)!})"},
      {"(n+1)!", R"((n+1)\cdot n!)"},
      {"(-1)^n", "(-1)^{n+2}"},
      {"x^{2023}", R"(x\cdot x^{2022})"},
      // Complex numbers.
      {"i^2", "-1"},
      {"(1+2i)(1-2i)", "5"},
      {R"(\sqrt{-4})", "2i"},
      {R"(e^{i\pi})", "-1"},
      {"|3+4i|", "5"},
      // Nested roots, angles, absolute values, floors.
      {R"(\sqrt{3+2\sqrt2})", R"(1+\sqrt2)"},
      {R"(\sin 30^\circ)", R"(\frac12)"},
      {R"(\cos\frac{\pi}{5})", R"(\frac{1+\sqrt5}{4})"},
      {"|x-1|", "|1-x|"},
      {R"(\lfloor\pi\rfloor)", "3"},
      {R"(\sqrt{xy})", R"(\sqrt x\sqrt y)"},
      // Unicode.
      {"\u221a13", R"(\sqrt{13})"},
      {"3\u00d710\u2078", "300000000"},
      {"x\u00b2\u22121", "x^2-1"},
      {"2\u03c0", R"(2\pi)"},
      {"\u03b8=\u03c0/3", R"(\theta=\frac{\pi}{3})"},
      // What is said of letters.
      {"f(2)=15", "15"},
      {"x=1,y=2", "y=2,x=1"},
      {"x=1,y=2", "(1,2)"},
      {"(x,y)=(1,2)", "x=1,y=2"},
      {"x=3+4=7", "7"},
      {"2x=10", "x=5"},
      {R"(x\neq 2)", R"((-\infty,2)\cup(2,\infty))"},
      {R"(\text{all real numbers except }2)", R"(\mathbb{R}\setminus\{2\})"},
      {R"(x>1\text{ and }x<3)", "(1,3)"},
      {R"(\begin{pmatrix}1\\2\end{pmatrix})", "(1,2)"},
      {"(1,2),(3,4)", "(3,4),(1,2)"},
      {"-8, 3, and -2", "-8,-2,3"},
      // Words and quantities.
      {R"(2\text{ hours})", R"(120\text{ minutes})"},
      {R"(1.5\text{ m})", R"(150\text{ cm})"},
      {R"(\$0.50)", R"(50\text{ cents})"},
      {"5 apples", "5"},
      {"3 million", "3,000,000"},
      {"June 5, 2020", "5 June 2020"},
      {"3:30 PM", R"(3:30\text{ p.m.})"},
      {"6:8", "3:4"},
      {R"(10 \pmod 7)", R"(3 \pmod 7)"},
      {R"(1011_{\text{two}})", "1011_2"},
      {"twelve", "12"},
      {"|{-3}|", "3"},
      {R"(\max\{1,2\})", "2"},
      {R"(\lambda=500\text{ nm})", "500"},
      {R"(50\text{ mi/h})", R"(50\text{ mph})"},
      {R"(2.\overline{9})", "3"},
      {R"(8\sin10^\circ\sin50^\circ\sin70^\circ)", "1"},
      {R"(p(x+1))", "px+p"},
      {"1 000 000", "10^6"},
      {R"(\{1\}\cup\{2\})", R"(\{1,2\})"},
      {R"(\emptyset)", R"(\text{no real solutions})"},
  };
  for (const Pair& pair : pairs) {
    EXPECT_TRUE(equivalent(pair.a, pair.b)) << pair.a << "  " << pair.b;
    EXPECT_TRUE(equivalent(pair.b, pair.a)) << pair.b << "  " << pair.a;
  }
}

TEST(Equivalent, Different) {
  const std::vector<Pair> pairs = {
      {R"(\{1,2\})", "1, 3"},
      {R"(\{1,2\})", "(1, 2)"},
      {R"(\pm 1, \pm 2)", "1, 2"},
      {R"(x \le 5)", R"((-\infty, 5))"},
      {R"(x < 5)", R"((5, \infty))"},
      {"(1, 2)", "1<x<3"},
      {R"(3 \pmod{7})", R"(3 \pmod{5})"},
      {R"(3 \pmod{7})", "10"},
      {"42_{8}", "42"},
      {R"(\textbf{(B) } 12)", "C"},
      {R"(2\sqrt{3} \approx 3.46)", "3.46"},
      {"42", "43"},
      {"42", ""},
      {"0.333", "1/3"},
      {"3.14", R"(\pi)"},
      {"3.14159265", R"(\pi)"},
      {"1/2", "1/3"},
      {"5", "-5"},
      {R"(50\%)", "5"},
      {R"(50\%)", "5000"},
      {"50", "0.5"},
      {R"(10^{30})", "1000000000000000000000000000001"},
      {"1234567890123456789012345678901234567890123", "1234567890123456789012345678901234567890124"},
      {R"(\sqrt{2})", R"(\sqrt{3})"},
      {"x", "y"},
      {"2x", "3x"},
      {"a+c", "2b"},
      {R"(\sqrt{x^2})", "x"},
      {"x^2", "2x"},
      {"x>5", "x<5"},
      {R"(x \ge 5)", "x>5"},
      {"x=5", "x=6"},
      {"x^2+y^2=1", "1"},
      {"2x+3y=6", "6"},
      {"x^2=4", "4"},
      {"x+y=1", "x+y=2"},
      {"x+y=1", "x-y=1"},
      {"x+y=1", "y=1+x"},
      {"x+y=1", "1-x"},
      {"1=1", "2=2"},
      {"2x-3y>4", "2x-3y<4"},
      {R"(3+4\mathrm{i})", "7"},
      {R"(3+4\text{i})", "7"},
      {R"(2\mathrm{e})", "2"},
      {R"(2\mathbf{x})", "2"},
      {R"(\ln 2)", R"(\ln 3)"},
      {R"(\sin x)", R"(\cos x)"},
      {R"(\sin 2x)", R"(2\sin x)"},
      {"(1,2)", "(2,1)"},
      {"(1,2)", "[1,2]"},
      {"[0,1)", "[0,1]"},
      {"(1,2)", "{1,2}"},
      {"(1,2)", "(1,2,3)"},
      {R"(\{1,2\})", R"(\{1,3\})"},
      {R"(\{1,1\})", R"(\{1,2\})"},
      {"1,2", "1,2,3"},
      {"1,1,2", "1,2,2"},
      {"red, blue", "blue, red"},
      {R"(1 \pm \sqrt{2})", R"(1+\sqrt{2})"},
      {R"(\pm 3)", "3"},
      {R"((-\infty,3)\cup(5,\infty))", R"((-\infty,3))"},
      {R"(\begin{pmatrix} 1 \\ 2 \end{pmatrix})", R"(\begin{pmatrix} 2 \\ 1 \end{pmatrix})"},
      {"yes", "no"},
      {"no", "on"},
      {R"(\infty)", R"(-\infty)"},
      {"1/0", "2/0"},
      {"2 3", "6"},
      {R"(\log_{2}3)", R"(\log_3 2)"},
      {R"(\log_{10} 100)", R"(\ln 100)"},
      {"x^{2023}", "x^{2024}"},
      {"x^{202}3", "x^{2023}"},
      {R"(\sqrt2x^{2023})", R"(\sqrt2x^{2024})"},
      {"x+10^{-30}", "x"},
      {R"(10^{-15}\sqrt2)", "0"},
      {"2^{200}", "2^{201}"},
      {"2^{183}", "1"},
      {"9^{9^{9^9}}", "9^{9^{9^8}}"},
      {R"(\sqrt2)", "1.4142135623730950488"},
      {R"(\pi)", "3.14159265358979323846"},
      {R"(\sin 1)", "0.8414709848078965066525"},
      {R"(\frac{22}{7})", R"(\pi)"},
      {R"(\sin 30^\circ)", R"(\sin 30)"},
      {"f(2x)", "2f(x)"},
      {"f(2)=15", "f(3)=15"},
      {"f(2)=15", "2"},
      {"x=5", "y=5"},
      {"AB=5", "AC=5"},
      {"y=2x+3", "x=2y+3"},
      {"x>5", "y>5"},
      {R"(x\in(5,\infty))", "y>5"},
      {R"(x<1\text{ or }x>3)", R"(x<1\text{ and }x>3)"},
      {"x=1,y=2", "x=2,y=1"},
      {"x=1,y=2", "(2,1)"},
      {"(y,x)=(1,2)", "x=1,y=2"},
      {R"(\begin{pmatrix}1\\2\end{pmatrix})", R"(\begin{pmatrix}1&2\end{pmatrix})"},
      {"5 June", "5"},
      {R"(5\text{ June})", "5"},
      {"5 apples", "5 oranges"},
      {R"(5\text{ cm})", R"(5\text{ kg})"},
      {R"(5\text{ cm})", R"(5\text{ cm}^2)"},
      {R"(\$5)", "\u20ac5"},
      {R"(5\text{ million})", "5"},
      {"3:30 PM", "3:30 AM"},
      {"3:4", "4:3"},
      {R"(10 \pmod 7)", "10"},
      {"3+4i", "3-4i"},
      {R"(\sqrt{-4})", "2"},
      {R"(\binom{n}{k})", R"(\frac{n}{k})"},
      {"0.(3)", "0.3"},
      {"(n+1)!", "n!+1"},
      {"f(x+1)", "f(x)+1"},
      {"f(f(x))", "f(x)^2"},
      {R"(e^{\pi\sqrt{163}})", "262537412640768744"},
      {R"(\pm1\pm2)", R"(\pm3)"},
      {"FF_{16}", "255"},
  };
  for (const Pair& pair : pairs) {
    EXPECT_FALSE(equivalent(pair.a, pair.b)) << pair.a << "  " << pair.b;
    EXPECT_FALSE(equivalent(pair.b, pair.a)) << pair.b << "  " << pair.a;
  }
}

std::string random_expression(std::mt19937_64& random) {
  static const std::vector<std::string> pieces = {"1",
                                                  "2",
                                                  "0.5",
                                                  "12",
                                                  "x",
                                                  "y",
                                                  "(",
                                                  ")",
                                                  "[",
                                                  "]",
                                                  "{",
                                                  "}",
                                                  ",",
                                                  "+",
                                                  "-",
                                                  "*",
                                                  "/",
                                                  "^",
                                                  "=",
                                                  "<",
                                                  "\\frac12",
                                                  "\\sqrt{2}",
                                                  "\\pi",
                                                  "\\pm",
                                                  "\\cup",
                                                  "\\infty",
                                                  " ",
                                                  " or ",
                                                  "%",
                                                  "\\{",
                                                  "\\}",
                                                  "\\text{cm}",
                                                  "&",
                                                  "\\\\",
                                                  "\\begin{pmatrix}",
                                                  "\\end{pmatrix}",
                                                  "e",
                                                  "\xff"};
  std::string text;
  for (std::size_t left = random() % 12; left > 0; --left) text += pieces[random() % pieces.size()];
  return text;
}

// What a sceptic's corpus showed, each beside what it must not be taken for.
TEST(Equivalent, AsModelsWriteIt) {
  const std::vector<Pair> same = {
      // A word after a bracket.
      {R"(1\pm\sqrt{19})", R"(1+\sqrt{19} \text{ and } 1-\sqrt{19})"},
      {R"((-\infty,-\sqrt2]\cup[\sqrt2,\infty))", R"(x\le-\sqrt2 \text{ or } x\ge\sqrt2)"},
      {R"([1,2]\cup[3,4])", R"([1,2] \text{ or } [3,4])"},
      // Names before a tuple.
      {R"((3,\frac\pi2))", R"((r,\theta)=(3,\frac\pi2))"},
      {"(5,2)", "(u,t)=(5,2)"},
      {"(2,5)", "(w,h)=(2,5)"},
      {"(1,2)", "y=2, x=1"},
      {"3, 4", "x_1 = 4, x_2 = 3"},
      // Steps and statements.
      {"12", R"(4\times3=12)"},
      {"5", R"(\sqrt{25}=5)"},
      {"12", R"(\gcd(24,36)=12)"},
      {"12", "= 12."},
      {"55", R"(1+2+\cdots+10=55)"},
      {"55", R"(1+2+\cdots+10=\frac{10\cdot11}{2}=55)"},
      {R"(\text{Monday})", R"(\text{The day is Monday})"},
      {"12", R"(f^{-1}(3)=12)"},
      {"12", "f'(3)=12"},
      {"12", R"((f\circ g)(2)=12)"},
      {"12", R"(\varphi(13)=12)"},
      {"12", "[ABC]=12"},
      {"3/5", R"(\Pr[X=2]=\frac35)"},
      {R"(\frac{x-1}{2})", R"(f^{-1}(x)=\frac{x-1}{2})"},
      {"y=2x", "f(x)=2x"},
      {"12", R"(\text{The number of ways is } 12)"},
      {"12", R"(\text{There are }12\text{ ways})"},
      {"(3,4)", R"(\text{The point is }(3,4))"},
      {"42", R"(42\text{ (approx.)})"},
      {"12", R"(12 \text{ (since } 4\cdot3=12))"},
      // Units, also behind a name.
      {"12", R"(\text{Area} = 12\text{ cm}^2)"},
      {R"(AB=200\text{ cm})", R"(AB=2\text{ m})"},
      {"0.36", R"(36\text{ percent})"},
      // Systems and tables.
      {"(3,4)", R"(\begin{cases}x=3\\y=4\end{cases})"},
      {"x=3, y=4", R"(\left\{\begin{array}{l}x=3,\\y=4\end{array}\right.)"},
      {"12", R"(\begin{aligned} n &= 12 \end{aligned})"},
      {R"(\begin{pmatrix}1&2\\3&4\end{pmatrix})", R"(\begin{pmatrix}1&2\\3&4\\ \end{pmatrix})"},
      {R"(\begin{pmatrix}1/5\\-18/5\end{pmatrix})", R"(\frac15\begin{pmatrix}1\\-18\end{pmatrix})"},
      {R"(\begin{pmatrix}1\\2\end{pmatrix})", R"([1,2]^T)"},
      // Where something is not, or lies around zero.
      {R"((-\infty,-1)\cup(-1,1)\cup(1,\infty))", R"(x\ne\pm1)"},
      {R"((-\infty,-1)\cup(-1,1)\cup(1,\infty))", R"(x\ne1\text{ and }x\ne-1)"},
      {R"((-\infty,-1)\cup(-1,1)\cup(1,\infty))", R"(\text{all real numbers except }\pm1)"},
      {"(-3,3)", "|x|<3"},
      {R"((-\infty,-1]\cup[1,\infty))", R"(|k|\ge1)"},
      // Words.
      {R"(\text{ellipse})", R"(\text{an ellipse})"},
      {R"(\text{even})", R"(\text{The function is even})"},
      {R"(\text{Monday})", R"(\text{on Monday})"},
      {R"(\frac12)", R"(\text{one half})"},
      {R"(\text{(A)})", R"(\text{A. }12)"},
      {R"(f(x)=2x \text{ and } f(x)=-2x)", R"(f(x)=-2x \text{ and } f(x)=2x)"},
      {"x^2+1", R"(f(x)=x^2+1\text{ for all real }x)"},
      {R"(\frac\pi4+k\pi)", R"(\frac\pi4+k\pi\text{ for }k\in\mathbb{Z})"},
      // Decoration.
      {"4:30", "4{:}30"},
      {"90", R"(90{}^\circ)"},
      {"1/2", R"({1\over2})"},
      {R"(\frac{1}{\sqrt2})", R"({1\over\sqrt{2}})"},
      {"7", R"(7\checkmark)"},
      {"7", R"(7\hspace{2mm})"},
      {"(2,-1)", "(2;-1)"},
      // Both cases of a letter, and one of them.
      {R"(\pi(R^2-r^2))", R"(\pi R^2-\pi r^2)"},
      {R"(\pi R^2)", R"(\pi r^2)"},
  };
  for (const Pair& pair : same) {
    EXPECT_TRUE(equivalent(pair.a, pair.b)) << pair.a << " and " << pair.b;
    EXPECT_TRUE(equivalent(pair.b, pair.a)) << pair.b << " and " << pair.a;
  }
  const std::vector<Pair> different = {
      {"(5,2)", "(w,h)=(2,5)"},
      {R"((2,\frac\pi3))", R"((r,\theta)=(\frac\pi3,2))"},
      {"(2,1)", "x=1, y=2"},
      {R"(\{3,4\})", "(a,b)=(3,4)"},
      {"(A)", R"(\text{(A), (C)})"},
      {"(A)", R"(\text{(A) and (C)})"},
      {"12", R"(4\times3=13)"},
      {"13", R"(4\times3=13)"},
      {"12", R"(\sqrt{x}=12)"},
      {"12", "-x=12"},
      {"AB=5", "y=5"},
      {R"(AB=5\text{ cm})", R"(AB=5\text{ kg})"},
      {R"(AB=5\text{ cm})", R"(CD=5\text{ cm})"},
      {R"(36\%)", R"(36\text{ inches})"},
      {"12", R"(\text{The number of ways is not } 12)"},
      {"12", R"(\text{The number of ways is at least } 12)"},
      {"42", R"(42\text{ (base 5)})"},
      {"12", R"(12\text{ (or 13)})"},
      {"(3,4)", R"(\begin{cases}x=4\\y=3\end{cases})"},
      {R"(\begin{pmatrix}1/5\\-18/5\end{pmatrix})", R"(\frac15\begin{pmatrix}1\\18\end{pmatrix})"},
      {R"((-\infty,-1)\cup(-1,1)\cup(1,\infty))", R"(x\ne1)"},
      {"[-3,3]", "|x|<3"},
      {R"(\text{not prime})", R"(\text{It is prime})"},
      {R"(\pi(R^2-r^2))", "0"},
      {R"(\pi(R^2-r^2))", R"(\pi(r^2-R^2))"},
      {R"(\frac{A}{a})", "1"},
      {R"(\lfloor x\rfloor)", R"(\lceil x\rceil-1)"},
  };
  for (const Pair& pair : different) {
    EXPECT_FALSE(equivalent(pair.a, pair.b)) << pair.a << " and " << pair.b;
    EXPECT_FALSE(equivalent(pair.b, pair.a)) << pair.b << " and " << pair.a;
  }
}

TEST(Equivalent, IsReflexiveSymmetricAndHoldsForNormalForms) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 20000; ++i) {
    const std::string a = random_expression(random);
    const std::string b = random() % 2 == 0 ? random_expression(random) : a + (random() % 2 == 0 ? "+0" : "/1");
    ASSERT_TRUE(equivalent(a, a)) << a;
    ASSERT_EQ(equivalent(a, b), equivalent(b, a)) << a << "  " << b;
    const std::string normal = normalise_answer(a);
    ASSERT_TRUE(equivalent(a, normal)) << a << "  " << normal;
    ASSERT_EQ(normalise_answer(normal), normal) << a;
  }
}

// Votes are counted on normal forms: there, equal rationals must be equal strings.
// What votes counts as one: the classes do not depend on who came first, where the answers mean one thing each.
TEST(Equivalent, RewritingsAreOneVoteInWhateverOrderTheyCome) {
  const std::vector<std::vector<std::string>> meanings = {
      {R"(70 \sqrt{2})", R"(70\sqrt2)", R"(\sqrt{9800})", R"(70\cdot\sqrt{2})", R"(\frac{140}{\sqrt{2}})"},
      {R"(-\frac{\pi}{6})", R"(-\pi/6)", R"(\frac{-\pi}{6})", R"(-\dfrac{1}{6}\pi)"},
      {"1,2,3", R"(\{3, 1, 2\})", "1, 2, and 3", "3,2,1"},
      {R"((-\infty, 5])", R"(x \le 5)", R"(5 \geq x)"},
      {R"(11,\! 111,\! 111,\! 100)", "11111111100", "11,111,111,100"},
      {R"(\pm 4)", R"(\{-4, 4\})", "4, -4"},
      {"1/2", "0.5", R"(\dfrac12)", R"(\frac{3}{6})"},
      {"7", "7.0", R"(\text{Final answer: } 7)", R"(\large 7)", R"(x = 7)"},
  };
  std::mt19937 rng(5);
  std::vector<std::pair<std::string, std::size_t>> answers;  // with what they mean
  for (std::size_t i = 0; i < meanings.size(); ++i) {
    for (const std::string& answer : meanings[i]) answers.emplace_back(normalise_answer(answer), i);
  }
  for (int round = 0; round < 50; ++round) {
    std::shuffle(answers.begin(), answers.end(), rng);
    AnswerClasses classes(equivalent);
    std::map<std::string, std::size_t> meaning_of;  // of a class
    for (const auto& [answer, meaning] : answers) {
      const auto found = meaning_of.try_emplace(classes.class_of(answer), meaning).first;
      EXPECT_EQ(found->second, meaning) << answer << " was counted as " << found->first;
    }
    EXPECT_EQ(meaning_of.size(), meanings.size());
  }
}

// Answers that leave nothing out are in classes: whoever is the same as a second, and it as a third, is the same as the
// third. What each pair means is known, so no comparison may go wrong either way.
TEST(Equivalent, IsTransitiveWhereNothingIsLeftOut) {
  const std::vector<std::vector<std::string>> meanings = {
      {R"(\frac{1}{2})", "0.5", R"(\sin 30^\circ)", "2^{-1}", R"(\log_4 2)"},
      {"2", R"(\log_{10}100)", R"(\sqrt4)", "2.0", R"(\sqrt2\sqrt2)", "1+1"},
      {R"(\sqrt2)", "2^{1/2}", R"(\frac{2}{\sqrt2})", R"(\sqrt{3+2\sqrt2}-1)", R"(2\sin 45^\circ)"},
      {"1.4142135623730950488"},
      {"1.4142135623"},
      {R"(\pi)", R"(4\arctan 1)", R"(\frac{2\pi}{2})"},
      {"3.14159265358979323846"},
      {"x^2-1", "(x-1)(x+1)", "-1+x^2", R"(\frac{x^4-1}{x^2+1})"},
      {"x^2+1", "(x-i)(x+i)"},
      {"x^{2023}", R"(x\cdot x^{2022})"},
      {"x^{2024}"},
      {"x^{2023}+10^{-30}"},
      {"-1", "i^2", R"(e^{i\pi})", "-1.0"},
      {"i", R"(\sqrt{-1})", "-i^3"},
      {"(1,2)", R"(\left(1, 2\right))", R"((\frac22, 2))"},
      {"(2,1)"},
      {R"(\{1,2\})", R"(\{2,1\})", "1,2", "2, 1", "1 or 2"},
      {R"((-\infty,1))", "x<1", "1>x"},
      {R"((-\infty,1])", R"(x\le1)"},
      {R"(x<1\text{ or }x>3)", R"((3,\infty)\cup(-\infty,1))"},
      {R"(x>1\text{ and }x<3)", "1<x<3"},
      {"y=2x+3", "2x-y+3=0", "y-3=2x"},
      {"x=2y+3", "x-2y=3"},
      {R"(\pm\sqrt3)", R"(\sqrt3,-\sqrt3)"},
      {R"(5\text{ cm})", R"(50\text{ mm})", R"(0.05\text{ m})"},
      {R"(5\text{ kg})", R"(5000\text{ g})"},
      {R"(\$7)", R"(7\text{ dollars})", R"(700\text{ cents})"},
      {"Tuesday", R"(\text{tuesday})"},
      {"Thursday"},
      {R"(\binom{n}{2})", R"(\frac{n(n-1)}{2})", R"(\frac{n!}{2(n-2)!})"},
      {R"(\binom{n+1}{2})", R"(\frac{n(n+1)}{2})"},
      {"f(2x)", R"(f(x\cdot2))"},
      {"2f(x)", "f(x)+f(x)"},
      {R"(3\pmod7)", R"(10\pmod7)"},
      {R"(3\pmod5)"},
      {R"(\emptyset)", "no solution"},
      {R"(\begin{pmatrix}1&2\\3&4\end{pmatrix})", "[[1,2],[3,4]]"},
      {R"(\begin{pmatrix}1&3\\2&4\end{pmatrix})"},
      {"2^{200}", "4^{100}", R"(\frac{2^{201}}{2})"},
      {"2^{200}+1"},
  };
  std::vector<std::pair<std::string, std::size_t>> answers;
  for (std::size_t i = 0; i < meanings.size(); ++i) {
    for (const std::string& answer : meanings[i]) answers.emplace_back(answer, i);
  }
  for (const auto& [a, meaning_a] : answers) {
    for (const auto& [b, meaning_b] : answers) {
      EXPECT_EQ(equivalent(a, b), meaning_a == meaning_b) << a << "  " << b;
    }
  }
}

// Random values, each written in several ways: the relation is that of the values, so it is transitive.
TEST(Equivalent, IsTheRelationOfTheValues) {
  std::mt19937_64 random(11);
  const auto number = [&](long bound) { return static_cast<long>(random() % static_cast<std::uint64_t>(bound)); };
  struct Written {
    long p, q, root;  // p/q*sqrt(root), root without squares
    std::string text;
  };
  std::vector<Written> all;
  for (int i = 0; i < 60; ++i) {
    const long p = number(7) - 3;
    const long q = number(3) + 1;
    const long root = std::vector<long>{1, 2, 3, 6}[static_cast<std::size_t>(number(4))];
    const long k = number(3) + 1;
    const std::string above = std::to_string(p * k);
    const std::string below = std::to_string(q * k);
    const std::string radical = R"(\sqrt{)" + std::to_string(root) + "}";
    std::string text;
    switch (number(4)) {
      case 0:
        text = R"(\frac{)" + above + radical + "}{" + below + "}";
        break;
      case 1:
        text = above + R"(\sqrt{\frac{)" + std::to_string(root) + "}{" + std::to_string(q * q * k * k) + "}}";
        break;
      case 2:
        text = R"(\frac{)" + std::to_string(p * k * root) + "}{" + below + radical + "}";
        break;
      default:
        text = "e-e+(" + above + R"()\cdot)" + below + R"(^{-1}\cdot)" + std::to_string(root) + "^{0.5}";
        break;
    }
    all.push_back({p, q, p == 0 ? 1 : root, text});
  }
  for (const Written& a : all) {
    for (const Written& b : all) {
      EXPECT_EQ(equivalent(a.text, b.text), a.p * b.q == b.p * a.q && a.root == b.root) << a.text << "  " << b.text;
    }
  }
}

// Who leaves out what is measured, or of which letter it is the value, says less: equal to each that says more.
TEST(Equivalent, WhoSaysLessIsEqualToEachThatSaysMore) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> less = {
      {"5", {"x=5", "y=5", R"(5\text{ cm})", R"(5\text{ kg})", R"(\$5)", R"(5\%)", R"(5 \pmod 7)", "5 apples"}},
      {"(1,2)", {R"(\begin{pmatrix}1\\2\end{pmatrix})", R"(\begin{pmatrix}1&2\end{pmatrix})", "(x,y)=(1,2)"}},
      {R"((5,\infty))", {"x>5", "y>5"}},
      {"2x+3", {"y=2x+3", "f(x)=2x+3"}},
  };
  for (const auto& [bare, more] : less) {
    for (std::size_t i = 0; i < more.size(); ++i) {
      EXPECT_TRUE(equivalent(bare, more[i])) << bare << "  " << more[i];
      EXPECT_TRUE(equivalent(more[i], bare)) << bare << "  " << more[i];
    }
  }
  for (const auto& [a, b] : std::vector<std::pair<std::string, std::string>>{
           {"x=5", "y=5"},
           {R"(5\text{ cm})", R"(5\text{ kg})"},
           {R"(5\text{ cm})", R"(\$5)"},
           {R"(\begin{pmatrix}1\\2\end{pmatrix})", R"(\begin{pmatrix}1&2\end{pmatrix})"},
           {"x>5", "y>5"},
           {"y=2x+3", "x=2y+3"}}) {
    EXPECT_FALSE(equivalent(a, b)) << a << "  " << b;
  }
}

TEST(Equivalent, RationalsHaveOneNormalForm) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 5000; ++i) {
    const long p = static_cast<long>(random() % 2001) - 1000;
    const long q = static_cast<long>(random() % 64) + 1;
    const long k = static_cast<long>(random() % 9) + 2;
    const std::string sign = p < 0 ? "-" : "";
    const std::string upper = std::to_string(std::abs(p));
    const std::string lower = std::to_string(q);
    const std::string plain = std::to_string(p) + "/" + lower;
    const std::string normal = normalise_answer(plain);
    for (const std::string& other :
         {sign + "\\frac{" + upper + "}{" + lower + "}",
          "\\dfrac{" + std::to_string(p * k) + "}{" + std::to_string(q * k) + "}", "$" + plain + "$",
          std::to_string(p) + "\\cdot" + lower + "^{-1}",
          sign + std::to_string(std::abs(p) / q) + "\\frac{" + std::to_string(std::abs(p) % q) + "}{" + lower + "}"}) {
      ASSERT_EQ(normalise_answer(other), normal) << plain << "  " << other;
    }
    // And different ones different: the next numerator is another number.
    ASSERT_NE(normalise_answer(std::to_string(p + 1) + "/" + lower), normal);
  }
}

TEST(Rational, TextAndBounds) {
  EXPECT_EQ(Rational::make(1, -2)->text(), "-0.5");
  EXPECT_EQ(Rational::make(-4, -6)->text(), "2/3");
  EXPECT_EQ(Rational::make(0, 7)->text(), "0");
  EXPECT_FALSE(Rational::make(1, 0));
  EXPECT_FALSE(Rational::parse(""));
  EXPECT_FALSE(Rational::parse("."));
  EXPECT_FALSE(Rational::parse("1.2.3"));
  EXPECT_FALSE(Rational::parse(std::string(37, '9')));
  EXPECT_EQ(Rational::parse(std::string(36, '9'))->text(), std::string(36, '9'));
  EXPECT_FALSE(*Rational::parse(std::string(36, '9')) + *Rational::make(1));
  EXPECT_FALSE(*Rational::parse(std::string(36, '9')) * *Rational::make(2));
  EXPECT_EQ(Rational::make(8, 27)->power(*Rational::make(-2, 3))->text(), "2.25");
  EXPECT_EQ(Rational::make(-32)->root(5)->text(), "-2");
  EXPECT_FALSE(Rational::make(2)->root(2));
  const Rational nines = *Rational::parse(std::string(18, '9'));
  EXPECT_EQ((*(nines * nines)).root(2)->text(), std::string(18, '9'));
  EXPECT_FALSE((*(*(nines * nines) - *Rational::make(1))).root(2));
  EXPECT_EQ(Rational::make(1)->root(4096)->text(), "1");
  EXPECT_FALSE(Rational::make(-4)->root(2));
  EXPECT_FALSE(Rational::make(0)->power(*Rational::make(-1)));
}

TEST(Evaluate, RefusesWhatIsNoExpression) {
  for (const std::string_view text : {"",       " ",          "1+",
                                      "*2",     "(1",         "1)",
                                      "()",     "1..2",       "1 2",
                                      "12:05",  "yes",        "sqrt",
                                      "sqrt()", "sqrt[0](2)", "sqrt[1](2)",
                                      "1/0",    "(-8)^(1/3)", "infinity-infinity",
                                      "+-3",    "0^-1",       "sin",
                                      "ln(0)",  "single",     "expected",
                                      "ln(-1)", "log_1 2",    "(-3)!",
                                      "2.5!",   "9^9^9^9",    "99999!",
                                      "|1",     "||1||",      "binom(3)",
                                      "f()",    "x_",         "tan(pi/2)",
                                      "0.(3",   "1/(2-2)",    "1/(sqrt(2)sqrt(2)-2)"}) {
    EXPECT_FALSE(evaluate(text)) << text;
  }
}

TEST(Evaluate, DeepNestingHasNoValue) {
  for (const std::string_view open : {"(", "sqrt(", "-(", "2^(", "sin(", "ln sin(", "sin^2("}) {
    std::string text;
    for (int i = 0; i < 1000; ++i) text += open;
    text += "1";
    text += std::string(1000, ')');
    EXPECT_FALSE(evaluate(text)) << open;
  }
}

// What may be spent is bounded, whatever is compared; and within the budget a hostile pair has a verdict.
TEST(Equivalent, StaysWithinItsBudget) {
  std::vector<std::string> hostile;
  const auto repeated = [](std::string_view piece, std::size_t bytes) {
    std::string text;
    while (text.size() < bytes) text += piece;
    return text;
  };
  for (const std::string_view piece :
       {"{", "{1,", "(x,", "1,", "x,", "+-1,", "x=1,", "{x,{", "\\cup ", "sqrt(2),", "1 or ", "\\frac{"}) {
    for (const std::size_t bytes : {std::size_t{4000}, std::size_t{10U << 20U}}) {
      hostile.push_back(repeated(piece, bytes));
    }
  }
  for (const std::string_view piece : {"4000!+", "x=", "\\binom{4000}{2000}", "\\sin x+", "9^", "|", "f(",
                                       "{n\\choose ", "0.(3)+", "1 000 ", "<", "\\log_2 "}) {
    hostile.push_back(repeated(piece, 4000));
  }
  for (const std::string& text : hostile) {
    std::size_t budget = kComparisonBudget;
    EXPECT_TRUE(equivalent_within(text, text, budget)) << text.substr(0, 20);
    budget = kComparisonBudget;
    EXPECT_FALSE(equivalent_within(text, text.substr(0, text.size() / 2) + "7", budget));
    // All of the budget at the most, and none of it for what is too long to be looked into.
    EXPECT_LE(budget, kComparisonBudget);
    if (text.size() > 10000) {
      EXPECT_EQ(budget, kComparisonBudget);
    }
  }
}

// Sets of irrationals in opposite order are the dearest there are: every item is compared with every other.
TEST(Equivalent, AnEmptyBudgetMeansDifferent) {
  std::string up = "{";
  std::string down = "{";
  for (int i = 2; i < 200; ++i) {
    up += "sqrt(" + std::to_string(2 * i * i) + "), ";
    down += std::to_string(201 - i) + "sqrt(2), ";
  }
  up += "0}";
  down += "0}";
  std::size_t budget = std::size_t{1} << 40U;
  EXPECT_TRUE(equivalent_within(up, down, budget));
  budget = 100;
  EXPECT_FALSE(equivalent_within(up, down, budget));
  EXPECT_EQ(budget, 0U);
}

// Which is named first must not matter.
void expect_same(const std::vector<Pair>& pairs) {
  for (const auto& [a, b] : pairs) {
    EXPECT_TRUE(equivalent(a, b)) << a << " and " << b;
    EXPECT_TRUE(equivalent(b, a)) << b << " and " << a;
  }
}

void expect_different(const std::vector<Pair>& pairs) {
  for (const auto& [a, b] : pairs) {
    EXPECT_FALSE(equivalent(a, b)) << a << " and " << b;
    EXPECT_FALSE(equivalent(b, a)) << b << " and " << a;
  }
}

// However many digits are written down, they are not the logarithm.
TEST(Equivalent, ALongDecimalIsNoClosedForm) {
  const std::string digits = "0.693147180559945309417232121458176568075500134360255254120680009";
  for (std::size_t size = 4; size <= digits.size(); ++size) {
    EXPECT_FALSE(equivalent(digits.substr(0, size), R"(\ln 2)")) << size;
    EXPECT_FALSE(equivalent("-" + digits.substr(0, size), R"(-\ln 2)")) << size;
    EXPECT_TRUE(equivalent(digits.substr(0, size), digits.substr(0, size) + "0")) << size;
  }
  expect_different({{"1.584962500721156181453738943947816508759814", R"(\log_2 3)"}});
}

TEST(Equivalent, ASetOfTheEmptySetIsNotEmpty) {
  expect_different({{R"(\{\emptyset\})", R"(\emptyset)"}, {R"(\{\emptyset\})", R"(\{\})"}, {R"(\{\emptyset\})", "0"}});
  expect_same({{R"(\{\emptyset\})", R"(\{\varnothing\})"}, {R"(\{\})", R"(\emptyset)"}});
}

TEST(Equivalent, ASentenceThatCannotSayItDoesNot) {
  expect_different({{"We cannot say that it is 7", "7"}, {"The sum cannot be what is 7", "7"}});
  expect_same({{"We can say that it is 7", "7"}});
}

TEST(Equivalent, SeveralUnitsOfOneKindAreOneAmount) {
  const std::vector<std::string_view> same = {R"(2\text{ hours }30\text{ minutes})",
                                              "2 hours 30 minutes",
                                              "2 hours, 30 minutes",
                                              "2 hours and 30 minutes",
                                              "2 h 30 min",
                                              "2 hr 30 min",
                                              R"(2.5\text{ hours})",
                                              R"(150\text{ minutes})",
                                              R"(9000\text{ seconds})",
                                              R"(\frac52\text{ hours})"};
  for (const std::string_view a : same) {
    for (const std::string_view b : same) EXPECT_TRUE(equivalent(a, b)) << a << " and " << b;
    for (const std::string_view b :
         {"2 hours", "30 minutes", "2 hours 3 minutes", "2 hours 50 minutes", R"(2.3\text{ hours})", "32", "230",
          "2 minutes 30 seconds", R"(2.5\text{ minutes})", "2 hours -30 minutes", R"(150\text{ hours})"}) {
      EXPECT_FALSE(equivalent(a, b)) << a << " and " << b;
      EXPECT_FALSE(equivalent(b, a)) << b << " and " << a;
    }
  }
  expect_same({{"5 feet 6 inches", R"(66\text{ inches})"},
               {"5 ft 6 in", R"(5.5\text{ feet})"},
               {"1 day 2 hours 3 minutes 4 seconds", R"(93784\text{ seconds})"},
               {"3 dollars and 5 cents", R"(\$3.05)"},
               {"2 hours 30 minutes", "150"}});
  // Not of one kind, not from the largest down, or more of the smaller than makes one of the larger.
  expect_different({{"2 apples 3 oranges", "5"},
                    {"30 minutes 2 hours", R"(150\text{ minutes})"},
                    {"1 hour 90 minutes", R"(150\text{ minutes})"},
                    {"5 feet 6 feet", R"(11\text{ feet})"},
                    {"5 feet 6 minutes", R"(66\text{ inches})"}});
}

TEST(Equivalent, DegreesAndRadiansAreConvertedWhereTheyAreWritten) {
  expect_same({{R"(60^\circ)", R"(\frac{\pi}{3})"},
               {R"(60^\circ)", R"(\frac{\pi}{3}\text{ radians})"},
               {R"(135\text{ degrees})", R"(\frac{3\pi}{4}\text{ rad})"},
               {R"(\angle A = 90^\circ)", R"(\frac{\pi}{2})"},
               {R"(22.5^\circ)", R"(\pi/8)"},
               {R"(60^\circ)", "60"},
               {R"(\frac{\pi}{3}\text{ radians})", R"(\frac{\pi}{3})"}});
  expect_different({{"60", R"(\frac{\pi}{3})"},
                    {R"(60^\circ)", R"(\frac{\pi}{6})"},
                    {R"(60^\circ)", R"(60\text{ radians})"},
                    {R"(\frac{\pi}{3}^\circ)", R"(\frac{\pi}{3})"},
                    {R"(60^\circ)", "1.0472"},
                    {R"(\angle A = 90^\circ)", R"(\angle B = \frac{\pi}{2})"},
                    {R"(60^\circ\text{C})", R"(\frac{\pi}{3})"}});
}

TEST(Equivalent, AClockMayLeaveOutItsHalfOfTheDay) {
  expect_same({{"3:30 p.m.", "3:30"}, {"3:30 am", "03:30"}, {"5 pm", "5:00"}});
  expect_different(
      {{"3:30 pm", "3:30 am"}, {"3:30 pm", "3:35"}, {"5 pm", "5"}, {"3:30 pm", "1/10"}, {"3:30 pm", "3.5"}});
}

TEST(Equivalent, SumsOfUnitVectorsAreVectors) {
  expect_same({{R"(3\mathbf{i}-2\mathbf{j})", "(3,-2)"},
               {R"(-2\vec{j}+3\vec{i})", R"(\begin{pmatrix}3\\-2\end{pmatrix})"},
               {R"(-\hat{\mathbf{i}}+2\hat{\mathbf{j}}+5\hat{\mathbf{k}})", R"(\langle -1,2,5\rangle)"},
               {R"(\frac12\mathbf{i}+\sqrt{3}\,\mathbf{j})", R"((\frac12,\sqrt3))"},
               {R"(2\mathbf{j}+5\mathbf{k})", "(0,2,5)"},
               {R"(3\mathbf{i}-2\mathbf{j})", R"(-2\mathbf{j}+3\mathbf{i})"}});
  expect_different({{R"(3\mathbf{i}+2\mathbf{j})", "(3,-2)"},
                    {R"(2\mathbf{i}-3\mathbf{j})", "(3,-2)"},
                    {R"(3\mathbf{i}-2\mathbf{j})", "(3,-2,0)"},
                    {R"(3\mathbf{i}-2\mathbf{k})", "(3,-2)"},
                    {"3-2i", "(3,-2)"},
                    {"3i", "(3,0)"},
                    {"3i-2j+1", "(3,-2)"},
                    {"3i-2i+j", "(1,1)"},
                    {R"(3\mathbf{i}-2\mathbf{j})", "1"}});
}

}  // namespace
}  // namespace dts
