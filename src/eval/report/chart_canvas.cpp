#include "eval/report/chart_canvas.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "text/display.h"
#include "text/markup.h"

namespace dts::eval::report {

using namespace text;

Canvas::Canvas(double height, std::string_view title) {
  out_ = fmt::format(
      "<svg class=\"chart\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\" xmlns=\"http://www.w3.org/2000/svg\">",
      kChartWidth, height, text::escape_markup(text::one_line(title)));
}

void Canvas::line(double x1, double y1, double x2, double y2, std::string_view classes) {
  out_ += fmt::format("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>", classes, x1, y1,
                      x2, y2);
}

void Canvas::path(const std::vector<std::pair<double, double>>& points, bool closed, std::string_view classes) {
  std::string d;
  for (const auto& [x, y] : points) d += fmt::format("{}{:.1f} {:.1f}", d.empty() ? "M" : "L", x, y);
  out_ += fmt::format("<path class=\"{}\" d=\"{}{}\"/>", classes, d, closed ? "Z" : "");
}

void Canvas::circle(double x, double y, double radius, std::string_view classes) {
  out_ += fmt::format("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"/>", classes, x, y, radius);
}

void Canvas::marker(double x, double y, std::size_t shape, std::string_view classes) {
  const auto at = [&](std::vector<std::pair<double, double>> corners) {
    for (auto& [dx, dy] : corners) {
      dx += x;
      dy += y;
    }
    path(corners, true, classes);
  };
  switch (shape % 10) {
    case 0:
      return circle(x, y, 5, classes);
    case 1:
      return at({{-4.5, -4.5}, {4.5, -4.5}, {4.5, 4.5}, {-4.5, 4.5}});
    case 2:
      return at({{0, -5.5}, {5.5, 4}, {-5.5, 4}});
    case 3:
      return at({{0, -6}, {6, 0}, {0, 6}, {-6, 0}});
    case 4:
      return at({{0, 5.5}, {5.5, -4}, {-5.5, -4}});
    case 5:
      return at({{-2, -5.5},
                 {2, -5.5},
                 {2, -2},
                 {5.5, -2},
                 {5.5, 2},
                 {2, 2},
                 {2, 5.5},
                 {-2, 5.5},
                 {-2, 2},
                 {-5.5, 2},
                 {-5.5, -2},
                 {-2, -2}});
    case 6:
      return at({{-5.3, -3},
                 {-3, -5.3},
                 {0, -2.4},
                 {3, -5.3},
                 {5.3, -3},
                 {2.4, 0},
                 {5.3, 3},
                 {3, 5.3},
                 {0, 2.4},
                 {-3, 5.3},
                 {-5.3, 3},
                 {-2.4, 0}});
    case 7:
      return at({{-4.5, -5.5}, {5.5, 0}, {-4.5, 5.5}});
    case 8:
      return at({{0, -5.8}, {5.5, -1.8}, {3.4, 4.7}, {-3.4, 4.7}, {-5.5, -1.8}});
    default:
      return at({{-5, -5}, {5, -5}, {-5, 5}, {5, 5}});
  }
}

void Canvas::text(double x, double y, std::string_view label, Anchor anchor, std::string_view classes) {
  constexpr std::array kAnchors = {"start", "middle", "end"};
  out_ += fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>", classes, x, y,
                      kAnchors[static_cast<std::size_t>(anchor)], text::escape_markup(text::one_line(label)));
}

void Canvas::begin(std::string_view classes, std::string_view tooltip) {
  out_ += fmt::format("<g class=\"{}\">", classes);
  if (!tooltip.empty()) out_ += fmt::format("<title>{}</title>", text::escape_markup(text::one_line(tooltip)));
}

void Canvas::end() { out_ += "</g>"; }

std::string Canvas::finish() { return out_ + "</svg>\n"; }

std::string method_class(std::string_view method) {
  std::string out = "m-";
  for (const char c : method) out += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '-';
  return out;
}

AxisScale::AxisScale(double low, double high, double from, double to, bool logarithmic)
    : low_(low), high_(high), from_(from), to_(to), logarithmic_(logarithmic) {
  if (logarithmic_) {
    low_ = std::max(low_, 1e-300);
    high_ = std::max(high_, low_);
    if (high_ < 1.5 * low_) {
      low_ /= 1.5;
      high_ *= 1.5;
    }
  } else if (high_ <= low_) {
    low_ -= 1;
    high_ += 1;
  }
}

double AxisScale::operator()(double value) const {
  const double share = logarithmic_ ? std::log(std::max(value, 1e-300) / low_) / std::log(high_ / low_)
                                    : (value - low_) / (high_ - low_);
  return from_ + share * (to_ - from_);
}

std::vector<double> ticks(const AxisScale& scale, int count, bool logarithmic) {
  std::vector<double> out;
  if (logarithmic) {
    const auto first = static_cast<int>(std::floor(std::log10(scale.low())));
    const auto last = static_cast<int>(std::floor(std::log10(scale.high())));
    const bool roomy = std::log10(scale.high() / scale.low()) < 2.5;
    for (int power = first; power <= last; ++power) {
      for (const double step : roomy ? std::vector<double>{1, 2, 5} : std::vector<double>{1}) {
        const double value = step * std::pow(10, power);
        if (value >= scale.low() * (1 - 1e-9) && value <= scale.high() * (1 + 1e-9)) out.push_back(value);
      }
    }
    return out;
  }
  const double rough = (scale.high() - scale.low()) / std::max(1, count);
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough) {
      step = factor * power;
      break;
    }
  }
  const double first = std::ceil(scale.low() / step - 1e-9) * step;
  for (int i = 0; first + i * step <= scale.high() + 1e-9 * step; ++i) out.push_back(first + i * step);
  return out;
}

double label_width(std::string_view label) { return 5.9 * text::display_width(label); }

std::string fit_label(std::string_view label, double pixels) {
  const std::string line = text::one_line(label);
  if (label_width(line) <= pixels) return line;
  const int cells = std::max(3, static_cast<int>(pixels / 5.9));
  const int end = (cells - 1) / 2;
  return std::string(text::fit(line, cells - 1 - end)) + "…" + std::string(text::fit_end(line, end));
}

}  // namespace dts::eval::report
