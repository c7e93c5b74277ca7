#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <string>

#include "eval/report/chart_canvas.h"
#include "eval/report/charts.h"
#include "eval/report/method_style.h"

namespace dts::eval::report {

std::string draw(const RadarChart& chart) {
  constexpr double kRadius = 104;
  constexpr double kCentreX = kChartWidth / 2;
  constexpr double kCentreY = 132;
  constexpr double kLegendTop = 268;
  constexpr std::size_t kLegendColumns = 3;
  const std::size_t legend_rows = (chart.series.size() + kLegendColumns - 1) / kLegendColumns;
  const auto at = [&](std::size_t axis, double value) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(axis) / static_cast<double>(chart.axes.size());
    return std::pair(kCentreX + kRadius * value * std::sin(angle), kCentreY - kRadius * value * std::cos(angle));
  };
  Canvas canvas(kLegendTop + 18 * static_cast<double>(legend_rows) + 6,
                "accuracy, %, along " + std::to_string(chart.axes.size()) + " axes");
  for (const double ring : {0.25, 0.5, 0.75, 1.0}) {
    std::vector<std::pair<double, double>> corners;
    for (std::size_t i = 0; i < chart.axes.size(); ++i) corners.push_back(at(i, ring));
    canvas.path(corners, true, "grid web");
    canvas.text(kCentreX + 3, kCentreY - kRadius * ring + 11, fmt::format("{:.0f}", 100 * ring), Anchor::kStart,
                "tick");
  }
  for (std::size_t i = 0; i < chart.axes.size(); ++i) {
    const auto [x, y] = at(i, 1);
    canvas.line(kCentreX, kCentreY, x, y, "grid");
    const auto [label_x, label_y] = at(i, 1.1);
    const double side = label_x - kCentreX;
    const Anchor anchor = side > 6 ? Anchor::kStart : side < -6 ? Anchor::kEnd : Anchor::kMiddle;
    // Inside the picture: a label at a side has less room than one above.
    const double room = anchor == Anchor::kMiddle  ? kChartWidth - 20
                        : anchor == Anchor::kStart ? kChartWidth - label_x - 2
                                                   : label_x - 2;
    canvas.text(label_x, label_y + 4, fit_label(chart.axes[i], room), anchor, "name");
  }
  for (const RadarChart::Series& series : chart.series) {
    std::vector<std::pair<double, double>> corners;
    std::string values;
    for (std::size_t i = 0; i < chart.axes.size(); ++i) {
      corners.push_back(at(i, series.values[i]));
      values += fmt::format("{}{} {:.1f}%", values.empty() ? "" : ", ", chart.axes[i], 100 * series.values[i]);
    }
    canvas.begin(method_class(series.method), series.name + ": " + values);
    canvas.path(corners, true, "shape dashed");
    for (const auto& [x, y] : corners) canvas.marker(x, y, method_style(series.method).shape, "mark");
    canvas.end();
  }
  for (const double ring : {0.25, 0.5, 0.75, 1.0}) {  // over the shapes: they would hide them
    canvas.text(kCentreX + 3, kCentreY - kRadius * ring + 11, fmt::format("{:.0f}", 100 * ring), Anchor::kStart,
                "tick halo");
  }
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const std::size_t legend_row = i / kLegendColumns;
    const std::size_t legend_column = i % kLegendColumns;
    const double x = 4 + 120 * static_cast<double>(legend_column);
    const double y = kLegendTop + 18 * static_cast<double>(legend_row);
    canvas.begin(method_class(chart.series[i].method));
    canvas.line(x, y, x + 22, y, "curve dashed");  // long enough to show its dashes
    canvas.marker(x + 11, y, method_style(chart.series[i].method).shape, "mark");
    canvas.end();
    canvas.text(x + 24, y + 4, fit_label(chart.series[i].name, 96), Anchor::kStart, "name");
  }
  return canvas.finish();
}

}  // namespace dts::eval::report
