// What the charts draw with.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dts::eval::report {

// Pixels of the picture's own; the page scales it.
inline constexpr double kChartWidth = 360;

enum class Anchor { kStart, kMiddle, kEnd };

class Canvas {
 public:
  // `title` is read out where the picture cannot be seen.
  Canvas(double height, std::string_view title);

  void line(double x1, double y1, double x2, double y2, std::string_view classes);
  void path(const std::vector<std::pair<double, double>>& points, bool closed, std::string_view classes);
  void circle(double x, double y, double radius, std::string_view classes);
  // 0 circle, 1 square, 2 triangle, 3 diamond, 4 triangle down, 5 plus, 6 cross, 7 triangle to the right, 8 pentagon, 9
  // hourglass, and so on again; about 5 pixels in radius.
  void marker(double x, double y, std::size_t shape, std::string_view classes);
  // `label` may be anything: it is escaped.
  void text(double x, double y, std::string_view label, Anchor anchor, std::string_view classes);
  void begin(std::string_view classes, std::string_view tooltip = {});  // a group
  void end();

  std::string finish();

 private:
  std::string out_;
};

// The class that gives a method its colour.
std::string method_class(std::string_view method);

// A linear or logarithmic axis, in pixels. Constant ranges are widened.
class AxisScale {
 public:
  AxisScale(double low, double high, double from, double to, bool logarithmic = false);
  double operator()(double value) const;
  double low() const { return low_; }
  double high() const { return high_; }

 private:
  double low_, high_, from_, to_;
  bool logarithmic_;
};

// Round numbers within the range, about `count` of them; for a logarithmic axis powers of ten with 2 and 5 between them
// where there is room.
std::vector<double> ticks(const AxisScale& scale, int count, bool logarithmic = false);

// Estimated width of a label in pixels, at 11 pixels a line.
double label_width(std::string_view label);

// A label that fits in so many pixels: of a long one its start and its end, by which names of one family differ.
std::string fit_label(std::string_view label, double pixels);

}  // namespace dts::eval::report
