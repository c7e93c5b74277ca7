#include "answer/structure.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "text/ascii.h"

namespace dts {
namespace {

using namespace text;

bool opens(char c) { return c == '(' || c == '[' || c == '{'; }
bool closes(char c) { return c == ')' || c == ']' || c == '}'; }

// The index of the bracket that closes the one at the front, whatever its kind: intervals mix them.
std::size_t matching_bracket(std::string_view text) {
  std::size_t depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (opens(text[i])) ++depth;
    if (closes(text[i]) && --depth == 0) return i;
  }
  return std::string_view::npos;
}

// Bytes of the separator at `at`; 0 when there is none. A sqrt[3] is no bracket of a list, but nests as one.
template <std::size_t n>
std::size_t separator_at(std::string_view text, std::size_t at, const std::array<std::string_view, n>& separators) {
  for (const std::string_view separator : separators) {
    if (text.substr(at, separator.size()) == separator) return separator.size();
  }
  return 0;
}

// Splits at the separators outside all brackets. Nothing when the brackets do not match.
template <std::size_t n>
std::optional<std::vector<std::string_view>> split(std::string_view text,
                                                   const std::array<std::string_view, n>& separators) {
  std::vector<std::string_view> items;
  std::size_t depth = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (closes(text[at]) && depth == 0) return std::nullopt;
    if (opens(text[at])) ++depth;
    if (closes(text[at])) --depth;
    const std::size_t length = depth == 0 ? separator_at(text, at, separators) : 0;
    if (length > 0) {
      items.push_back(trim(text.substr(begin, at - begin)));
      at += length;
      begin = at;
    } else {
      ++at;
    }
  }
  if (depth != 0) return std::nullopt;
  items.push_back(trim(text.substr(begin)));
  return items;
}

constexpr std::array<std::string_view, 1> kComma = {","};
constexpr std::array<std::string_view, 1> kSemicolon = {";"};  // where commas belong to decimals
// The longest first: "3, 5, and 7" has no empty item.
constexpr std::array<std::string_view, 6> kBare = {", or ", ", and ", ",", " or ", " and ", ";"};
constexpr std::array<std::string_view, 1> kColon = {":"};
constexpr std::array<std::string_view, 1> kUnion = {"\\cup"};
constexpr std::array<std::string_view, 6> kRelations = {"<=", ">=", "!=", "=", "<", ">"};

// Sides and the signs between them, outside all brackets.
struct Relations {
  std::vector<std::string_view> sides;  // [signs + 1]
  std::vector<std::string_view> signs;
};

Relations split_relations(std::string_view text) {
  Relations found;
  std::size_t depth = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (opens(text[at])) ++depth;
    if (closes(text[at]) && depth > 0) --depth;
    const std::size_t length = depth == 0 ? separator_at(text, at, kRelations) : 0;
    if (length == 0) {
      ++at;
      continue;
    }
    found.sides.push_back(trim(text.substr(begin, at - begin)));
    found.signs.push_back(text.substr(at, length));
    at += length;
    begin = at;
  }
  found.sides.push_back(trim(text.substr(begin)));
  return found;
}

}  // namespace

std::optional<Parts> split_parts(std::string_view text) {
  text = trim(text);
  if (text.empty()) return std::nullopt;
  Parts parts;
  if (opens(text.front()) && matching_bracket(text) == text.size() - 1) {
    parts.open = text.front();
    parts.close = text.back();
    const std::string_view inside = text.substr(1, text.size() - 2);
    const bool by_semicolons = inside.find(',') == std::string_view::npos && inside.find(';') != std::string_view::npos;
    auto items = split(inside, by_semicolons ? kSemicolon : kComma);
    if (!items) return std::nullopt;
    parts.items = *std::move(items);
    if (parts.is_set() && parts.items.size() == 1 && parts.items.front().empty()) parts.items.clear();
    const bool parenthesised = parts.open == '(' && parts.close == ')' && parts.items.size() == 1;
    if (parenthesised) return std::nullopt;
    return parts;
  }
  auto items = split(text, kBare);
  if (!items || items->size() < 2) return std::nullopt;
  parts.items = *std::move(items);
  return parts;
}

