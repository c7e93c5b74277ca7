#include "answer/meaning.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "answer/notation/compound_quantity.h"
#include "answer/notation/phrases.h"
#include "answer/notation/units.h"
#include "answer/statement.h"
#include "answer/structure.h"
#include "answer/value/expression.h"
#include "answer/value/number_base.h"
#include "answer/value/value_arithmetic.h"
#include "text/ascii.h"

namespace dts {

using namespace text;

namespace {

constexpr std::size_t kMaxBytes = 4096;  // longer answers are equal as texts or not at all

// "5 apples", with no LaTeX to tell that the word is a unit.
void split_label(Reading& reading) {
  const std::string& core = reading.core;
  const std::size_t gap = core.find(' ');
  if (gap == std::string::npos || !reading.unit.empty() || !is_digit(core[gap - (gap > 0 ? 1 : 0)])) return;
  const std::string_view label = trim(std::string_view(core).substr(gap));
  // "m/s^2" is no formula where all of it are units; in "1/2 n^2+1/2 n" no n is a newton.
  const bool compound = label.find('/') != std::string_view::npos && is_letter(label.front()) &&
                        label.find_first_of("+=(,") == std::string_view::npos && are_unit_symbols(label);
  if (compound && is_constant(core.substr(0, gap))) {
    reading.unit = label;
    reading.core.resize(gap);
    return;
  }
  if (label.size() < 3 || !std::all_of(label.begin(), label.end(), [](char c) { return is_letter(c) || c == ' '; })) {
    return;
  }
  if (changes_meaning(label) || evaluate(core) || !is_constant(core.substr(0, gap))) return;
  reading.unit = label;
  reading.core.resize(gap);
}

// "12(as desired)", "12(since 4*3=12)": a remark behind a number, unless it says what the number is.
void drop_remark(std::string& core) {
  const std::size_t open = core.find('(');
  if (open == 0 || open == std::string::npos || !core.ends_with(')') || open + 3 >= core.size()) return;
  const std::string_view remark = std::string_view(core).substr(open + 1);
  if (!is_letter(remark[0]) || !is_letter(remark[1])) return;
  for (const std::string_view word : {"mod", "base", "or", "and", "not", "if", "in", "times"}) {
    if (remark.starts_with(word) && !is_letter(remark[word.size()])) return;
  }
  if (changes_meaning(remark.substr(0, remark.size() - 1))) return;
  if (!evaluate(core) && is_constant(core.substr(0, open))) core.resize(open);
}

// The value of what is written as a number, in base ten or another.
Maybe number_of(std::string_view text) {
  if (const std::optional<Rational> based = value_in_base(text)) return value_of(based);
  Maybe value = evaluate(text);
  return value && value->constant ? value : std::nullopt;
}

bool same_number(std::string_view a, std::string_view b) {
  const Maybe of_a = number_of(a);
  const Maybe of_b = number_of(b);
  return of_a && of_b && same_value(*of_a, *of_b);
}

// x=3+4=7 says x=7, where what stands between is 7 as well, and 3+4=7 says 7.
std::string without_steps(std::string_view core) {
  const std::size_t first = core.find('=');
  const std::size_t last = core.rfind('=');
  if (first == std::string_view::npos || core.find_first_of("<>") != std::string_view::npos ||
      core.find("!=") != std::string_view::npos) {
    return std::string(core);
  }
  const std::string_view named = trim(core.substr(0, first));
  const std::string_view value = trim(core.substr(last + 1));
  // x^2-1=(x-1)(x+1) holds for every x: it says how else the left side is written.
  if (first == last && !is_named(named) && same_function(named, value)) return std::string(value);
  // Of one step both sides are numbers, else it is an equation: 4*3=12 says 12.
  const std::string_view plain = drop_units(value);  // of "4*3=12 cm"
  if (first == last && (!number_of(named) || !number_of(plain))) return std::string(core);
  if (named.find_first_of("([{,") != std::string_view::npos && !is_named(named) && !number_of(named)) {
    return std::string(core);
  }
  if (core.find(',') != std::string_view::npos) return std::string(core);
  constexpr int kMaxSteps = 8;
  int steps = 0;
  for (std::size_t at = is_named(named) ? first + 1 : 0; at < last; ++steps) {
    const std::size_t end = core.find('=', at);
    const std::string_view step = trim(core.substr(at, end - at));
    if (steps >= kMaxSteps || !(same_number(step, plain) || same_function(step, value))) return std::string(core);
    at = end + 1;
  }
  return is_named(named) ? std::string(named) + "=" + std::string(value) : std::string(value);
}

// {1}\cup{2} as {1, 2}.
std::string with_sets_joined(std::string core) {
  const std::vector<std::string_view> items = split_union(core);
  if (items.size() < 2) return core;
  std::string joined = "{";
  for (const std::string_view item : items) {
    const std::optional<Parts> parts = split_parts(item);
    if (!parts || !parts->is_set() || parts->items.empty()) return core;
    if (joined.size() > 1) joined += ", ";
    joined += item.substr(1, item.size() - 2);
  }
  return joined + "}";
}

// "(x, y)\in{(1, 2), (2, 1)}" as the set.
std::string without_membership(std::string core) {
  constexpr std::string_view kIn = "\\in{";
  const std::size_t at = core.find(kIn);
  if (at == std::string::npos || !core.starts_with('(') || !is_symbols(std::string_view(core).substr(0, at)))
    return core;
  return core.substr(at + kIn.size() - 1);
}

// "|ab|=5": a length is the name of the two points, with bars or without.
std::string without_bars(std::string core) {
  if (core.size() > 5 && core[0] == '|' && is_letter(core[1]) && is_letter(core[2]) && core.compare(3, 2, "|=") == 0) {
    core.erase(3, 1).erase(0, 1);
  }
  return core;
}

// "pi/4+npi, n\in \Z", "x^2 for all real x", and "\R, x!=3", which was x\in\R: which numbers the letter stands for is
// understood.
std::string without_domain(std::string core) {
  if (core.starts_with("\\R")) {
    const std::string_view rest = trim(std::string_view(core).substr(2));
    const bool relation =
        rest.find_first_of("<>") != std::string_view::npos || rest.find("!=") != std::string_view::npos;
    if (relation && (rest[0] == ',' || rest[0] == ':' || rest[0] == '|')) return std::string(trim(rest.substr(1)));
  }
  for (const std::string_view all : {" for all ", " for any ", " for every ", " where "}) {
    const std::size_t at = core.find(all);
    if (at == std::string::npos || at == 0) continue;
    std::string whom(std::string_view(core).substr(at + all.size()));
    std::erase(whom, ' ');
    constexpr std::array<std::string_view, 9> kEverybody = {
        "x", "realx", "realnumbersx", "x\\in\\R", "integersn", "integern", "integersk", "nisaninteger", "kisaninteger"};
    if (std::find(kEverybody.begin(), kEverybody.end(), whom) == kEverybody.end()) continue;
    core.resize(at);
    if (core.ends_with(',')) core.pop_back();
    return core;
  }
  for (const std::string_view ending : {"\\in \\Z", "\\in\\Z", "\\in \\N", "\\in\\N"}) {
    if (!core.ends_with(ending)) continue;
    const std::string_view rest = std::string_view(core).substr(0, core.size() - ending.size());
    const std::size_t letter = rest.find_last_not_of(' ');
    if (letter == std::string_view::npos || letter < 2 || !is_letter(rest[letter])) return core;
    std::string_view before = trim(rest.substr(0, letter));
    const std::size_t joined = before.size();
    for (const std::string_view word : {",", " for", " where"}) {
      if (before.ends_with(word)) before = trim(before.substr(0, before.size() - word.size()));
    }
    if (before.size() != joined && !before.empty()) core.resize(before.size());
    return core;
  }
  return core;
}

// [1, 2]^t and [[1, 2]]^t as [[1], [2]]: a column that was laid down to be written.
std::string without_transposing(std::string core) {
  constexpr std::string_view kTransposed = "]^t";
  if (!core.ends_with(kTransposed)) return core;
  const std::optional<Parts> outer = split_parts(std::string_view(core).substr(0, core.size() - 2));
  if (!outer || outer->open != '[') return core;
  const bool table = outer->items.front().starts_with('[');
  const std::optional<Parts> row = table && outer->items.size() == 1 ? split_parts(outer->items.front()) : outer;
  if (!row || (table && outer->items.size() > 1)) return core;
  std::string out = "[";
  for (const std::string_view item : row->items) out += (out.size() > 1 ? ", [" : "[") + std::string(item) + "]";
  return out + "]";
}

// 1/5[[1], [2]] as [[1/5*(1)], [1/5*(2)]].
std::string with_factor_inside(std::string core) {
  const std::size_t table = core.find("[[");
  if (table == 0 || table == std::string::npos || !core.ends_with("]]")) return core;
  std::string factor(trim(std::string_view(core).substr(0, table)));
  if (factor.ends_with('*')) factor.pop_back();
  if (factor == "-") factor = "-1";
  const std::optional<Parts> rows = split_parts(std::string_view(core).substr(table));
  if (!rows || !evaluate(factor)) return core;
  std::string out = "[";
  for (const std::string_view row : rows->items) {
    const std::optional<Parts> entries = split_parts(row);
    if (!entries || entries->open != '[') return core;
    out += out.size() > 1 ? ", [" : "[";
    for (std::size_t i = 0; i < entries->items.size(); ++i) {
      out += (i > 0 ? ", (" : "(") + factor + ")*(" + std::string(entries->items[i]) + ")";
    }
    out += "]";
  }
  return out + "]";
}

// ([[1, 2], [3, 4]]): brackets drawn around a table that has its own.
std::string without_drawn_brackets(std::string core) {
  while (core.starts_with("([[") && core.ends_with("]])")) core = core.substr(1, core.size() - 2);
  // A table of one number is the number.
  if (core.size() > 4 && core.starts_with("[[") && core.ends_with("]]")) {
    std::string entry = core.substr(2, core.size() - 4);
    if (entry.find_first_of(",[]") == std::string::npos) return entry;
  }
  return core;
}

}  // namespace

std::string without_tuple_of_names(std::string_view core) {
  const std::optional<Relation> relation = split_relation(core);
  if (!relation || relation->sign != "=") return std::string(core);
  const std::optional<Parts> names = split_parts(relation->left);
  const std::optional<Parts> values = split_parts(relation->right);
  const auto is_tuple = [](const std::optional<Parts>& parts) {
    return parts && parts->open == '(' && parts->close == ')' && parts->items.size() > 1;
  };
  if (!is_tuple(names) || !is_tuple(values) || names->items.size() != values->items.size()) return std::string(core);
  std::string out;
  for (std::size_t i = 0; i < names->items.size(); ++i) {
    if (!is_symbols(names->items[i])) return std::string(core);
    if (i > 0) out += ", ";
    out += std::string(names->items[i]) + "=" + std::string(values->items[i]);
  }
  return out;
}

std::string_view value_in(std::string_view core) {
  const std::optional<Relation> relation = split_relation(core);
  return relation ? stated_value(*relation).value_or(core) : core;
}

Reading meaning_of(std::string_view answer) {
  Reading reading = read_answer(answer);
  if (reading.core.size() > kMaxBytes) return reading;
  reading.core = with_usual_brackets(plain_phrase(reading.core));
  reading.core =
      without_drawn_brackets(without_domain(with_sets_joined(without_membership(without_bars(reading.core)))));
  reading.core = with_factor_inside(without_transposing(reading.core));
  if (std::string last = without_steps(reading.core); last != reading.core) {
    Reading again = read_answer(last);
    reading.core = std::move(again.core);
    if (reading.variable.empty()) reading.variable = std::move(again.variable);
  }
  if (std::optional<Quantity> whole = reading.unit.empty() ? compound_quantity(reading.core) : std::nullopt) {
    reading.core = std::move(whole->number);
    reading.unit = std::move(whole->unit);
  }
  split_label(reading);
  drop_remark(reading.core);
  if (!reading.unit.empty() && !is_constant(value_in(reading.core))) reading.unit.clear();
  return reading;
}

}  // namespace dts
