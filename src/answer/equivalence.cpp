#include "answer/equivalence.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "answer/expression.h"
#include "answer/structure.h"
#include "dts/answer.h"
#include "text/ascii.h"

namespace dts {
namespace {

using namespace text;

constexpr std::size_t kMaxBytes = 4096;  // longer answers are equal as texts or not at all
constexpr int kMaxDepth = 8;             // of parts in parts
constexpr std::uint32_t kPoints = 3;     // at which functions must agree

class Comparison {
 public:
  explicit Comparison(std::size_t& budget) : budget_(budget) {}

  // Of normalised texts.
  bool same(std::string_view a, std::string_view b, int depth = 0) {
    if (!charge(a.size() + b.size())) return false;
    if (a == b) return true;
    if (a.empty() || b.empty() || depth >= kMaxDepth) return false;
    return same_alternatives(a, b, depth) || same_parts(a, b, depth) || same_union(a, b, depth) ||
           same_spans(a, b, depth) || same_relation(a, b, depth) || same_function(a, b);
  }

 private:
  bool charge(std::size_t bytes) {
    const std::size_t cost = std::min(bytes + 1, budget_);
    budget_ -= cost;
    return budget_ > 0;
  }

  // Each of one side has its partner on the other.
  bool same_unordered(const std::vector<std::string_view>& a, const std::vector<std::string_view>& b, int depth) {
    if (a.size() != b.size()) return false;
    std::vector<std::string_view> left = b;
    for (const std::string_view item : a) {
      const auto partner =
          std::find_if(left.begin(), left.end(), [&](std::string_view other) { return same(item, other, depth + 1); });
      if (partner == left.end()) return false;
      left.erase(partner);
    }
    return true;
  }

  bool same_ordered(const std::vector<std::string_view>& a, const std::vector<std::string_view>& b, int depth) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (!same(a[i], b[i], depth + 1)) return false;
    }
    return true;
  }

