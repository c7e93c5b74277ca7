// Braces: groups, marks in braces, commands between their arguments.
#include <algorithm>
#include <cstddef>
#include <string_view>

#include "answer/notation/latex_reader.h"
#include "answer/notation/latex_symbols.h"
#include "answer/value/number.h"

namespace dts::latex {

using namespace text;

namespace {

// Where the brace that `group` begins with is closed; its size where it is not.
std::size_t closing_brace(std::string_view group) {
  int open = 0;
  for (std::size_t at = 0; at < group.size(); ++at) {
    if (group[at] == '{') ++open;
    if (group[at] == '}' && --open == 0) return at;
  }
  return group.size();
}

}  // namespace

bool LatexReader::read_mark_in_braces() {
  constexpr std::size_t kLongest = 16;  // bytes
  const std::size_t end = text_.substr(at_, kLongest).find('}');
  if (end == std::string_view::npos) return false;
  std::string_view inside = trim(text_.substr(at_ + 1, end - 1));
  if (inside.starts_with('\\')) {  // {\small,}
    std::size_t name = 1;
    while (name < inside.size() && is_letter(inside[name])) ++name;
    if (contains(kDropped, inside.substr(1, name - 1))) inside = trim(inside.substr(name));
  }
  const bool mark = inside.size() == 1 && std::string_view(",:.-+=<>").find(inside.front()) != std::string_view::npos;
  const bool space = inside == "\\," || inside == "\\;" || inside == "\\:" || inside == "\\!" || inside == "~";
  if (!mark && !space) return false;
  at_ += end + 1;
  const bool in_number = !out_.empty() && is_digit(out_.back()) && at_ < text_.size() && is_digit(text_[at_]);
  if (mark) {
    out_ += inside;
  } else if (!in_number) {
    out_ += ' ';
  }
  return true;
}

bool LatexReader::begins_mixed_fraction() const {
  const std::string_view rest = text_.substr(at_ + 1);
  return !out_.empty() && is_digit(out_.back()) &&
         (rest.starts_with("\\frac") || rest.starts_with("\\dfrac") || rest.starts_with("\\tfrac"));
}

bool LatexReader::begins_group() const {
  constexpr std::size_t kMaxGroup = 256;  // bytes
  const std::string_view group = text_.substr(at_, kMaxGroup);
  const std::size_t end = closing_brace(group);
  if (end >= group.size() || trim(group.substr(1, end - 1)).empty()) return false;
  if (group.substr(0, end).find_first_of(",;|:=<>") != std::string_view::npos) return false;
  const std::string_view rest = trim(text_.substr(at_ + end + 1));
  const std::string_view before = trim(out_);
  constexpr std::string_view kBeside = "+-*/=";
  if (rest.starts_with('^') || rest.starts_with('_')) return true;
  if (group.substr(0, end).find_first_of("^_") == std::string_view::npos) return false;
  return (!rest.empty() && kBeside.find(rest.front()) != std::string_view::npos) ||
         (!before.empty() && kBeside.find(before.back()) != std::string_view::npos);
}

bool LatexReader::read_infix(std::string_view command, int depth) {
  constexpr std::size_t kMaxGroup = 128;  // bytes
  const std::string_view group = text_.substr(at_, kMaxGroup);
  const std::size_t at = group.find(command);
  const std::size_t end = closing_brace(group);
  if (at == std::string_view::npos || end == group.size() || end < at) return false;
  if (is_letter(group[at + command.size()])) return false;  // \overline
  if (group.substr(1, at).find('{') != std::string_view::npos) return false;
  const bool choose = command == "\\choose";
  if (!out_.empty() && (is_letter(out_.back()) || is_digit(out_.back()))) out_ += ' ';
  out_ += choose ? "binom(" : "(";
  const std::size_t whole = at_;
  const auto read_all = [&] {
    while (at_ < text_.size()) read_item(depth + 1);
  };
  ++at_;
  read_up_to(whole + at, read_all);
  out_ += choose ? "," : ")/(";
  at_ += command.size();
  read_up_to(whole + end, read_all);
  ++at_;
  out_ += ')';
  return true;
}

void LatexReader::skip_argument(int depth) {
  skip_spaces();
  if (at_ == text_.size() || text_[at_] != '{') return;
  at_ = std::min(text_.find('}', at_), text_.size() - 1) + 1;
  skip_spaces();
  // What is coloured is often in braces of its own, which are no set.
  if (at_ < text_.size() && text_[at_] == '{') read_argument(depth);
}

void LatexReader::read_argument(int depth) {
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
    const bool opens = text_[at_] == '{';
    if (text_[at_] == '}') --open;
    const std::size_t begin = at_;
    read_item(depth + 1);
    if (opens && at_ == begin + 1) ++open;  // else it was read with all that it holds
  }
}

void LatexReader::read_operand(int depth) {
  const std::size_t begin = out_.size();
  read_argument(depth);
  const std::string_view operand = trim(std::string_view(out_).substr(begin));
  if ((operand.size() == 1 && is_letter(operand.front())) || is_number(operand)) return;
  out_.insert(begin, 1, '(');
  out_ += ')';
}

}  // namespace dts::latex
