// Answers with parts: lists, tuples, intervals, sets, relations.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts {

struct Parts {
  char open = '\0';  // the brackets around the whole; none for a bare list
  char close = '\0';
  std::vector<std::string_view> items;  // trimmed, in order; views into the text

  bool is_bare() const { return open == '\0'; }
  bool is_set() const { return open == '{' && close == '}'; }
};

// "(1, 2)", "[0, 1)", "{5}", and without brackets "1, 2", "1 or 2", "1, 2, and 3". Nothing when the brackets do not
// match, or it is one item alone that is not a set or in square brackets: "(5)", "5".
std::optional<Parts> split_parts(std::string_view text);

// ]0, 1[ and [0, 1[, also in unions, as (0, 1) and [0, 1); anything else as it is.
std::string with_usual_brackets(std::string text);

struct Relation {
  std::string_view left;
  std::string_view sign;  // = != < > <= >=
  std::string_view right;
};

// "x<=5": the only relation outside all brackets; nothing when there is none, or more than one.
std::optional<Relation> split_relation(std::string_view text);

// "-1<x<=2", "x>5", "5<x" as the interval of x: "(-1, 2]", "(5, infinity)", ends as written; nothing when it is no such
// chain around one letter.
struct Span {
  char open = '(';
  std::string low;
  std::string high;
  char close = ')';
  std::string variable = {};  // a letter, or a Greek one by its name; none for an interval in brackets
};
std::optional<Span> span_of_inequality(std::string_view text);

// "3:4:5": what stands between the colons outside all brackets; one when there is none.
std::vector<std::string_view> split_ratio(std::string_view text);

// "a\cup b": the items between the unions outside all brackets; one when there is no union.
std::vector<std::string_view> split_union(std::string_view text);

}  // namespace dts