  // 1+-sqrt(2) stands for two values: the signs are read all up, then all down.
  static std::vector<std::string> alternatives(std::string_view text) {
    std::vector<std::string> both(2);
    bool any = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const std::string_view two = text.substr(i, 2);
      if (two != "+-" && two != "-+") {
        for (std::string& one : both) one += text[i];
        continue;
      }
      both[0] += two[0];
      both[1] += two[1];
      any = true;
      ++i;
    }
    if (any) return both;
    return {};
  }

  bool same_alternatives(std::string_view a, std::string_view b, int depth) {
    const std::vector<std::string> of_a = alternatives(a);
    const std::vector<std::string> of_b = alternatives(b);
    if (of_a.empty() && of_b.empty()) return false;
    const std::vector<std::string> items_a = signed_items(a);
    const std::vector<std::string> items_b = signed_items(b);
    return same_unordered({items_a.begin(), items_a.end()}, {items_b.begin(), items_b.end()}, depth);
  }

  // The members of a set or bare list, those with a double sign as two.
  static std::vector<std::string> signed_items(std::string_view text) {
    const std::optional<Parts> parts = split_parts(text);
    const bool list = parts && (parts->is_bare() || parts->is_set());
    std::vector<std::string> out;
    for (const std::string_view item : list ? parts->items : std::vector<std::string_view>{text}) {
      std::vector<std::string> both = alternatives(item);
      if (both.empty()) both.emplace_back(item);
      for (std::string& one : both) out.push_back(one.starts_with('+') ? one.substr(1) : std::move(one));
    }
    return out;
  }

  // Tuples, intervals and lists of words in order; sets and bare lists of numbers in any.
  bool same_parts(std::string_view a, std::string_view b, int depth) {
    const std::optional<Parts> of_a = split_parts(a);
    const std::optional<Parts> of_b = split_parts(b);
    // A set and its members without the braces: {1, 2} and 1, 2; {5} and 5.
    if (of_a && of_a->is_set() && (of_b ? of_b->is_bare() : !a.empty())) {
      return same_unordered(of_a->items, of_b ? of_b->items : std::vector<std::string_view>{b}, depth);
    }
    if (of_b && of_b->is_set() && (of_a ? of_a->is_bare() : !b.empty())) {
      return same_unordered(of_b->items, of_a ? of_a->items : std::vector<std::string_view>{a}, depth);
    }
    if (!of_a || !of_b || of_a->open != of_b->open || of_a->close != of_b->close) return false;
    if (same_ordered(of_a->items, of_b->items, depth)) return true;
    if (of_a->is_set()) return same_unordered(of_a->items, of_b->items, depth);
    return of_a->is_bare() && all_numbers(*of_a) && all_numbers(*of_b) &&
           same_unordered(of_a->items, of_b->items, depth);
  }

  bool all_numbers(const Parts& parts) {
    return std::all_of(parts.items.begin(), parts.items.end(), [&](std::string_view item) {
      const std::optional<Relation> relation = split_relation(item);
      const std::optional<Value> value = evaluate(relation ? stated_value(*relation).value_or(item) : item);
      return charge(item.size()) && value && value->constant;
    });
  }

  bool same_union(std::string_view a, std::string_view b, int depth) {
    const std::vector<std::string_view> of_a = split_union(a);
    const std::vector<std::string_view> of_b = split_union(b);
    return of_a.size() > 1 && same_unordered(of_a, of_b, depth);
  }

  // x<=5 as (-infinity, 5], -1<x<2 as (-1, 2), x<1 or x>3 as (-infinity, 1)\cup(3, infinity); -3>=x with x<=-3.
  bool same_spans(std::string_view a, std::string_view b, int depth) {
    const std::vector<Span> of_a = spans(a);
    std::vector<Span> of_b = spans(b);
    if (of_a.empty() || of_a.size() != of_b.size()) return false;
    for (const Span& span : of_a) {
      const auto partner = std::find_if(of_b.begin(), of_b.end(), [&](const Span& other) {
        return span.open == other.open && span.close == other.close && same(span.low, other.low, depth + 1) &&
               same(span.high, other.high, depth + 1);
      });
      if (partner == of_b.end()) return false;
      of_b.erase(partner);
    }
    return true;
  }

  // Of intervals in brackets and of inequalities, in a union or with "or" between them; none when it is anything else.
  static std::vector<Span> spans(std::string_view text) {
    std::vector<std::string_view> items = split_union(text);
    if (items.size() == 1) {
      const std::optional<Parts> parts = split_parts(text);
      const bool inequalities = parts && parts->is_bare() && text.find_first_of("<>") != std::string_view::npos;
      if (inequalities) items = parts->items;
    }
    std::vector<Span> out;
    for (const std::string_view item : items) {
      const std::optional<Parts> parts = split_parts(item);
      const bool interval = parts && !parts->is_bare() && !parts->is_set() && parts->items.size() == 2;
      const std::optional<Span> span =
          interval ? Span{parts->open, parts->items[0], parts->items[1], parts->close} : span_of_inequality(item);
      if (!span) return {};
      out.push_back(*span);
    }
    return out;
  }

  // y=2x as y=2x or 2x=y, x>5 as 5<x; and what an equation says where the other side only says the value.
  bool same_relation(std::string_view a, std::string_view b, int depth) {
    const std::optional<Relation> of_a = split_relation(a);
    const std::optional<Relation> of_b = split_relation(b);
    if (of_a && of_b) {
      if (of_a->sign == of_b->sign && same(of_a->left, of_b->left, depth + 1)) {
        return same(of_a->right, of_b->right, depth + 1);
      }
      if (of_a->sign == mirrored(of_b->sign) && same(of_a->left, of_b->right, depth + 1)) {
        return same(of_a->right, of_b->left, depth + 1);
      }
      return same_solutions(*of_a, *of_b);
    }
    if (of_a.has_value() == of_b.has_value()) return false;
    const std::optional<std::string_view> value = stated_value(of_a ? *of_a : *of_b);
    return value && same(*value, of_a ? b : a, depth + 1);
  }

  // x+y=1 as x+y-1=0 or 2x+2y=2: one side less the other is the same function but for a factor.
  bool same_solutions(const Relation& a, const Relation& b) {
    const bool equations = (a.sign == "=" || a.sign == "!=") && a.sign == b.sign;
    if (!equations && a.sign != b.sign && a.sign != mirrored(b.sign)) return false;
    std::optional<double> factor;
    int compared = 0;
    for (std::uint32_t point = 0; point < kPoints + 1; ++point) {
      if (!charge(a.left.size() + a.right.size() + b.left.size() + b.right.size())) return false;
      const std::optional<double> of_a = difference(a, point);
      const std::optional<double> of_b = difference(b, point);
      if (of_a.has_value() != of_b.has_value()) return false;
      if (!of_a) continue;
      if (*of_a == 0 || *of_b == 0) return false;
      const double here = *of_a / *of_b;
      if (factor && std::abs(here - *factor) > 1e-7 * std::abs(*factor)) return false;
      factor = here;
      ++compared;
    }
    return compared > 1 && (equations || (*factor > 0) == (a.sign == b.sign));
  }

  // Of the sides; nothing when they have no variables, where any two equations would differ by a factor only.
  static std::optional<double> difference(const Relation& relation, std::uint32_t point) {
    const std::optional<Value> left = evaluate(relation.left, point);
    const std::optional<Value> right = evaluate(relation.right, point);
    if (!left || !right || (left->constant && right->constant)) return std::nullopt;
    const double less = left->approximate - right->approximate;
    return std::isfinite(less) ? std::optional(less) : std::nullopt;
  }

  // 5 of x=5, m+n=5, f(x)=5 and 5=x: of an equation that gives something a value. x^2+y^2=1 does not say 1.
  static std::optional<std::string_view> stated_value(const Relation& relation) {
    if (relation.sign != "=") return std::nullopt;
    if (is_symbols(relation.left)) return relation.right;
    return is_symbols(relation.right) ? std::optional(relation.left) : std::nullopt;
  }

  // Letters, with indices, added or multiplied or in brackets: x, m+n, f(x), (x, y), x_1; no number is in it.
  static bool is_symbols(std::string_view text) {
    bool any = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (is_letter(text[i])) {
        any = true;
      } else if (text[i] == '_') {
        const bool in_brackets = text.substr(i + 1, 1) == "(";
        while (i + 1 < text.size() && (is_digit(text[i + 1]) || (in_brackets && text[i] != ')'))) ++i;
      } else if (std::string_view("+-*/(), \\'").find(text[i]) == std::string_view::npos) {
        return false;
      }
    }
    return any;
  }

  static std::string_view mirrored(std::string_view sign) {
    if (sign == "<") return ">";
    if (sign == ">") return "<";
    if (sign == "<=") return ">=";
    if (sign == ">=") return "<=";
    return sign;
  }

  // The same number, or the same function of the same letters as far as a few points can tell.
  bool same_function(std::string_view a, std::string_view b) {
    if (is_word(a) && is_word(b) && !is_digit(a.front()) && !is_digit(b.front())) return false;  // "no" is not "on"
    bool compared = false;
    for (std::uint32_t point = 0; point < kPoints; ++point) {
      if (!charge(a.size() + b.size())) return false;
      const std::optional<Value> of_a = evaluate(a, point);
      const std::optional<Value> of_b = evaluate(b, point);
      if (of_a.has_value() != of_b.has_value()) return false;
      if (!of_a) continue;
      if (!same_value(*of_a, *of_b)) return false;
      compared = true;
    }
    return compared;
  }

  std::size_t& budget_;
};

}  // namespace

