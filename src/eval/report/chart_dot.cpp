#include <fmt/format.h>

#include <algorithm>

#include "eval/report/chart_canvas.h"
#include "eval/report/charts.h"
#include "eval/report/method_style.h"

namespace dts::eval::report {

std::string draw(const DotChart& chart) {
  constexpr double kRow = 21;
  constexpr double kTop = 10;
  double names = 60;
  for (const DotChart::Dot& dot : chart.dots) names = std::max(names, label_width(dot.name) + 8);
  names = std::min(names, 150.0);
  const double bottom = kTop + kRow * static_cast<double>(chart.dots.size());
  const AxisScale x(0, 1, names + 10, kChartWidth - 52);
  Canvas canvas(bottom + 38, chart.title + ", " + chart.axis);
  for (const double tick : ticks(x, 5)) {
    canvas.line(x(tick), kTop, x(tick), bottom, "grid");
    canvas.text(x(tick), bottom + 14, fmt::format("{:.0f}", 100 * tick), Anchor::kMiddle, "tick");
  }
  canvas.text((x(0) + x(1)) / 2, bottom + 32, chart.axis, Anchor::kMiddle, "axis-name");
  if (chart.reference) canvas.line(x(*chart.reference), kTop, x(*chart.reference), bottom, "reference");
  double y = kTop + kRow / 2;
  for (const DotChart::Dot& dot : chart.dots) {
    canvas.text(names, y + 4, fit_label(dot.name, names), Anchor::kEnd, "name");
    canvas.begin(method_class(dot.method), fmt::format("{}: {:.1f}% ({:.1f} to {:.1f})", dot.name, 100 * dot.value.mean,
                                                       100 * dot.value.low, 100 * dot.value.high));
    canvas.line(x(dot.value.low), y, x(dot.value.high), y, "interval");
    canvas.marker(x(dot.value.mean), y, method_style(dot.method).shape, "mark");
    canvas.end();
    canvas.text(kChartWidth - 4, y + 4, fmt::format("{:.1f}", 100 * dot.value.mean), Anchor::kEnd, "value");
    y += kRow;
  }
  return canvas.finish();
}

}  // namespace dts::eval::report
