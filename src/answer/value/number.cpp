#include "answer/value/number.h"

#include <cstddef>

#include "text/ascii.h"

namespace dts {
namespace {

using namespace text;

constexpr std::size_t kGroup = 3;  // digits between thousands separators

std::size_t digits_at(std::string_view text, std::size_t at) {
  std::size_t n = 0;
  while (at + n < text.size() && is_digit(text[at + n])) ++n;
  return n;
}

// One past the integer part that starts at `at`.
std::size_t integer_end(std::string_view text, std::size_t at, bool separators) {
  const std::size_t lead = digits_at(text, at);
  const std::size_t plain = at + lead;
  if (!separators || lead == 0 || lead > kGroup) return plain;
  std::size_t end = plain;
  while (end < text.size() && text[end] == ',') {
    const std::size_t group = digits_at(text, end + 1);
    if (group == 0) break;
    if (group != kGroup) return plain;  // "1,200,30" is a list
    end += 1 + kGroup;
  }
  return end;
}

struct Number {
  std::size_t end = 0;      // one past it
  std::size_t integer = 0;  // one past its integer part
};

// The number that starts at `at`, a digit or a point before one.
Number number_at(std::string_view text, std::size_t at, bool separators) {
  Number number;
  number.integer = integer_end(text, at, separators);
  number.end = number.integer;
  if (number.end < text.size() && text[number.end] == '.') {
    const std::size_t decimals = digits_at(text, number.end + 1);
    if (decimals > 0) number.end += 1 + decimals;
  }
  return number;
}

void append_number(std::string_view text, std::size_t at, const Number& number, std::string& out) {
  const std::size_t begin = out.size();
  for (std::size_t i = at; i < number.integer; ++i) {
    if (text[i] == ',' || (text[i] == '0' && out.size() == begin)) continue;
    out += text[i];
  }
  if (out.size() == begin) out += '0';
  std::string_view decimals = text.substr(number.integer, number.end - number.integer);  // with its point
  while (!decimals.empty() && decimals.back() == '0') decimals.remove_suffix(1);
  if (decimals.size() > 1) out += decimals;
}

}  // namespace

bool is_number(std::string_view text) {
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  return !text.empty() && number_at(text, 0, true).end == text.size();
}

std::string rewrite_numbers(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  std::size_t depth = 0;  // of brackets
  std::size_t at = 0;
  while (at < text.size()) {
    const char c = text[at];
    const char before = at > 0 ? text[at - 1] : ' ';
    if (is_digit(c) || (c == '.' && digits_at(text, at + 1) > 0)) {
      const Number number = number_at(text, at, depth == 0);
      const char after = number.end < text.size() ? text[number.end] : ' ';
      // 0.10(6), 0.(09) and 0.100... go on: their zeros count.
      const std::size_t group = number.end + (number.end > number.integer || after != '.' ? 0 : 1);
      const std::size_t repeated =
          group > number.integer && text.substr(group, 1) == "(" ? digits_at(text, group + 1) : 0;
      if (repeated > 0 && text.substr(group + 1 + repeated, 1) == ")") {
        out += text.substr(at, group + 2 + repeated - at);
        at = group + 2 + repeated;
        continue;
      }
      const bool goes_on = number.end > number.integer && text.substr(number.end, 3) == "...";
      const bool part_of_more = goes_on || is_letter(before) || is_digit(before) || before == '.' || before == ':' ||
                                after == ':' || (after == '.' && digits_at(text, number.end + 1) > 0);
      if (part_of_more) {
        // Up to the comma: what follows it may be a number of its own.
        do out += text[at++];
        while (at < number.end && text[at] != ',');
      } else {
        append_number(text, at, number, out);
        at = number.end;
      }
      continue;
    }
    if (c == '(' || c == '[' || c == '{') ++depth;
    if ((c == ')' || c == ']' || c == '}') && depth > 0) --depth;
    out += c;
    ++at;
    if (c != ',') continue;
    while (at < text.size() && is_space(text[at])) ++at;
    if (at < text.size()) out += ' ';
  }
  return out;
}

}  // namespace dts
