#include <fmt/format.h>

#include <algorithm>

#include "eval/report/chart_canvas.h"
#include "eval/report/charts.h"
#include "eval/report/method_style.h"

namespace dts::eval::report {

std::string draw(const LineChart& chart) {
  constexpr double kPlot = 250;
  constexpr double kLeft = 36;
  constexpr double kRight = kChartWidth - 10;
  constexpr double kTop = 24;
  constexpr double kBottom = kPlot - 44;
  double low = 1e300;
  double high = -1e300;
  for (const LineChart::Series& series : chart.series) {
    for (const auto& [at, value] : series.points) {
      low = std::min(low, at);
      high = std::max(high, at);
    }
  }
  const double margin = chart.log_x ? 0 : 0.03 * (high - low);
  const AxisScale x(low - margin, high + margin, kLeft, kRight, chart.log_x);
  const AxisScale y(0, 1.02, kBottom, kTop);
  const bool legend = chart.series.size() > 1;
  Canvas canvas(kPlot + (legend ? 18.0 * static_cast<double>(chart.series.size()) : 0),
                fmt::format("{}: {} against {}", chart.title, chart.y_axis, chart.x_axis));
  for (const double tick : ticks(x, 6, chart.log_x)) {
    canvas.line(x(tick), kTop, x(tick), kBottom, "grid");
    canvas.text(x(tick), kBottom + 14, fmt::format("{:.6g}", tick), Anchor::kMiddle, "tick");
  }
  for (int percent = 0; percent <= 100; percent += 20) {
    canvas.line(kLeft, y(percent / 100.0), kRight, y(percent / 100.0), "grid");
    canvas.text(kLeft - 6, y(percent / 100.0) + 4, fmt::format("{}", percent), Anchor::kEnd, "tick");
  }
  canvas.text((kLeft + kRight) / 2, kBottom + 34, chart.x_axis, Anchor::kMiddle, "axis-name");
  canvas.text(kLeft - 32, kTop - 10, chart.y_axis, Anchor::kStart, "axis-name");
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const LineChart::Series& series = chart.series[i];
    canvas.begin(fmt::format("series-{}", i % kSeriesMethods.size()));
    std::vector<std::pair<double, double>> band;
    std::vector<std::pair<double, double>> means;
    for (const auto& [at, value] : series.points) {
      band.emplace_back(x(at), y(value.high));
      means.emplace_back(x(at), y(value.mean));
    }
    for (auto point = series.points.rbegin(); point != series.points.rend(); ++point) {
      band.emplace_back(x(point->first), y(point->second.low));
    }
    canvas.path(band, true, "band");
    canvas.path(means, false, "curve");
    for (const auto& [at, value] : series.points) {
      canvas.begin("point", fmt::format("{} {:.6g}: {:.1f}% ({:.1f} to {:.1f})", series.name, at, 100 * value.mean,
                                        100 * value.low, 100 * value.high));
      canvas.marker(x(at), y(value.mean), i, "mark");
      canvas.end();
    }
    if (legend) {
      const double row = kPlot + 18.0 * static_cast<double>(i);
      canvas.line(kLeft, row, kLeft + 26, row, "curve");
      canvas.marker(kLeft + 13, row, i, "mark");
      canvas.text(kLeft + 34, row + 4, fit_label(series.name, kRight - kLeft - 40), Anchor::kStart, "name");
    }
    canvas.end();
  }
  return canvas.finish();
}

}  // namespace dts::eval::report
