#include "eval/datasets/gold.h"

#include <algorithm>

#include "dts/answer.h"

namespace dts::eval {
namespace {

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

bool is_plain_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  const std::size_t point = text.find('.');
  if (point == std::string_view::npos) return all_digits(text);
  return all_digits(text.substr(0, point)) && all_digits(text.substr(point + 1));
}

std::optional<std::string> aime_gold(std::string_view text) {
  const std::string plain = normalise_answer(text);
  // Three digits once the leading zeros are gone, so it fits any type.
  if (!all_digits(plain) || plain.size() > 3) return std::nullopt;
  return plain;
}

std::optional<std::string> gsm8k_gold(std::string_view text) {
  const std::size_t mark = text.rfind("####");
  if (mark != std::string_view::npos) text.remove_prefix(mark + 4);
  const std::string plain = normalise_answer(text);
  if (!is_plain_number(plain)) return std::nullopt;
  return plain;
}

}  // namespace dts::eval
