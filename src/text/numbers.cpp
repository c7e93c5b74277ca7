#include "text/numbers.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstddef>

namespace dts::text {

std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  const std::size_t first = number < 0 ? 1 : 0;
  for (std::size_t i = digits.size(); i > first + 3;) {
    i -= 3;
    digits.insert(i, 1, ',');
  }
  return digits;
}

std::string seconds(double value) {
  if (!(value < 1e9)) return "?";
  if (value < 10) return fmt::format("{:.2f} s", value);
  if (value < 60) return fmt::format("{:.1f} s", value);
  const auto whole = static_cast<std::int64_t>(value);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

std::string scaled(double value) {
  if (!std::isfinite(value)) return "?";
  constexpr std::array kPrefixes = {"", " k", " M", " G", " T", " P", " E"};
  std::size_t i = 0;
  for (; value >= 999.5 && i + 1 < kPrefixes.size(); ++i) value /= 1000;
  return fmt::format("{:.{}f}{}", value, i == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2, kPrefixes[i]);
}

std::string binary_bytes(std::int64_t bytes) {
  constexpr double kStep = 1024;
  double value = static_cast<double>(bytes);
  if (value < kStep) return counted(bytes, "byte");
  value /= kStep;
  for (const char* unit : {"KiB", "MiB"}) {
    if (value < kStep) return fmt::format("{:.1f} {}", value, unit);
    value /= kStep;
  }
  return fmt::format("{:.1f} GiB", value);
}

std::string counted(std::int64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", grouped(number), noun, number == 1 ? "" : "s");
}

}  // namespace dts::text