std::string with_usual_brackets(std::string text) {
  constexpr std::string_view kSquare = "[]";
  constexpr std::string_view kJoint = "\\cup";
  if (text.find_first_of(kSquare) == std::string::npos || text.ends_with(kJoint)) return text;
  std::string out = text;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t joint = std::min(text.find(kJoint, begin), text.size());
    std::size_t first = begin;
    while (first < joint && is_space(text[first])) ++first;
    std::size_t last = joint;
    while (last > first && is_space(text[last - 1])) --last;
    if (last - first < 5) return text;
    const char open = text[first];
    const char close = text[--last];
    const std::string_view inside = std::string_view(text).substr(first + 1, last - first - 1);
    const bool interval = (opens(open) || open == ']') && (closes(close) || close == '[') &&
                          inside.find_first_of(kSquare) == std::string_view::npos &&
                          inside.find_first_of(",;") != std::string_view::npos;
    if (!interval) return text;
    if (open == ']') out[first] = '(';
    if (close == '[') out[last] = ')';
    begin = joint + kJoint.size();
  }
  return out;
}

std::optional<Relation> split_relation(std::string_view text) {
  const auto [sides, signs] = split_relations(text);
  if (signs.size() != 1) return std::nullopt;
  return Relation{sides[0], signs[0], sides[1]};
}

std::optional<Span> span_of_inequality(std::string_view text) {
  const auto [sides, signs] = split_relations(text);
  const auto is_variable = [](std::string_view side) {
    if (side.size() == 1) return is_letter(side[0]) && side != "e";
    return side.size() > 2 && side[0] == '\\' && std::all_of(side.begin() + 1, side.end(), is_letter);  // \theta
  };
  const auto named = [](std::string_view side) {
    return side.size() == 1 ? std::string(1, to_lower(side.front())) : std::string(side);
  };
  const auto at_most = [](std::string_view sign) { return sign == "<" || sign == "<="; };
  const auto at_least = [](std::string_view sign) { return sign == ">" || sign == ">="; };
  constexpr std::string_view kInfinity = "infinity";
  constexpr std::string_view kMinusInfinity = "-infinity";
  if (signs.size() == 1 && (at_most(signs[0]) || at_least(signs[0])) &&
      is_variable(sides[0]) != is_variable(sides[1])) {
    const bool first = is_variable(sides[0]);
    const std::string end(sides[first ? 1 : 0]);
    const std::string variable = named(sides[first ? 0 : 1]);
    const bool closed = signs[0].size() == 2;
    // x<5 and 5>x have their end above.
    if (at_most(signs[0]) == first) return Span{'(', std::string(kMinusInfinity), end, closed ? ']' : ')', variable};
    return Span{closed ? '[' : '(', end, std::string(kInfinity), ')', variable};
  }
  if (signs.size() != 2 || !is_variable(sides[1])) return std::nullopt;
  const std::string first(sides[0]);
  const std::string last(sides[2]);
  const std::string variable = named(sides[1]);
  if (at_most(signs[0]) && at_most(signs[1])) {
    return Span{signs[0].size() == 2 ? '[' : '(', first, last, signs[1].size() == 2 ? ']' : ')', variable};
  }
  if (at_least(signs[0]) && at_least(signs[1])) {
    return Span{signs[1].size() == 2 ? '[' : '(', last, first, signs[0].size() == 2 ? ']' : ')', variable};
  }
  return std::nullopt;
}

std::vector<std::string_view> split_ratio(std::string_view text) {
  auto items = split(text, kColon);
  return items ? *std::move(items) : std::vector<std::string_view>{text};
}

std::vector<std::string_view> split_union(std::string_view text) {
  auto items = split(text, kUnion);
  return items ? *std::move(items) : std::vector<std::string_view>{text};
}

}  // namespace dts