bool is_percentage(std::string_view text) {
  while (!text.empty() && (is_space(text.back()) || text.back() == '$' || text.back() == '}' || text.back() == '.')) {
    text.remove_suffix(1);
  }
  return text.ends_with('%');
}

namespace {

// The y of y=2x+3, which normal forms drop; '\0' when it does not begin so, or is a chain of equations.
char leading_variable(std::string_view answer) {
  while (!answer.empty() && (is_space(answer.front()) || answer.front() == '$')) answer.remove_prefix(1);
  if (answer.empty() || !is_letter(answer.front())) return '\0';
  const std::string_view rest = trim(answer.substr(1));
  return rest.starts_with('=') && rest.find('=', 1) == std::string_view::npos ? to_lower(answer.front()) : '\0';
}

// Where one is an equation and the other was y=..., that is an equation, too.
bool same_equation(std::string_view equation, std::string_view written, std::string_view normal, std::size_t& budget) {
  const char variable = leading_variable(written);
  const std::optional<Relation> relation = variable == '\0' ? std::nullopt : split_relation(equation);
  if (!relation || relation->sign != "=") return false;
  return Comparison(budget).same(equation, std::string(1, variable) + "=" + std::string(normal));
}

// "(b) 12" -> "12": an option with its letter; empty when it is not one.
std::string_view labelled(std::string_view normal) {
  if (normal.size() < 4 || normal[0] != '(' || !is_letter(normal[1]) || normal[2] != ')') return {};
  return trim(normal.substr(3));
}

// What the option says, or its letter, is what the other says.
bool same_option(std::string_view option, std::string_view other, std::size_t& budget) {
  const std::string_view value = labelled(option);
  if (value.empty() || !labelled(other).empty()) return false;
  return other == option.substr(1, 1) || Comparison(budget).same(value, other);
}

// 3 mod 5 where the other only says 3: whoever was asked for the remainder has named it.
bool same_residue(std::string_view residue, std::string_view other, std::size_t& budget) {
  const std::size_t mod = residue.find(" mod ");
  if (mod == std::string_view::npos || other.find(" mod ") != std::string_view::npos) return false;
  const std::optional<Value> value = evaluate(other);
  return value && value->constant && Comparison(budget).same(trim(residue.substr(0, mod)), other);
}

// 50% is 50 to some and 0.5 to others.
bool same_percentage(std::string_view percentage, std::string_view other) {
  const std::optional<Value> of_percentage = evaluate(percentage);
  const std::optional<Value> of_other = evaluate(other);
  if (!of_percentage || !of_percentage->exact || !of_other) return false;
  const std::optional<Rational> scaled = *of_percentage->exact / *Rational::make(100);
  return scaled && same_value({scaled, scaled->approximate(), true}, *of_other);
}

}  // namespace

bool equivalent_within(std::string_view a, std::string_view b, std::size_t& budget) {
  std::string normal_a = normalise_answer(a);
  std::string normal_b = normalise_answer(b);
  if (normal_a == normal_b) return true;
  if (normal_a.size() > kMaxBytes || normal_b.size() > kMaxBytes) return false;
  if (is_percentage(a) && !is_percentage(b) && same_percentage(normal_a, normal_b)) return true;
  if (is_percentage(b) && !is_percentage(a) && same_percentage(normal_b, normal_a)) return true;
  // In one order whichever was named first: what a budget cuts off must not depend on it.
  if (normal_b < normal_a) {
    std::swap(normal_a, normal_b);
    std::swap(a, b);
  }
  return Comparison(budget).same(normal_a, normal_b) || same_option(normal_a, normal_b, budget) ||
         same_option(normal_b, normal_a, budget) || same_residue(normal_a, normal_b, budget) ||
         same_residue(normal_b, normal_a, budget) || same_equation(normal_a, b, normal_b, budget) ||
         same_equation(normal_b, a, normal_a, budget);
}

bool equivalent(std::string_view a, std::string_view b) {
  std::size_t budget = kComparisonBudget;
  return equivalent_within(a, b, budget);
}

}  // namespace dts
