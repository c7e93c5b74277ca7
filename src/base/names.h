// Words for enumerators, in both directions.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

namespace dts {

template <typename Enum, std::size_t n>
using Names = std::array<std::pair<std::string_view, Enum>, n>;

template <typename Enum, std::size_t n>
constexpr std::string_view name_of(const Names<Enum, n>& names, Enum value) {
  return std::find_if(names.begin(), names.end(), [value](const auto& entry) { return entry.second == value; })->first;
}

template <typename Enum, std::size_t n>
constexpr std::optional<Enum> value_of(const Names<Enum, n>& names, std::string_view name) {
  for (const auto& [word, value] : names) {
    if (word == name) return value;
  }
  return std::nullopt;
}

}  // namespace dts
