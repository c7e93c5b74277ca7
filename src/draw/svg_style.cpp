#include "draw/svg_style.h"

#include <array>
#include <string_view>

namespace dts::draw {
namespace {

constexpr std::string_view kRules = R"css(
.dts text {
  font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, "DejaVu Sans", sans-serif;
}
.dts .mono {
  font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre;
}
.dts .title { font-size: 18px; font-weight: 600; }
.dts .note { font-size: 12px; font-weight: 400; }
.dts .label { font-size: 11px; font-weight: 400; }
.dts .leaf { font-size: 12.5px; }
.dts .finished .leaf { font-weight: 600; }
.dts .number { font-size: 9px; font-weight: 600; text-anchor: middle; }
.dts .tick { font-size: 10.5px; text-anchor: middle; }
.dts .line { fill: none; stroke-linecap: round; }
.dts .hit { fill: none; stroke: transparent; stroke-width: 16; pointer-events: stroke; }
.dts .halo { fill: none; stroke-linecap: round; stroke-linejoin: round; }
.dts .cut .line { stroke-dasharray: 1 5; }
.dts .live .line { stroke-dasharray: 6 4; }
.dts .cross { fill: none; stroke-width: 2; stroke-linecap: round; }
)css";

struct Colour {
  std::string_view selector, property, light, dark;
};

constexpr std::array<Colour, 30> kColours = {{
    {".paper", "fill", "#ffffff", "#14171c"},
    {".ink", "fill", "#1b2230", "#e7ebf2"},
    {".dim", "fill", "#5a6678", "#9aa7b8"},
    {".grid", "stroke", "#e8ebf0", "#242a33"},
    {".rule", "stroke", "#cfd5de", "#3a4350"},
    {".halo", "stroke", "#ffd96b", "#7d6215"},
    {".split .line", "stroke", "#76859b", "#8494aa"},
    {".finished .line", "stroke", "#1f9d63", "#3ecb8b"},
    {".exhausted .line", "stroke", "#cf4632", "#f07a66"},
    {".retired .line", "stroke", "#b3651e", "#e0a060"},
    {".cut .line", "stroke", "#98a3b3", "#6d7989"},
    {".live .line", "stroke", "#2f6fde", "#6ea0ff"},
    {".finished .dot", "fill", "#1f9d63", "#3ecb8b"},
    {".finished .ring", "fill", "#ffffff", "#14171c"},
    {".finished .ring", "stroke", "#1f9d63", "#3ecb8b"},
    {".exhausted .cross", "stroke", "#cf4632", "#f07a66"},
    {".retired .cross", "stroke", "#b3651e", "#e0a060"},
    {".cut .cross", "stroke", "#98a3b3", "#6d7989"},
    {".live .dot", "fill", "#2f6fde", "#6ea0ff"},
    {".finished .leaf", "fill", "#137347", "#59dda1"},
    {".exhausted .leaf", "fill", "#b93a27", "#f58d7b"},
    {".retired .leaf", "fill", "#b3651e", "#e0a060"},
    {".cut .leaf", "fill", "#667284", "#93a0b1"},
    {".live .leaf", "fill", "#2459bd", "#8db4ff"},
    {".mark", "fill", "#fff4dc", "#3a2c0c"},
    {".mark", "stroke", "#b97a0b", "#d9a33c"},
    {".number", "fill", "#7a4f05", "#f3c56a"},
    {".stat", "fill", "#8a5a08", "#e0b055"},
    {".bar", "fill", "#c3cad5", "#3c4654"},
    {".bar-best", "fill", "#1f9d63", "#3ecb8b"},
}};

}  // namespace

std::string svg_style() {
  std::string light;
  std::string dark;
  for (const Colour& colour : kColours) {
    const auto rule = [&colour](std::string_view value) {
      return ".dts " + std::string(colour.selector) + " { " + std::string(colour.property) + ": " + std::string(value) +
             "; }\n";
    };
    light += rule(colour.light);
    dark += rule(colour.dark);
  }
  return std::string(kRules) + light + "@media (prefers-color-scheme: dark) {\n" + dark + "}\n";
}

}  // namespace dts::draw
