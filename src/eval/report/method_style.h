// How the charts tell methods apart: a colour that whoever is colour-blind can tell from the others, and a shape and a
// way of dashing that print in black and white.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace dts::eval::report {

struct MethodStyle {
  std::string_view method;
  std::string_view light;   // #rrggbb, on a light background
  std::string_view dark;    // on a dark one
  std::string_view dashes;  // of stroke-dasharray; empty: a whole line
  std::size_t shape;        // of Canvas::marker
};

inline constexpr std::array<MethodStyle, 11> kMethodStyles = {{
    {"dts-stable", "#044298", "#5b9bff", "", 0},
    {"dts-greedy", "#1682c4", "#7cc4f5", "7 3", 3},
    {"standard", "#4a4a4a", "#a5afbd", "1.5 3", 1},
    {"self-consistency", "#b4530a", "#f09a52", "4 2", 2},
    {"best-of-n", "#8a6d00", "#d9b954", "6 3", 4},
    {"deepconf-low", "#6e314b", "#d18ba6", "8 2 2 2", 5},
    {"deepconf-high", "#a85c86", "#e6a8c8", "3 2", 6},
    {"first-finish", "#11776f", "#4fc9c1", "10 3", 7},
    {"short-m@k", "#557a12", "#b5d96a", "6 2 1.5 2 1.5 2", 8},
    {"max-logit", "#7a6a5a", "#c8b8a6", "4 4", 9},
    {"other", "#7d8797", "#8f9bab", "2 2", 0},
}};

const MethodStyle& method_style(std::string_view method);

// Of the series of a line chart, in their order.
inline constexpr std::array<std::string_view, 5> kSeriesMethods = {"dts-stable", "self-consistency", "first-finish",
                                                                   "deepconf-low", "best-of-n"};

}  // namespace dts::eval::report
