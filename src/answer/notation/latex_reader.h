// Reads LaTeX once, from front to back, and writes plain text. Its parts are in files of their own: what braces hold,
// scripts with fractions and roots, and tables.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "answer/notation/latex.h"
#include "text/ascii.h"

namespace dts::latex {

class LatexReader {
 public:
  explicit LatexReader(std::string_view text) : text_(text) { out_.reserve(text.size() + 16); }

  PlainAnswer read();

 private:
  static constexpr int kMaxDepth = 32;            // nesting of arguments that is still rewritten
  static constexpr std::size_t kMaxNumber = 256;  // bytes of a number that may have a unit

  bool starts(std::string_view with) const { return text_.substr(at_, with.size()) == with; }
  void skip_spaces() {
    while (at_ < text_.size() && text::is_space(text_[at_])) ++at_;
  }
  // One character, command or script with its arguments. Braces that belong to no command are kept: they make sets.
  void read_item(int depth);
  bool after_value() const {
    return !out_.empty() && (text::is_digit(out_.back()) || text::is_letter(out_.back()) || out_.back() == ')');
  }
  // Reads with the text cut off at `end`, and goes on there: what looks for its own end, as the ] of a root, finds none
  // beyond. So nothing is read twice.
  template <typename Read>
  void read_up_to(std::size_t end, const Read& read) {
    const std::string_view whole = text_;
    text_ = whole.substr(0, end);
    read();
    text_ = whole;
    at_ = end;
  }
  void read_unicode(int depth);
  // A run of raised or lowered characters.
  template <std::size_t n>
  bool read_small(const std::array<std::pair<std::string_view, char>, n>& table, char script);
  void read_command(int depth);
  // A backslash before anything but a letter.
  void read_control_symbol();
  // The arctan of \operatorname{arctan}, which is the command \arctan.
  std::string_view function_in_braces(std::string_view command) const;
  // 2\sqrt{3} \approx 3.46 answers 2\sqrt{3}; x \approx 3.46, and \approx 3.46, are all that is said of x.
  void read_approximately();
  // \mathbb{R} -> \R, which no variable is.
  void read_number_set(int depth);
  // A degree sign is a unit, dropped as others are; beside a sine it is a factor.
  void settle_degrees();
  // "5\text{ cm}" means 5: what dressed text begins after a number is its unit, unless it goes on with more.
  void drop_unit();

  // --- what braces hold, and arguments: latex_braces.cpp ---

  // {,} {:} {-} {\,}: one mark or space, in braces so that it is set without the room it would take.
  bool read_mark_in_braces();
  // The braces of 1{\frac{1}{2}}
  bool begins_mixed_fraction() const;
  // The braces of {x}^{2}, and the outer ones of {{x}^{2}}+1, which only hold together. Not those of {1,2} and of
  // {x}+{y}, which may be a set and fractional parts.
  bool begins_group() const;
  // {n \choose k}, {1 \over 2}: a command between its two arguments.
  bool read_infix(std::string_view command, int depth);
  // {red} of \color{red}.
  void skip_argument(int depth);
  // Reads {...}, a command or one character. Reads nothing beyond kMaxDepth.
  void read_argument(int depth);
  // An argument that must hold together: in parentheses unless it is one letter or number.
  void read_operand(int depth);

  // --- scripts, fractions, roots and functions: latex_scripts.cpp ---

  // The ! of 5!=120 and n! = 6, not that of x!=6.
  bool is_factorial_of_equation() const;
  // _{10}C_3, {}^{10}C_3: scripts hung on nothing before the C.
  bool read_combination(int depth);
  // ^{3}/_{56}, and ^3/_{56}: a fraction whose halves are hung on nothing.
  bool read_slanted_fraction();
  // x**2, as programs have it; not the marks of bold text.
  bool is_power() const;
  // The root sign without LaTeX: of a whole number, not of its first digit.
  void read_radical(std::string_view name, int depth);
  // Whether decimals were just read: 0.1 and what repeats.
  bool after_point() const;
  // The 45\dot{6} of 0.\dot{4}5\dot{6}: what repeats goes from the first dot to the last.
  void read_to_last_dot(int depth);
  void read_binomial(int depth);
  void read_fraction(int depth);
  // \sin{x} -> sin(x), \ln\frac{1}{2} -> ln(1/2), \sin^2 x -> sin^2 x.
  void read_function(std::string_view name, int depth);
  void read_root(int depth);
  // \root 3 \of {54}
  void read_root_of(int depth);
  void read_script(int depth);

  // --- tables and systems of equations: latex_tables.cpp ---

  void end_row();
  // The [4pt] of \\[4pt].
  void skip_row_space();
  // \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix} -> [[1,2],[3,4]]; \begin{cases} x=1 \\ y=2 \end{cases} -> x=1, y=2.
  // Other environments leave nothing of themselves.
  void read_environment(std::string_view command);
  void close_matrix();
  // \pmatrix{1 & 2 \cr 3 & 4}, as plain TeX has it.
  void read_matrix(int depth);
  // The {ll} of an array: which way its columns are aligned.
  void skip_alignment();

  std::string_view text_;
  std::size_t at_ = 0;
  std::string out_;
  int environments_ = 0;  // that are open
  bool in_matrix_ = false;
  bool in_statements_ = false;
  std::size_t unit_begin_ = std::string::npos;  // in out_: where the first dressed text outside all arguments began
  bool unit_in_words_ = false;                  // it is \text, not \mathrm
  std::string unit_;                            // what was dropped
};

}  // namespace dts::latex
