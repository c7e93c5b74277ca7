#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "eval/report/chart_canvas.h"
#include "eval/report/charts.h"
#include "eval/report/figures_text.h"
#include "eval/report/method_style.h"

namespace dts::eval::report {
namespace {

struct Box {
  double left = 0, top = 0, right = 0, bottom = 0;
  bool overlaps(const Box& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

// Finds a place beside the point that covers neither another point nor another label; none when there is no room.
class Labels {
 public:
  explicit Labels(Box area) : area_(area) {}
  void keep_free(double x, double y) { taken_.push_back({x - 6, y - 6, x + 6, y + 6}); }

  // The baseline's place and the anchor.
  struct Place {
    double x = 0, y = 0;
    Anchor anchor = Anchor::kStart;
  };
  std::optional<Place> find(double x, double y, double width) {
    constexpr std::array<std::pair<double, double>, 18> kOffsets = {{{9, 4},
                                                                     {-9, 4},
                                                                     {8, -8},
                                                                     {-8, -8},
                                                                     {8, 15},
                                                                     {-8, 15},
                                                                     {0, -11},
                                                                     {0, 19},
                                                                     {18, -20},
                                                                     {-18, -20},
                                                                     {18, 28},
                                                                     {-18, 28},
                                                                     {24, -36},
                                                                     {-24, -36},
                                                                     {24, 44},
                                                                     {-24, 44},
                                                                     {30, 60},
                                                                     {-30, 60}}};
    for (const auto& [dx, dy] : kOffsets) {
      const Anchor anchor = dx > 0 ? Anchor::kStart : dx < 0 ? Anchor::kEnd : Anchor::kMiddle;
      const double left = dx > 0 ? x + dx : dx < 0 ? x + dx - width : x - width / 2;
      const Box box{left, y + dy - 9, left + width, y + dy + 3};
      const bool inside =
          box.left >= area_.left && box.right <= area_.right && box.top >= area_.top && box.bottom <= area_.bottom;
      const bool clear = std::none_of(taken_.begin(), taken_.end(), [&](const Box& b) { return b.overlaps(box); });
      if (!inside || !clear) continue;
      taken_.push_back(box);
      return Place{x + dx, y + dy, anchor};
    }
    return std::nullopt;
  }

 private:
  Box area_;
  std::vector<Box> taken_;
};

}  // namespace

std::string draw(const ScatterChart& chart) {
  const double height = chart.points.size() > 12 ? 380 : 300;  // labels need room
  constexpr double kLeft = 36;
  constexpr double kRight = kChartWidth - 8;
  constexpr double kTop = 24;
  const bool several = chart.groups.size() > 1;
  const double bottom = height - 44;
  double low = 1e300;
  double high = 0;
  for (const ScatterChart::Point& point : chart.points) {
    low = std::min(low, point.x.low);
    high = std::max(high, point.x.high);
  }
  const FlopsUnit unit = flops_unit(high);
  const AxisScale x(low / 1.25, high * 1.25, kLeft, kRight, true);
  const AxisScale y(0, 1.04, bottom, kTop);
  Canvas canvas(height + (several ? 18.0 * static_cast<double>(chart.groups.size()) : 0),
                fmt::format("{} against {}", chart.y_axis, chart.x_axis));
  for (const double tick : ticks(x, 5, true)) {
    canvas.line(x(tick), kTop, x(tick), bottom, "grid");
    canvas.text(x(tick), bottom + 14, fmt::format("{:.3g}", tick / unit.size), Anchor::kMiddle, "tick");
  }
  for (int percent = 0; percent <= 100; percent += 20) {
    canvas.line(kLeft, y(percent / 100.0), kRight, y(percent / 100.0), "grid");
    canvas.text(kLeft - 6, y(percent / 100.0) + 4, fmt::format("{}", percent), Anchor::kEnd, "tick");
  }
  canvas.text((kLeft + kRight) / 2, bottom + 34, fmt::format("{}, {}", chart.x_axis, unit.name), Anchor::kMiddle,
              "axis-name");
  canvas.text(kLeft - 32, kTop - 10, chart.y_axis, Anchor::kStart, "axis-name");

  Labels labels({kLeft, kTop, kRight, bottom});
  for (const ScatterChart::Point& point : chart.points) labels.keep_free(x(point.x.mean), y(point.y.mean));
  for (const ScatterChart::Point& point : chart.points) {
    canvas.begin(method_class(point.method),
                 fmt::format("{}{}: {:.1f}% ({:.1f} to {:.1f}), {:.3g} {}",
                             several ? chart.groups[point.group] + ", " : "", point.name, 100 * point.y.mean,
                             100 * point.y.low, 100 * point.y.high, point.x.mean / unit.size, unit.name));
    canvas.line(x(point.x.mean), y(point.y.low), x(point.x.mean), y(point.y.high), "interval thin");
    canvas.line(x(point.x.low), y(point.y.mean), x(point.x.high), y(point.y.mean), "interval thin");
    canvas.marker(x(point.x.mean), y(point.y.mean), several ? point.group : method_style(point.method).shape, "mark");
    canvas.end();
  }
  // Labels come last: nothing is drawn over them.
  for (const ScatterChart::Point& point : chart.points) {
    const std::string name = fit_label(point.name, 140);
    const auto place = labels.find(x(point.x.mean), y(point.y.mean), label_width(name));
    if (!place) continue;
    const double away = std::hypot(place->x - x(point.x.mean), place->y - 4 - y(point.y.mean));
    if (away > 20) {
      canvas.line(x(point.x.mean), y(point.y.mean), place->x, place->y - (place->y < y(point.y.mean) ? 0 : 8),
                  "leader");
    }
    canvas.begin(method_class(point.method));
    canvas.text(place->x, place->y, name, place->anchor, "name halo tinted");
    canvas.end();
  }
  for (std::size_t i = 0; several && i < chart.groups.size(); ++i) {
    const double at = height + 18.0 * static_cast<double>(i);
    canvas.marker(kLeft + 6, at, i, "mark plain");
    canvas.text(kLeft + 18, at + 4, fit_label(chart.groups[i], kRight - kLeft - 20), Anchor::kStart, "name");
  }
  return canvas.finish();
}

}  // namespace dts::eval::report
