#include "answer/value/number_base.h"

#include <algorithm>
#include <cstddef>

#include "text/ascii.h"

namespace dts {

using namespace text;

std::optional<Rational> value_in_base(std::string_view text) {
  constexpr std::size_t kMaxDigits = 64;
  const std::size_t mark = text.find('_');
  if (mark == 0 || mark == std::string_view::npos || mark > kMaxDigits) return std::nullopt;
  std::string_view written_base = text.substr(mark + 1);
  while (written_base.size() > 2 && written_base.front() == '(' && written_base.back() == ')') {
    written_base = written_base.substr(1, written_base.size() - 2);
  }
  if (written_base.empty() || written_base.size() > 2 ||
      !std::all_of(written_base.begin(), written_base.end(), is_digit)) {
    return std::nullopt;
  }
  int base = 0;
  for (const char c : written_base) base = 10 * base + (c - '0');
  if (base < 2 || base > 36) return std::nullopt;
  const std::string_view digits = text.substr(0, mark);
  if (std::none_of(digits.begin(), digits.end(), is_digit)) return std::nullopt;
  std::optional<Rational> value = Rational::make(0);
  for (const char c : digits) {
    const int digit = is_digit(c) ? c - '0' : is_letter(c) ? to_lower(c) - 'a' + 10 : base;
    if (digit >= base) return std::nullopt;
    value = *value * *Rational::make(base);
    if (value) value = *value + *Rational::make(digit);
    if (!value) return std::nullopt;
  }
  return value;
}

}  // namespace dts
