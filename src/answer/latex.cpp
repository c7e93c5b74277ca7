#include "answer/latex.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "answer/expression.h"
#include "answer/number.h"
#include "answer/units.h"
#include "text/ascii.h"

namespace dts {
namespace {

using namespace text;

constexpr int kMaxDepth = 32;            // nesting of arguments that is still rewritten
constexpr std::size_t kMaxNumber = 256;  // bytes of a number that may have a unit

// Commands without a meaning for the answer.
constexpr std::array<std::string_view, 31> kDropped = {
    "left",      "right",       "big",       "Big",    "bigg",     "Bigg",         "bigl",      "bigr",
    "Bigl",      "Bigr",        "mathstrut", "rm",     "bf",       "it",           "sf",        "displaystyle",
    "textstyle", "scriptstyle", "limits",    "middle", "nonumber", "tiny",         "small",     "normalsize",
    "large",     "Large",       "LARGE",     "huge",   "Huge",     "footnotesize", "scriptsize"};

// Commands that only dress their argument: words, upright symbols, and others.
constexpr std::array<std::string_view, 10> kWords = {"text",   "textbf",     "textit", "textrm", "textsf",
                                                     "texttt", "textnormal", "mbox",   "hbox",   "emph"};
constexpr std::array<std::string_view, 3> kUpright = {"mathrm", "operatorname", "mathsf"};
constexpr std::array<std::string_view, 10> kDressing = {"mathbf", "mathit", "mathtt",     "mathbb",    "mathcal",
                                                        "boxed",  "fbox",   "ensuremath", "underline", "bm"};
constexpr std::array<std::string_view, 2> kColours = {"color", "textcolor"};
constexpr std::array<std::string_view, 3> kModulo = {"pmod", "bmod", "mod"};
constexpr std::array<std::string_view, 3> kApproximately = {"approx", "thickapprox", "approxeq"};

constexpr std::array<std::string_view, 15> kFunctions = {
    "sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan", "ln", "log", "exp"};

constexpr std::array<std::string_view, 6> kFractions = {"frac", "dfrac", "tfrac", "cfrac", "sfrac", "nicefrac"};

// Environments that are a table of numbers; which brackets they draw around it is taste.
constexpr std::array<std::string_view, 5> kMatrices = {"matrix", "pmatrix", "bmatrix", "smallmatrix", "array"};

constexpr std::array<std::pair<std::string_view, std::string_view>, 31> kSymbols = {{
    {"pi", "pi"},
    {"infty", "infinity"},
    {"cdot", "*"},
    {"times", "*"},
    {"ast", "*"},
    {"div", "/"},
    {"le", "<="},
    {"leq", "<="},
    {"leqslant", "<="},
    {"ge", ">="},
    {"geq", ">="},
    {"geqslant", ">="},
    {"lt", "<"},
    {"gt", ">"},
    {"ne", "!="},
    {"neq", "!="},
    {"pm", "+-"},
    {"ldots", "..."},
    {"dots", "..."},
    {"cdots", "..."},
    {"quad", " "},
    {"qquad", " "},
    {"colon", ":"},
    {"lbrace", "{"},
    {"rbrace", "}"},
    {"textdollar", ""},
    {"pounds", ""},
    {"euro", ""},
    {"mp", "-+"},
    {"equiv", "="},
    {"varnothing", "\\emptyset"},
}};

constexpr std::string_view kDegreeSign = "\u00b0";
constexpr std::array<std::string_view, 4> kDegrees = {"degree", "degrees", "textdegree", "deg"};

// The same symbols, written in Unicode.
constexpr std::array<std::pair<std::string_view, std::string_view>, 26> kUnicode = {{
    {"\u2212", "-"},  // minus sign
    {"\u2013", "-"},  // en dash
    {"\u00bc", "1/4"},      {"\u00bd", "1/2"},   {"\u00be", "3/4"}, {"\u00b2", "^2"},
    {"\u00b3", "^3"},       {"\u2044", "/"},  // fraction slash
    {"\u222a", "\\cup "},   {"\u2208", "\\in "}, {"\u2213", "-+"},  {"\u00d7", "*"},
    {"\u00b7", "*"},        {"\u22c5", "*"},     {"\u00f7", "/"},   {"\u2264", "<="},
    {"\u2265", ">="},       {"\u2260", "!="},    {"\u03c0", "pi"},  {"\u00b1", "+-"},
    {"\u221e", "infinity"}, {"\u00a0", " "},     {"\u2009", " "},   {"\u202f", " "},  // spaces that do not break
    {"\u2019", "'"},        {"\u200b", ""},
}};

template <std::size_t n>
bool contains(const std::array<std::string_view, n>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

template <std::size_t n>
const std::string_view* lookup(const std::array<std::pair<std::string_view, std::string_view>, n>& table,
                               std::string_view name) {
  const auto found = std::find_if(table.begin(), table.end(), [&](const auto& entry) { return entry.first == name; });
  return found == table.end() ? nullptr : &found->second;
}

class LatexReader {
 public:
  explicit LatexReader(std::string_view text) : text_(text) { out_.reserve(text.size() + 16); }

  std::string read() {
    while (at_ < text_.size()) read_item(0);
    drop_unit();
    return std::move(out_);
  }

 private:
  bool starts(std::string_view with) const { return text_.substr(at_, with.size()) == with; }

  void skip_spaces() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }

  // One character, command or script with its arguments. Braces that belong to no command are kept: they make sets.
  void read_item(int depth) {
    const char c = text_[at_];
    if (c == '\\') {
      read_command(depth);
    } else if (c == '^' || c == '_') {
      read_script(depth);
    } else if (c == '$') {
      ++at_;
    } else if (c == '&' && in_matrix_) {
      out_ += ',';
      ++at_;
    } else if (c == '~') {
      out_ += ' ';
      ++at_;
    } else if (starts("{,}")) {  // a thousands separator without the space of a comma
      out_ += ',';
      at_ += 3;
    } else if (static_cast<unsigned char>(c) >= 0x80U) {
      read_unicode(depth);
    } else {
      out_ += c;
      ++at_;
    }
  }

  void read_unicode(int depth) {
    for (const auto& [symbol, plain] : kUnicode) {
      if (!starts(symbol)) continue;
      out_ += plain;
      at_ += symbol.size();
      return;
    }
    if (starts(kDegreeSign)) {
      at_ += kDegreeSign.size();
    } else if (starts("\u2248")) {
      at_ += 3;
      read_approximately();
    } else if (starts("\u221a")) {
      at_ += 3;
      read_root(depth);
    } else {
      out_ += text_[at_++];
    }
  }

  void read_command(int depth) {
    std::size_t end = ++at_;  // past the backslash
    while (end < text_.size() && is_letter(text_[end])) ++end;
    if (end == at_) {
      read_control_symbol();
      return;
    }
    const std::string_view name = text_.substr(at_, end - at_);
    at_ = end;
    if (contains(kDropped, name) || contains(kDegrees, name)) {
      return;
    } else if (contains(kWords, name) || contains(kUpright, name)) {
      if (depth == 0 && unit_begin_ == std::string::npos) {
        unit_begin_ = out_.size();
        unit_in_words_ = contains(kWords, name);
      }
      read_argument(depth);
    } else if (contains(kDressing, name)) {
      read_argument(depth);
    } else if (contains(kColours, name)) {
      skip_argument();
    } else if (contains(kModulo, name)) {
      out_ += " mod ";
      read_argument(depth);
    } else if (contains(kApproximately, name)) {
      read_approximately();
    } else if (contains(kFunctions, name)) {
      read_function(name, depth);
    } else if (contains(kFractions, name)) {
      read_fraction(depth);
    } else if (name == "sqrt") {
      read_root(depth);
    } else if (name == "begin" || name == "end") {
      read_environment(name);
    } else if (const std::string_view* symbol = lookup(kSymbols, name)) {
      out_ += *symbol;
    } else {
      out_ += '\\';
      out_ += name;
      out_ += ' ';  // else what follows could join the name
    }
  }

  // A backslash before anything but a letter.
  void read_control_symbol() {
    if (at_ == text_.size()) return;
    const char c = text_[at_];
    if (c == '\\' && in_matrix_) {
      out_ += "],[";
      ++at_;
      skip_row_space();
    } else if (c == '\\') {
      // A line break, or one backslash too many before a command.
      if (at_ + 1 < text_.size() && is_letter(text_[at_ + 1])) return;
      out_ += ' ';
      ++at_;
    } else if (c == ',' || c == '!') {
      ++at_;
      // 11,\! 111: thousands, drawn together again.
      if (c == '!' && out_.ends_with(',')) skip_spaces();
    } else if (c == ';' || c == ':' || is_space(c)) {
      out_ += ' ';
      ++at_;
    } else if (c == '(' || c == ')' || c == '[' || c == ']' || c == '$') {
      ++at_;
    } else {
      out_ += c;
      ++at_;
    }
  }

  // 2\sqrt{3} \approx 3.46 answers 2\sqrt{3}; x \approx 3.46, and \approx 3.46, are all that is said of x.
  void read_approximately() {
    const std::string_view before = trim(std::string_view(out_).substr(out_.rfind('=') + 1));
    if (before.empty()) return;
    const std::optional<Value> value = before.size() <= kMaxNumber ? evaluate(before) : std::nullopt;
    if (value && value->constant) {
      at_ = text_.size();
    } else {
      out_ += '=';
    }
  }

  // The [4pt] of \\[4pt].
  void skip_row_space() {
    if (at_ == text_.size() || text_[at_] != '[') return;
    const std::size_t end = text_.find(']', at_);
    if (end == std::string_view::npos || end - at_ > 16) return;
    const std::string_view space = text_.substr(at_ + 1, end - at_ - 1);
    if (!space.empty() && (is_digit(space.front()) || space.front() == '-') && is_letter(space.back())) at_ = end + 1;
  }

  // {red} of \color{red}.
  void skip_argument() {
    skip_spaces();
    if (at_ == text_.size() || text_[at_] != '{') return;
    at_ = std::min(text_.find('}', at_), text_.size() - 1) + 1;
    skip_spaces();
    // What is coloured is often in braces of its own, which are no set.
    if (at_ < text_.size() && text_[at_] == '{') read_argument(0);
  }

  // Reads {...}, a command or one character. Reads nothing beyond kMaxDepth.
  void read_argument(int depth) {
    skip_spaces();
    if (at_ == text_.size() || depth >= kMaxDepth) return;
    if (text_[at_] != '{') {
      if (text_[at_] != '}') read_item(depth + 1);
      return;
    }
    ++at_;
    std::size_t open = 0;  // braces of the argument's own
    while (at_ < text_.size()) {
      if (text_[at_] == '}' && open == 0) {
        ++at_;
        return;
      }
      if (text_[at_] == '{' && !starts("{,}")) ++open;
      if (text_[at_] == '}') --open;
      read_item(depth + 1);
    }
  }

  // \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix} -> [[1,2],[3,4]]. Other environments leave nothing of themselves.
  void read_environment(std::string_view command) {
    if (at_ == text_.size() || text_[at_] != '{') return;
    const std::size_t end = text_.find('}', at_);
    if (end == std::string_view::npos) return;
    const std::string_view environment = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    if (!contains(kMatrices, environment)) return;
    if (command == "end" && in_matrix_) out_ += "]]";
    if (command == "begin" && !in_matrix_) {
      out_ += "[[";
      skip_spaces();
      if (environment == "array" && at_ < text_.size() && text_[at_] == '{') {  // which way its columns are aligned
        at_ = std::min(text_.find('}', at_), text_.size() - 1) + 1;
      }
    }
    in_matrix_ = command == "begin";
  }

  // An argument that must hold together: in parentheses unless it is one letter or number.
  void read_operand(int depth) {
    const std::size_t begin = out_.size();
    read_argument(depth);
    const std::string_view operand = trim(std::string_view(out_).substr(begin));
    if ((operand.size() == 1 && is_letter(operand.front())) || is_number(operand)) return;
    out_.insert(begin, 1, '(');
    out_ += ')';
  }

  void read_fraction(int depth) {
    if (!out_.empty() && is_digit(out_.back())) out_ += ' ';  // a mixed number: 1 1/2
    if (!out_.empty() && (is_letter(out_.back()) || out_.back() == ')')) out_ += '*';
    read_operand(depth);
    out_ += '/';
    read_operand(depth);
    if (at_ < text_.size() && is_digit(text_[at_])) out_ += ' ';  // else it would join the denominator
  }

  // \sin{x} -> sin(x), \ln\frac{1}{2} -> ln(1/2), \sin^2 x -> sin^2 x.
  void read_function(std::string_view name, int depth) {
    if (!out_.empty() && is_letter(out_.back())) out_ += ' ';  // else it would join the name
    out_ += name;
    skip_spaces();
    while (at_ < text_.size() && (text_[at_] == '^' || text_[at_] == '_')) {
      read_script(depth);
      if (at_ < text_.size() && (is_digit(text_[at_]) || is_letter(text_[at_]))) out_ += text_[at_++];
      skip_spaces();
    }
    if (at_ == text_.size()) return;
    const std::string_view rest = text_.substr(at_);
    const auto is_fraction = [&](std::string_view command) { return rest.substr(1).starts_with(command); };
    const bool whole = rest.front() == '\\' && std::any_of(kFractions.begin(), kFractions.end(), is_fraction);
    if (rest.front() != '{' && !whole) {
      out_ += ' ';
      return;
    }
    out_ += '(';
    read_argument(depth);
    out_ += ')';
  }

  void read_root(int depth) {
    out_ += "sqrt";
    skip_spaces();
    if (at_ < text_.size() && text_[at_] == '[') {  // \sqrt[3]{x}
      while (at_ < text_.size() && text_[at_] != ']') out_ += text_[at_++];
    }
    if (at_ < text_.size() && text_[at_] == ']') out_ += text_[at_++];
    skip_spaces();
    if (at_ < text_.size() && text_[at_] == '(') return;  // it brings its own
    out_ += '(';
    read_argument(depth);
    out_ += ')';
  }

  void read_script(int depth) {
    const char script = text_[at_++];
    const std::size_t begin = out_.size();
    out_ += script;
    skip_spaces();
    if (at_ == text_.size() || (text_[at_] != '{' && text_[at_] != '\\' && !starts(kDegreeSign))) return;
    read_operand(depth);
    // An exponent that only said "degrees" goes with its ^.
    const std::string_view argument = trim(std::string_view(out_).substr(begin + 1));
    if (argument == "()" || argument == "(\\circ )") out_.resize(begin);
    // 42_{10}: in the base it would be in anyway.
    if (script == '_' && argument == "10" && begin > 0 && is_digit(out_[begin - 1])) out_.resize(begin);
  }

  // "5\text{ cm}" means 5: what dressed text begins after a number is its unit, unless it goes on with more.
  void drop_unit() {
    if (unit_begin_ >= out_.size()) return;
    const std::string_view number = trim(std::string_view(out_).substr(0, unit_begin_));
    const std::string_view unit = trim(std::string_view(out_).substr(unit_begin_));
    if (number.size() > kMaxNumber || unit.empty() || !is_letter(unit.front())) return;
    for (std::size_t i = 0; i < unit.size(); ++i) {
      const bool exponent = is_digit(unit[i]) && i > 0 && (unit[i - 1] == '^' || unit[i - 1] == '-');
      const bool plain = is_letter(unit[i]) || is_space(unit[i]) || unit[i] == '.' || unit[i] == '/' ||
                         unit[i] == '^' || unit[i] == '-' || unit[i] == '*' || unit[i] == '(' || unit[i] == ')';
      if (!exponent && !plain) return;
    }
    // Words are a unit whatever they say; symbols only where they are known to be one, else they are factors:
    // 4\mathrm{i}.
    if (unit == "i" || unit == "e" || (!unit_in_words_ && !are_unit_symbols(unit))) return;
    const std::string_view first = unit.substr(0, unit.find(' '));
    if (first == "or" || first == "and" || first == "to") return;
    if (!is_number(number)) {
      const std::optional<Value> value = evaluate(number);
      if (!value || !value->constant) return;
    }
    out_.resize(unit_begin_);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string out_;
  bool in_matrix_ = false;
  std::size_t unit_begin_ = std::string::npos;  // in out_: where the first dressed text outside all arguments began
  bool unit_in_words_ = false;                  // it is \text, not \mathrm
};

}  // namespace

std::string latex_to_plain(std::string_view latex) { return LatexReader(latex).read(); }

}  // namespace dts
