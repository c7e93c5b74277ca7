#include "answer/spans.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "answer/statement.h"
#include "answer/value/expression.h"
#include "text/ascii.h"

namespace dts {

using namespace text;

namespace {

// 1+-sqrt(2) stands for two values: the signs are read all up, then all down. Two that are not tied to each other, as
// +- and -+ are, may stand for four. None where there is no such sign.
std::vector<std::string> alternatives(std::string_view text) {
  const std::size_t first = text.find("+-");
  const bool twice = first != std::string_view::npos && text.find("+-", first + 2) != std::string_view::npos;
  if (twice && text.find("-+") == std::string_view::npos) return {};
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
  if (!any) return {};
  for (std::string& one : both) {
    if (one.starts_with('+')) one.erase(0, 1);
  }
  return both;
}

// What follows "all reals but", however that is written.
std::optional<std::string_view> excluded(std::string_view text) {
  for (const std::string_view begin :
       {"all real numbers except ", "all reals except ", "\\R except ", "all real numbers x except ", "\\R \\setminus",
        "\\R\\setminus", "\\R-", "\\R -", "all real numbers but ", "all real numbers not equal to "}) {
    if (text.starts_with(begin)) return trim(text.substr(begin.size()));
  }
  return std::nullopt;
}

// The a and b of "all reals but a and b", however it is said; none when it says anything else.
std::vector<std::string> excluded_points(std::string_view text) {
  constexpr std::string_view kUnequal = "!=";
  if (const std::size_t sign = text.find(kUnequal); sign != std::string_view::npos) {
    const std::string_view variable = trim(text.substr(0, sign));
    const std::string_view unequal = text.substr(0, sign + kUnequal.size());
    if (variable.size() != 1 || !is_letter(variable.front())) return {};
    std::vector<std::string> points;
    for (std::string& item : signed_items(text.substr(unequal.size()))) {  // x!=1 and x!=2; x!=1, 2
      if (item.starts_with(unequal)) item.erase(0, unequal.size());
      if (item.find_first_of("<>=") != std::string::npos) return {};
      points.push_back(std::move(item));
    }
    return points;
  }
  const std::optional<std::string_view> rest = excluded(text);
  if (!rest) return {};
  std::vector<std::string> points;
  for (const std::string& item : signed_items(*rest)) {
    const std::optional<Relation> relation = split_relation(item);
    points.emplace_back(relation ? stated_value(*relation).value_or(item) : item);
  }
  return points;
}

// (-infinity, a)\cup(a, b)\cup(b, infinity); none when the points have no order.
std::vector<Span> spans_without(std::vector<std::string> points) {
  const auto place = [](const std::string& point) {
    const std::optional<Value> value = evaluate(point);
    const bool known = value && value->constant && (value->exact || value->number) && !value->is_infinite();
    return known ? std::optional(value->approximate()) : std::nullopt;
  };
  for (const std::string& point : points) {
    if (!place(point)) return {};
  }
  std::sort(points.begin(), points.end(),
            [&](const std::string& a, const std::string& b) { return place(a) < place(b); });
  std::vector<Span> out;
  std::string low = "-infinity";
  for (const std::string& point : points) {
    out.push_back({'(', low, point, ')'});
    low = point;
  }
  out.push_back({'(', low, "infinity", ')'});
  return out;
}

// \R without [2, 3] as (-infinity, 2) and (3, infinity); none when what is left out is not one interval with two ends.
std::vector<Span> spans_around(std::string_view left_out) {
  const std::optional<Parts> parts = split_parts(left_out);
  const bool interval = parts && !parts->is_bare() && !parts->is_set() && parts->items.size() == 2;
  if (!interval || split_union(left_out).size() > 1) return {};
  const std::optional<Value> low = evaluate(parts->items[0]);
  const std::optional<Value> high = evaluate(parts->items[1]);
  if (!low || !high || !low->constant || !high->constant || !(low->approximate() < high->approximate())) return {};
  if (low->is_infinite() || high->is_infinite()) return {};
  return {{'(', "-infinity", std::string(parts->items[0]), parts->open == '[' ? ')' : ']'},
          {parts->close == ']' ? '(' : '[', std::string(parts->items[1]), "infinity", ')'}};
}

// x>1 and x<3 are 1<x<3.
std::optional<Span> intersection(std::string_view text) {
  const std::size_t at = text.find(" and ");
  if (at == std::string_view::npos || text.find(" and ", at + 1) != std::string_view::npos) return std::nullopt;
  std::optional<Span> a = span_of_inequality(text.substr(0, at));
  std::optional<Span> b = span_of_inequality(text.substr(at + 5));
  if (!a || !b || a->variable != b->variable) return std::nullopt;
  if (a->low == "-infinity") std::swap(a, b);
  if (a->low == "-infinity" || a->high != "infinity" || b->low != "-infinity" || b->high == "infinity") {
    return std::nullopt;
  }
  return Span{a->open, a->low, b->high, b->close, a->variable};
}

// x>0, x!=1 as (0, 1) and (1, infinity); none when it is anything else.
std::vector<Span> span_without_points(std::string_view text) {
  const std::size_t unequal = text.find("!=");
  if (unequal == std::string_view::npos || text.find(" or ") != std::string_view::npos) return {};
  std::size_t joint = std::string_view::npos;
  std::string_view rest;
  for (const std::string_view one : {", and ", " and ", ","}) {
    const std::size_t at = text.substr(0, unequal).rfind(one);
    if (at == std::string_view::npos || (joint != std::string_view::npos && at + one.size() <= joint)) continue;
    joint = at;
    rest = trim(text.substr(at + one.size()));
  }
  if (joint == std::string_view::npos) return {};
  const std::string_view bounds = trim(text.substr(0, joint));
  std::optional<Span> span = span_of_inequality(bounds);
  if (!span) span = intersection(bounds);
  if (!span || std::string(1, to_lower(rest.front())) != span->variable) return {};
  const std::vector<Span> between = spans_without(excluded_points(rest));
  if (between.size() < 2) return {};
  const auto is_less = [](std::string_view a, std::string_view b) {
    const std::optional<Value> of_a = evaluate(a);
    const std::optional<Value> of_b = evaluate(b);
    return of_a && of_b && of_a->constant && of_b->constant && of_a->approximate() < of_b->approximate();
  };
  std::vector<Span> out;
  for (std::size_t i = 0; i < between.size(); ++i) {
    Span part = between[i];
    part.variable = span->variable;
    // Each point lies inside, so only the outermost parts are cut off.
    if (i > 0 && !(is_less(span->low, part.low) && is_less(part.low, span->high))) return {};
    if (i == 0) part.low = span->low;
    if (i == 0) part.open = span->open;
    if (i + 1 == between.size()) part.high = span->high;
    if (i + 1 == between.size()) part.close = span->close;
    out.push_back(std::move(part));
  }
  return out;
}

// {2} and x=2 as [2, 2], beside intervals; none when it is anything else.
std::vector<Span> spans_of_points(std::string_view text) {
  const std::optional<Relation> relation = split_relation(text);
  if (relation && relation->sign == "=" && relation->left.size() == 1 && is_letter(relation->left.front())) {
    const std::string value(relation->right);
    return {Span{'[', value, value, ']', std::string(1, to_lower(relation->left.front()))}};
  }
  const std::optional<Parts> parts = split_parts(text);
  std::vector<Span> out;
  if (!parts || !parts->is_set()) return out;
  for (const std::string_view item : parts->items) {
    out.push_back(Span{'[', std::string(item), std::string(item), ']'});
  }
  return out;
}

// |x|<3 as (-3, 3), |x|>=3 as (-infinity, -3] and [3, infinity); none when it is anything else.
std::vector<Span> spans_around_zero(std::string_view text) {
  const std::optional<Relation> relation = split_relation(text);
  if (!relation || relation->left.size() != 3 || relation->left.front() != '|' || relation->left.back() != '|')
    return {};
  const std::string variable(relation->left.substr(1, 1));
  if (!is_letter(variable.front()) || relation->sign.find_first_of("<>") == std::string_view::npos) return {};
  const std::optional<Value> value = evaluate(relation->right);
  if (!value || !value->constant || !(value->approximate() > 0)) return {};
  const std::string high(relation->right);
  const std::string low = "-(" + high + ")";
  const bool closed = relation->sign.size() == 2;
  if (relation->sign.front() == '<') return {{closed ? '[' : '(', low, high, closed ? ']' : ')', variable}};
  return {{'(', "-infinity", low, closed ? ']' : ')', variable}, {closed ? '[' : '(', high, "infinity", ')', variable}};
}

}  // namespace

std::vector<std::string> signed_items(std::string_view text) {
  const std::optional<Parts> parts = split_parts(text);
  const bool list = parts && (parts->is_bare() || parts->is_set());
  std::vector<std::string> out;
  for (const std::string_view item : list ? parts->items : std::vector<std::string_view>{text}) {
    std::vector<std::string> both = alternatives(item);
    if (both.empty()) both.emplace_back(item);
    for (std::string& one : both) out.push_back(std::move(one));
  }
  return out;
}

std::vector<Span> spans_of(std::string_view text) {
  if (text == "\\R") return {Span{'(', "-infinity", "infinity", ')'}};
  if (const std::optional<std::string_view> left_out = excluded(text)) {
    if (std::vector<Span> around = spans_around(*left_out); !around.empty()) return around;
  }
  if (std::vector<std::string> points = excluded_points(text); !points.empty()) {
    return spans_without(std::move(points));
  }
  if (std::optional<Span> both = intersection(text)) return {*both};
  if (std::vector<Span> left = span_without_points(text); !left.empty()) return left;
  std::vector<std::string_view> items = split_union(text);
  if (items.size() == 1) {
    const std::optional<Parts> parts = split_parts(text);
    const bool inequalities = parts && parts->is_bare() && text.find_first_of("<>") != std::string_view::npos;
    if (inequalities && text.find(" and ") != std::string_view::npos) return {};
    const bool alternatives = parts && parts->is_bare() && text.find(" or ") != std::string_view::npos;
    if (inequalities || alternatives) items = parts->items;
  }
  std::vector<Span> out;
  bool any_wide = false;  // points alone are a set
  for (const std::string_view item : items) {
    if (const std::vector<Span> points = spans_of_points(item); items.size() > 1 && !points.empty()) {
      out.insert(out.end(), points.begin(), points.end());
      continue;
    }
    any_wide = true;
    if (const std::vector<Span> around = spans_around_zero(item); !around.empty()) {
      out.insert(out.end(), around.begin(), around.end());
      continue;
    }
    const std::optional<Parts> parts = split_parts(item);
    const bool interval = parts && !parts->is_bare() && !parts->is_set() && parts->items.size() == 2;
    const std::optional<Span> span =
        interval ? Span{parts->open, std::string(parts->items[0]), std::string(parts->items[1]), parts->close}
                 : span_of_inequality(item);
    if (!span) return {};
    out.push_back(*span);
  }
  // "y<-2 or x>3" is said of two letters.
  std::string_view variable;
  for (const Span& span : out) {
    if (!variable.empty() && !span.variable.empty() && span.variable != variable) return {};
    if (!span.variable.empty()) variable = span.variable;
  }
  return any_wide ? out : std::vector<Span>{};
}

}  // namespace dts
