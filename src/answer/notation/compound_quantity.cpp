#include "answer/notation/compound_quantity.h"

#include <algorithm>
#include <cstddef>

#include "answer/notation/units.h"
#include "answer/value/rational.h"
#include "text/ascii.h"

namespace dts {
namespace {

using namespace text;

constexpr std::size_t kMaxBytes = 96;  // longer is prose
constexpr int kMaxParts = 4;           // days, hours, minutes, seconds

bool is_less(const Rational& a, const Rational& b) {
  const std::optional<Rational> difference = a - b;
  return difference && difference->is_negative();
}

// What may stand between two parts.
std::string_view without_joint(std::string_view text) {
  text = trim(text);
  if (text.starts_with(',')) text = trim(text.substr(1));
  if (text.starts_with("and ")) text = trim(text.substr(4));
  return text;
}

}  // namespace

std::optional<Quantity> compound_quantity(std::string_view normal) {
  if (normal.empty() || normal.size() > kMaxBytes || !is_digit(normal.front())) return std::nullopt;
  std::optional<Rational> total = Rational::make(0);  // in the smallest units of the kind
  std::optional<Rational> last;                       // the unit before, in the same
  std::string_view unit;
  Unit kind;
  int parts = 0;
  for (std::string_view rest = normal; !rest.empty(); rest = without_joint(rest), ++parts) {
    const std::size_t number_end = std::min(rest.find_first_not_of("0123456789."), rest.size());
    const std::optional<Rational> number = Rational::parse(rest.substr(0, number_end));
    rest = trim(rest.substr(number_end));
    std::size_t word_end = 0;
    while (word_end < rest.size() && is_letter(rest[word_end])) ++word_end;
    unit = rest.substr(0, word_end);
    rest = rest.substr(word_end);
    const Unit of_part = read_unit(unit);
    if (!number || !of_part.factor || parts == kMaxParts) return std::nullopt;
    if (of_part.dimensions.size() != 1 || of_part.dimensions.front().second != 1) return std::nullopt;
    const std::optional<Rational> size = *number * *of_part.factor;
    if (!size) return std::nullopt;
    if (last) {
      if (of_part.dimensions != kind.dimensions) return std::nullopt;
      if (!is_less(*of_part.factor, *last) || !is_less(*size, *last)) return std::nullopt;
    }
    total = *total + *size;
    if (!total) return std::nullopt;
    last = of_part.factor;
    kind = of_part;
  }
  const std::optional<Rational> number = parts > 1 ? *total / *last : std::nullopt;
  if (!number) return std::nullopt;
  return Quantity{number->text(), std::string(unit)};
}

}  // namespace dts
