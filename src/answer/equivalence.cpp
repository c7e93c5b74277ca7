#include "answer/equivalence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "answer/meaning.h"
#include "answer/notation/unit_vectors.h"
#include "answer/notation/units.h"
#include "answer/reading.h"
#include "answer/spans.h"
#include "answer/statement.h"
#include "answer/structure.h"
#include "answer/value/expression.h"
#include "answer/value/value_arithmetic.h"
#include "dts/answer.h"
#include "text/ascii.h"

namespace dts {
namespace {

using namespace text;

constexpr std::size_t kMaxBytes = 4096;  // longer answers are equal as texts or not at all
constexpr int kMaxDepth = 8;             // of parts in parts

std::string_view mirrored(std::string_view sign) {
  if (sign == "<") return ">";
  if (sign == ">") return "<";
  if (sign == "<=") return ">=";
  if (sign == ">=") return "<=";
  return sign;
}

class Comparison {
 public:
  explicit Comparison(std::size_t& budget) : budget_(budget) {}

  // Of normalised texts.
  bool same(std::string_view a, std::string_view b, int depth = 0) {
    if (!charge(a.size() + b.size())) return false;
    if (a == b) return true;
    if (a.empty() || b.empty() || depth >= kMaxDepth) return false;
    return same_alternatives(a, b, depth) || same_parts(a, b, depth) || same_union(a, b, depth) ||
           same_spans(a, b, depth) || same_relation(a, b, depth) || same_ratio(a, b) || same_residue_class(a, b) ||
           same_point(a, b, depth) || same_point(b, a, depth) || same_as_function(a, b);
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

  bool same_alternatives(std::string_view a, std::string_view b, int depth) {
    const auto is_signed = [](std::string_view text) {
      return text.find("+-") != std::string_view::npos || text.find("-+") != std::string_view::npos;
    };
    if (!is_signed(a) && !is_signed(b)) return false;
    const std::vector<std::string> items_a = signed_items(a);
    const std::vector<std::string> items_b = signed_items(b);
    return same_unordered({items_a.begin(), items_a.end()}, {items_b.begin(), items_b.end()}, depth);
  }

  // The entries of a matrix of one row or one column; none when it is anything else.
  static std::vector<std::string_view> vector_entries(const Parts& matrix) {
    if (matrix.open != '[' || matrix.close != ']') return {};
    std::vector<std::string_view> entries;
    for (const std::string_view row : matrix.items) {
      const std::optional<Parts> of_row = split_parts(row);
      if (!of_row || of_row->open != '[' || of_row->close != ']') return {};
      if (matrix.items.size() == 1) return of_row->items;
      if (of_row->items.size() != 1) return {};
      entries.push_back(of_row->items.front());
    }
    return entries;
  }

  static bool is_tuple(const Parts& parts) { return parts.open == '(' && parts.close == ')' && parts.items.size() > 1; }

  // x=1, y=2: what each of several names is, in the order in which a tuple has them: letters that follow each other in
  // the alphabet in its order, others as they are written. None when it is anything else.
  static std::vector<std::pair<std::string_view, std::string_view>> assignments(const Parts& parts) {
    std::vector<std::pair<std::string_view, std::string_view>> out;
    if (!parts.is_bare()) return {};
    for (const std::string_view item : parts.items) {
      const std::optional<Relation> relation = split_relation(item);
      if (!relation || relation->sign != "=" || !is_symbols(relation->left)) return {};
      out.emplace_back(relation->left, relation->right);
    }
    std::vector<std::pair<std::string_view, std::string_view>> sorted = out;
    std::sort(sorted.begin(), sorted.end());
    bool neighbours = true;
    for (std::size_t i = 1; i < sorted.size(); ++i) {
      const std::string_view one = sorted[i - 1].first;
      const std::string_view next = sorted[i].first;
      if (one == next) return {};
      const bool letters = one.size() == next.size() && (one.size() == 1 || one.substr(1, 1) == "_");
      neighbours =
          neighbours && letters && (one.size() == 1 ? next.front() - one.front() == 1 : one.front() == next.front());
    }
    return neighbours ? sorted : out;
  }

  // The same values without their names: in that order, or in any beside a list that has none.
  bool same_assignments(const Parts& named, const Parts& other, int depth) {
    const auto of_named = assignments(named);
    if (of_named.empty()) return false;
    std::vector<std::string_view> values;
    values.reserve(of_named.size());
    for (const auto& [name, value] : of_named) values.push_back(value);
    if (other.is_bare()) return same_unordered(values, other.items, depth);  // it has lost its order
    // x_1=1, x_2=3 are the solutions {1, 3}; a=1, b=3 is a point.
    const bool one_letter = std::all_of(of_named.begin(), of_named.end(), [&](const auto& one) {
      return one.first.size() > 2 && one.first[1] == '_' && one.first[0] == of_named.front().first[0];
    });
    if (other.is_set()) return one_letter && same_unordered(values, other.items, depth);
    const std::vector<std::string_view> entries = is_tuple(other) ? other.items : vector_entries(other);
    return !entries.empty() && same_ordered(values, entries, depth);
  }

  // Tuples, intervals and lists of words in order; sets and bare lists of numbers in any.
  bool same_parts(std::string_view a, std::string_view b, int depth) {
    const std::optional<Parts> of_a = split_parts(a);
    const std::optional<Parts> of_b = split_parts(b);
    // x=1, y=2 beside what has no names.
    if (of_a && of_b && assignments(*of_a).empty() != assignments(*of_b).empty()) {
      return same_assignments(*of_a, *of_b, depth) || same_assignments(*of_b, *of_a, depth);
    }
    // A set of the empty set is not empty.
    const auto holds_nothing = [](const std::optional<Parts>& parts) {
      return parts && parts->is_set() && parts->items.size() == 1 && parts->items.front() == "\\emptyset";
    };
    if (holds_nothing(of_a) != holds_nothing(of_b)) return false;
    // A set and its members without the braces: {1, 2} and 1, 2; {5} and 5.
    if (of_a && of_a->is_set() && (of_b ? of_b->is_bare() : !a.empty())) {
      return same_unordered(of_a->items, of_b ? of_b->items : std::vector<std::string_view>{b}, depth);
    }
    if (of_b && of_b->is_set() && (of_a ? of_a->is_bare() : !b.empty())) {
      return same_unordered(of_b->items, of_a ? of_a->items : std::vector<std::string_view>{a}, depth);
    }
    if (!of_a || !of_b) return same_wrapped(of_a, b, depth) || same_wrapped(of_b, a, depth);
    if (is_tuple(*of_a) && !is_tuple(*of_b)) return same_vector(*of_b, *of_a, depth);
    if (is_tuple(*of_b) && !is_tuple(*of_a)) return same_vector(*of_a, *of_b, depth);
    if (of_a->open != of_b->open || of_a->close != of_b->close) return false;
    // Of inequalities it matters whether all of them hold or any.
    const auto joined = [](std::string_view text) {
      return text.find_first_of("<>") != std::string_view::npos && text.find(" and ") != std::string_view::npos;
    };
    if (of_a->is_bare() && joined(a) != joined(b)) return false;
    if (same_ordered(of_a->items, of_b->items, depth)) return true;
    if (of_a->items.size() != of_b->items.size()) {
      return same_wrapped(of_a, b, depth) || same_wrapped(of_b, a, depth);
    }
    if (of_a->is_set()) return same_unordered(of_a->items, of_b->items, depth);
    return of_a->is_bare() && unordered(*of_a) && unordered(*of_b) && same_unordered(of_a->items, of_b->items, depth);
  }

  // p(3, -2) where the other only says (3, -2): a point with its name, not the value of a function.
  bool same_point(std::string_view named, std::string_view other, int depth) {
    if (named.size() < 2 || !is_letter(named[0]) || named[1] != '(' || !other.starts_with('(')) return false;
    if (named[0] >= 'f' && named[0] <= 'h') return false;
    const std::optional<Parts> point = split_parts(named.substr(1));
    return point && is_tuple(*point) && same(named.substr(1), other, depth + 1);
  }

  bool same_vector(const Parts& matrix, const Parts& tuple, int depth) {
    const std::vector<std::string_view> entries = vector_entries(matrix);
    return !entries.empty() && same_ordered(entries, tuple.items, depth);
  }

  // [[[1, 2], [3, 4]]]: brackets drawn around a table that has its own.
  bool same_wrapped(const std::optional<Parts>& outer, std::string_view other, int depth) {
    if (!outer || outer->open != '[' || outer->close != ']' || outer->items.size() != 1) return false;
    return outer->items.front().starts_with("[[") && same(outer->items.front(), other, depth + 1);
  }

  // Numbers, points, what several letters are, and several equations of the same thing.
  bool unordered(const Parts& parts) {
    if (!assignments(parts).empty() || all_of_one_name(parts)) return true;
    return std::all_of(parts.items.begin(), parts.items.end(), [&](std::string_view item) {
      if (!charge(item.size())) return false;
      const std::optional<Parts> point = split_parts(item);
      if (point && !point->is_bare()) {
        return std::all_of(point->items.begin(), point->items.end(),
                           [](std::string_view one) { return is_constant(one); });
      }
      const std::optional<Relation> relation = split_relation(item);
      return is_constant(relation ? stated_value(*relation).value_or(item) : item);
    });
  }

  // y=x, y=-x
  static bool all_of_one_name(const Parts& parts) {
    std::string_view name;
    for (const std::string_view item : parts.items) {
      const std::optional<Relation> relation = split_relation(item);
      if (!relation || relation->sign != "=" || !is_symbols(relation->left)) return false;
      if (!name.empty() && relation->left != name) return false;
      name = relation->left;
    }
    return true;
  }

  bool same_union(std::string_view a, std::string_view b, int depth) {
    const std::vector<std::string_view> of_a = split_union(a);
    const std::vector<std::string_view> of_b = split_union(b);
    return of_a.size() > 1 && same_unordered(of_a, of_b, depth);
  }

  // x<=5 as (-infinity, 5], -1<x<2 as (-1, 2), x<1 or x>3 as (-infinity, 1)\cup(3, infinity); -3>=x with x<=-3.
  bool same_spans(std::string_view a, std::string_view b, int depth) {
    const std::vector<Span> of_a = spans_of(a);
    std::vector<Span> of_b = of_a.empty() ? std::vector<Span>{} : spans_of(b);
    if (of_a.empty() || of_a.size() != of_b.size()) return false;
    for (const Span& span : of_a) {
      const auto partner = std::find_if(of_b.begin(), of_b.end(), [&](const Span& other) {
        const bool named_otherwise =
            !span.variable.empty() && !other.variable.empty() && span.variable != other.variable;
        return !named_otherwise && span.open == other.open && span.close == other.close &&
               same(span.low, other.low, depth + 1) && same(span.high, other.high, depth + 1);
      });
      if (partner == of_b.end()) return false;
      of_b.erase(partner);
    }
    return true;
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
    Maybe first_a;
    Maybe first_b;
    int compared = 0;
    for (std::uint32_t point = 0; point < kRealPoints; ++point) {
      if (!charge(a.left.size() + a.right.size() + b.left.size() + b.right.size())) return false;
      const Maybe of_a = difference(a, point);
      const Maybe of_b = of_a ? difference(b, point) : std::nullopt;
      if (!of_a || !of_b) continue;
      if (!first_a) {
        first_a = of_a;
        first_b = of_b;
        continue;
      }
      const Maybe across = multiply(of_a, first_b);
      const Maybe back = multiply(of_b, first_a);
      if (!across || !back || !same_value(*across, *back)) return false;
      ++compared;
    }
    if (compared < 2) return false;
    if (equations) return true;
    if (first_a->approximate() == 0 || first_b->approximate() == 0) return false;
    const bool same_sign = (first_a->approximate() > 0) == (first_b->approximate() > 0);
    return same_sign == (a.sign == b.sign);
  }

  // Of the sides; nothing when they have no variables, where any two equations would differ by a factor only.
  static Maybe difference(const Relation& relation, std::uint32_t point) {
    const Maybe left = evaluate(relation.left, point);
    const Maybe right = left ? evaluate(relation.right, point) : std::nullopt;
    if (!left || !right || (left->constant && right->constant)) return std::nullopt;
    return add(left, negate(right));
  }

  // 6:8 as 3:4, and as 3/4. What may be a time of day is none.
  static std::vector<Maybe> ratio(std::string_view text) {
    const std::vector<std::string_view> items = split_ratio(text);
    std::vector<Maybe> out;
    if (items.size() < 2) return out;
    for (const std::string_view item : items) {
      const std::optional<Value> value = evaluate(item);
      if (!value || !value->constant || same_value(*value, *value_of(Rational::make(0)))) return {};
      out.push_back(value);
    }
    const auto is_sixtieth = [](std::string_view item) { return item.size() == 2 && item[0] >= '0' && item[0] <= '5'; };
    const bool clock = items.size() == 2 && items[0].size() <= 2 && is_digit(items[0][0]) && is_sixtieth(items[1]);
    return clock ? std::vector<Maybe>{} : out;
  }

  static bool same_ratio(std::string_view a, std::string_view b) {
    std::vector<Maybe> of_a = ratio(a);
    std::vector<Maybe> of_b = ratio(b);
    const auto fraction = [](std::string_view text, std::vector<Maybe>& out) {
      const std::optional<Value> value = evaluate(text);
      if (value && value->constant) out = {value, value_of(Rational::make(1))};
    };
    if (of_a.empty() && of_b.size() == 2) fraction(a, of_a);
    if (of_b.empty() && of_a.size() == 2) fraction(b, of_b);
    if (of_a.empty() || of_a.size() != of_b.size()) return false;
    for (std::size_t i = 1; i < of_a.size(); ++i) {
      const Maybe across = multiply(of_a[i], of_b[0]);
      const Maybe back = multiply(of_b[i], of_a[0]);
      if (!across || !back || !same_value(*across, *back)) return false;
    }
    return true;
  }

  // 10 mod 7 as 3 mod 7.
  static bool same_residue_class(std::string_view a, std::string_view b) {
    constexpr std::string_view kMod = " mod ";
    const auto parts = [&](std::string_view text) -> std::optional<std::pair<Rational, Rational>> {
      const std::size_t at = text.find(kMod);
      if (at == std::string_view::npos) return std::nullopt;
      const std::optional<Value> rest = evaluate(text.substr(0, at));
      const std::optional<Value> modulus = evaluate(text.substr(at + kMod.size()));
      if (!rest || !modulus || !rest->exact || !modulus->exact || !rest->constant || !modulus->constant) {
        return std::nullopt;
      }
      return std::pair{*rest->exact, *modulus->exact};
    };
    const auto of_a = parts(a);
    const auto of_b = of_a ? parts(b) : std::nullopt;
    if (!of_b || of_a->second != of_b->second || of_a->second.numerator() == 0) return false;
    const auto difference = of_a->first - of_b->first;
    const auto turns = difference ? *difference / of_a->second : std::nullopt;
    return turns && turns->is_whole();
  }

  // The same number, or the same function of the same letters as far as a few points can tell.
  bool same_as_function(std::string_view a, std::string_view b) {
    if (is_word(a) && is_word(b) && !is_digit(a.front()) && !is_digit(b.front())) return false;  // "no" is not "on"
    return charge(kPoints * (a.size() + b.size()) / 4) && same_function(a, b);
  }

  std::size_t& budget_;
};

// "(b) 12", "b) 12", "b. 12" -> "12": an option with its letter; empty when it is not one.
std::string_view labelled(std::string_view normal) {
  const std::string_view whole = normal;
  const bool opened = normal.starts_with('(');
  if (opened) normal.remove_prefix(1);
  if (normal.size() < 3 || !is_letter(normal[0])) return {};
  const bool closed = normal[1] == ')' || (!opened && normal.substr(1, 2) == ". ");
  const std::string_view value = closed ? trim(normal.substr(2)) : std::string_view();
  // (x)(x+1), (b)^2 and (n)! are formulas.
  const bool operated = !value.empty() && std::string_view("(!^/*+").find(value.front()) != std::string_view::npos;
  if (opened && (normal[0] > 'e' || (operated && evaluate(whole)))) return {};
  // "(a), (c)" and "(a) and (c)" are two options.
  const bool another = value.starts_with(',') || value.starts_with("and ") || value.starts_with("or ");
  return another ? std::string_view() : value;
}

// What the option says, or its letter, is what the other says.
bool same_option(std::string_view option, std::string_view other, std::size_t& budget) {
  const std::string_view value = labelled(option);
  if (value.empty() || !labelled(other).empty()) return false;
  const std::string_view letter = option.substr(option.starts_with('(') ? 1 : 0, 1);
  return other == letter || Comparison(budget).same(value, other);
}

// 3 mod 5 where the other only says 3: whoever was asked for the remainder has named it. 8 is no remainder.
bool same_residue(std::string_view residue, std::string_view other, std::size_t& budget) {
  constexpr std::string_view kMod = " mod ";
  const std::size_t mod = residue.find(kMod);
  if (mod == std::string_view::npos || other.find(kMod) != std::string_view::npos) return false;
  const std::optional<Value> rest = evaluate(other);
  const std::optional<Value> modulus = evaluate(residue.substr(mod + kMod.size()));
  if (!rest || !rest->exact || !rest->constant || rest->exact->is_negative()) return false;
  if (modulus && modulus->exact && rest->approximate() >= modulus->approximate()) return false;
  return Comparison(budget).same(residue, std::string(other) + std::string(residue.substr(mod)));
}

// 3:30 pm where the other only says 3:30.
bool same_clock(std::string_view with_half, std::string_view other) {
  if (!with_half.ends_with(" am") && !with_half.ends_with(" pm")) return false;
  const std::string_view clock = with_half.substr(0, with_half.size() - 3);
  if (other.size() > 1 && other.starts_with('0') && is_digit(other[1])) other.remove_prefix(1);
  return clock.find(':') != std::string_view::npos && clock == other;
}

// 50% is 50 to some and 0.5 to others.
bool same_percentage(std::string_view percentage, std::string_view other) {
  const std::optional<Value> of_percentage = evaluate(percentage);
  const std::optional<Value> of_other = evaluate(other);
  if (!of_percentage || !of_percentage->exact || !of_percentage->constant || !of_other) return false;
  const Maybe scaled = divide(of_percentage, value_of(Rational::make(100)));
  return scaled && same_value(*scaled, *of_other);
}

enum class Angle { kNone, kDegrees, kRadians };

// A number without a unit may be degrees as well as radians; with pi in it, it is radians.
Angle angle_of(const Reading& reading) {
  if (reading.percent) return Angle::kNone;
  if (reading.unit.empty()) {
    const std::string_view value = value_in(reading.core);
    return value.find("pi") != std::string_view::npos && is_constant(value) ? Angle::kRadians : Angle::kNone;
  }
  const Unit unit = read_unit(reading.unit);
  if (unit.dimensions.size() != 1 || unit.dimensions.front().second != 1) return Angle::kNone;
  const std::string_view measured = unit.dimensions.front().first;
  return measured == "degrees" ? Angle::kDegrees : measured == "radians" ? Angle::kRadians : Angle::kNone;
}

// 60 degrees as pi/3; nothing where they are not an angle in degrees and one in radians.
std::optional<bool> same_angle(const Reading& a, const Reading& b) {
  const Angle of_a = angle_of(a);
  const Angle of_b = angle_of(b);
  if (of_a == Angle::kNone || of_b == Angle::kNone || of_a == of_b) return std::nullopt;
  const Reading& degrees = of_a == Angle::kDegrees ? a : b;
  const Reading& radians = of_a == Angle::kDegrees ? b : a;
  return same_function("(" + std::string(value_in(degrees.core)) + ")*deg", value_in(radians.core));
}

// Nothing where one of them has no unit.
std::optional<bool> same_quantity(const Reading& a, const Reading& b) {
  if ((a.percent && !b.percent && !b.unit.empty()) || (b.percent && !a.percent && !a.unit.empty())) return false;
  if (const std::optional<bool> angle = same_angle(a, b)) return angle;
  if (a.unit.empty() || b.unit.empty()) return std::nullopt;
  const Unit of_a = read_unit(a.unit);
  const Unit of_b = read_unit(b.unit);
  if (of_a.dimensions.empty() || of_b.dimensions.empty()) return std::nullopt;
  if (of_a.dimensions != of_b.dimensions || !of_a.factor || !of_b.factor) return a.unit == b.unit && a.core == b.core;
  const Maybe value_a = multiply(evaluate(value_in(a.core)), value_of(of_a.factor));
  const Maybe value_b = multiply(evaluate(value_in(b.core)), value_of(of_b.factor));
  return value_a && value_b && same_value(*value_a, *value_b);
}

std::string equation(const Reading& reading) { return reading.variable + "=" + reading.core; }

bool same_meaning(const Reading& a, const Reading& b, std::size_t& budget) {
  if (const std::optional<bool> quantity = same_quantity(a, b)) {
    const std::optional<Relation> of_a = split_relation(a.core);
    const std::optional<Relation> of_b = split_relation(b.core);
    const bool named_otherwise = of_a && of_b && !Comparison(budget).same(of_a->left, of_b->left);
    return *quantity && !named_otherwise;
  }
  if (!a.variable.empty() && !b.variable.empty() && a.variable != b.variable) {
    return Comparison(budget).same(equation(a), equation(b));
  }
  if (a.variable.empty() != b.variable.empty()) {
    const Reading& named = a.variable.empty() ? b : a;
    const Reading& other = a.variable.empty() ? a : b;
    // AB=5 is not y=5, but f(x)=2x is y=2x.
    const std::optional<Relation> relation = split_relation(other.core);
    const bool says_another = relation && relation->sign == "=" &&
                              (is_symbols(relation->left) || is_matrix_of(relation->left, relation->right)) &&
                              !(named.variable == "y" && relation->left.find('(') != std::string_view::npos);
    if (says_another) return Comparison(budget).same(equation(named), other.core);
    // x\in(5, infinity) is not y>5.
    const std::optional<Span> span = span_of_inequality(a.variable.empty() ? a.core : b.core);
    if (span && span->variable != named.variable) return false;
  }
  if (a.percent != b.percent && (a.percent ? same_percentage(a.core, b.core) : same_percentage(b.core, a.core))) {
    return true;
  }
  if (a.core == b.core || Comparison(budget).same(a.core, b.core) || same_option(a.core, b.core, budget) ||
      same_option(b.core, a.core, budget) || same_residue(a.core, b.core, budget) ||
      same_residue(b.core, a.core, budget) || same_clock(a.core, b.core) || same_clock(b.core, a.core)) {
    return true;
  }
  // Where one is an equation and the other was y=..., that is an equation, too.
  if (a.variable.empty() == b.variable.empty()) return false;
  const Reading& named = a.variable.empty() ? b : a;
  const Reading& other = a.variable.empty() ? a : b;
  const std::optional<Relation> relation = split_relation(other.core);
  return relation && relation->sign == "=" && Comparison(budget).same(equation(named), other.core);
}

}  // namespace

std::string written(const Reading& reading) {
  std::string out = reading.variable.empty() ? reading.core : equation(reading);
  if (reading.core.empty()) return {};
  if (reading.percent) out += '%';
  if (!reading.percent && !reading.unit.empty() && is_constant(reading.core)) out += "\\text{ " + reading.unit + "}";
  return out;
}

bool equivalent_within(std::string_view a, std::string_view b, std::size_t& budget) {
  Reading of_a = meaning_of(a);
  Reading of_b = meaning_of(b);
  if (of_a.core.size() > kMaxBytes || of_b.core.size() > kMaxBytes) return of_a.core == of_b.core;
  // Beside a tuple the order in which the names were written counts: (w, h)=(2, 5) is (2, 5).
  const auto is_tuple = [](const std::string& core) { return core.starts_with('(') && split_parts(core).has_value(); };
  const bool tuples = is_tuple(of_a.core) || is_tuple(of_b.core);
  if (!tuples) {
    of_a.core = without_tuple_of_names(of_a.core);
    of_b.core = without_tuple_of_names(of_b.core);
  }
  // Beside a tuple or a column 3i-2j is a vector; elsewhere i and j may be any letters.
  const auto is_vector = [&](const std::string& core) { return is_tuple(core) || core.starts_with("[["); };
  if (is_vector(of_a.core) != is_vector(of_b.core)) {
    std::string& other = is_vector(of_a.core) ? of_b.core : of_a.core;
    if (std::optional<std::string> tuple = tuple_of_unit_vectors(other)) other = *std::move(tuple);
  }
  // In one order whichever was named first: what a budget cuts off must not depend on it.
  const auto key = [](const Reading& one) { return std::tie(one.core, one.variable, one.unit, one.percent); };
  if (key(of_a) == key(of_b)) return true;
  if (key(of_b) < key(of_a)) std::swap(of_a, of_b);
  return same_meaning(of_a, of_b, budget);
}

bool equivalent(std::string_view a, std::string_view b) {
  std::size_t budget = kComparisonBudget;
  return equivalent_within(a, b, budget);
}

}  // namespace dts
