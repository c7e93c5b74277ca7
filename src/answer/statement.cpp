#include "answer/statement.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "answer/value/expression.h"
#include "text/ascii.h"

namespace dts {

using namespace text;

namespace {

// Whether what ends before the bracket at `open` is a function taken there: f, f', f^(-1), (f\circ g), gcd, but not the
// x of 2x(3) nor the ab of ab(3).
bool is_called(std::string_view text, std::size_t open) {
  std::string_view before = text.substr(0, open);
  while (before.ends_with('\'')) before.remove_suffix(1);
  for (const std::string_view inverse : {"^(-1)", "^-1"}) {
    if (before.ends_with(inverse)) before.remove_suffix(inverse.size());
  }
  if (before.ends_with(')')) return before.find("\\circ") != std::string_view::npos;
  std::size_t begin = before.size();
  while (begin > 0 && is_letter(before[begin - 1])) --begin;
  const std::size_t letters = before.size() - begin;
  const char earlier = begin > 0 ? before[begin - 1] : ' ';
  if (letters == 1) return !is_digit(earlier);
  return letters > 2 || (letters == 2 && earlier == '\\');
}

}  // namespace

bool is_constant(std::string_view text) {
  const std::optional<Value> value = evaluate(text);
  return value && value->constant;
}

bool is_symbols(std::string_view text) {
  if (text.starts_with("sqrt") || text.starts_with('-')) return false;
  bool any = false;
  int depth = 0;
  int function_depth = -1;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_letter(c)) {
      any = true;
    } else if (c == '_') {
      const bool in_brackets = text.substr(i + 1, 1) == "(";
      while (i + 1 < text.size() && (is_digit(text[i + 1]) || (in_brackets && text[i] != ')'))) ++i;
    } else if (c == '^' && (text.substr(i).starts_with("^(-1)(") || text.substr(i).starts_with("^-1("))) {
      i = text.find('1', i) + (text[i + 1] == '(' ? 1 : 0);
    } else if (c == '(' || c == '[') {
      if (is_called(text, i) && function_depth < 0) function_depth = depth;
      ++depth;
    } else if (c == ')' || c == ']') {
      if (--depth <= function_depth) function_depth = -1;
    } else if (is_digit(c) || std::string_view(".<>=").find(c) != std::string_view::npos) {
      if (function_depth < 0) return false;
    } else if (std::string_view("+-*/, \\'|#").find(c) == std::string_view::npos) {
      return false;
    }
  }
  return any;
}

bool is_named(std::string_view side) {
  for (const std::string_view whole : {"\\int", "\\sum", "\\prod", "\\lim"}) {
    if (side.starts_with(whole)) return true;
  }
  return is_symbols(side) || side.find("...") != std::string_view::npos;
}

bool is_matrix_of(std::string_view name, std::string_view value) {
  if (!value.starts_with("[[") || name.size() < 3 || !is_letter(name[0]) || name[1] != '^') return false;
  const std::string_view script = name.substr(2);
  return script == "-1" || script == "(-1)" || script == "t" || script == "(t)" ||
         std::all_of(script.begin(), script.end(), is_digit);
}

std::optional<std::string_view> stated_value(const Relation& relation) {
  if (relation.sign != "=") return std::nullopt;
  if (is_matrix_of(relation.left, relation.right)) return relation.right;
  if (is_named(relation.left)) return relation.right;
  return is_symbols(relation.right) ? std::optional(relation.left) : std::nullopt;
}

}  // namespace dts
