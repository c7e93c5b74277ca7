#include "eval/report/stand_alone.h"

#include <fmt/format.h>

#include <cctype>
#include <set>

#include "eval/report/chart_canvas.h"
#include "eval/report/charts.h"
#include "eval/report/csv_field.h"
#include "eval/report/method_style.h"

namespace dts::eval::report {
namespace {

// Plain rules, without variables: what turns SVG into print reads no more.
std::string print_style() {
  std::string out =
      "text { font-family: 'Liberation Sans', Arial, Helvetica, sans-serif; font-size: 11px; fill: #000 }\n"
      ".tick { font-size: 10px; fill: #333 } .value { font-weight: bold }\n"
      ".halo { paint-order: stroke; stroke: #fff; stroke-width: 3px; stroke-linejoin: round }\n"
      ".grid { stroke: #ddd; fill: none; stroke-width: .7 } .leader { stroke: #777; stroke-width: .7 }\n"
      ".reference { stroke: #444; stroke-dasharray: 3 3 }\n"
      ".interval { stroke: currentColor; stroke-width: 3; stroke-linecap: round; opacity: .5 }\n"
      ".thin { stroke-width: 1.4 } .mark { fill: currentColor; stroke: #fff; stroke-width: .8 }\n"
      ".plain { fill: #333 } .band { fill: currentColor; opacity: .14; stroke: none }\n"
      ".curve, .shape { fill: none; stroke: currentColor; stroke-width: 1.8; stroke-linejoin: round }\n";
  for (const MethodStyle& style : kMethodStyles) {
    const std::string name = method_class(style.method);
    out += fmt::format(".{} {{ color: {} }}", name, style.light);
    if (!style.dashes.empty()) out += fmt::format(" .{} .dashed {{ stroke-dasharray: {} }}", name, style.dashes);
    out += "\n";
  }
  for (std::size_t i = 0; i < kSeriesMethods.size(); ++i) {
    const MethodStyle& style = method_style(kSeriesMethods[i]);
    out += fmt::format(".series-{0}, .series-{0} g {{ color: {1} }}", i, style.light);
    if (i > 0) out += fmt::format(" .series-{} .curve {{ stroke-dasharray: {} }}", i, style.dashes);
    out += "\n";
  }
  return out;
}

// `chart` begins with <svg ... viewBox="0 0 W H" ...>.
std::string alone(const std::string& chart) {
  const std::size_t end = chart.find('>') + 1;
  const std::string_view mark = "viewBox=\"0 0 ";
  const std::size_t at = chart.find(mark) + mark.size();
  const std::size_t space = chart.find(' ', at);
  const std::string width = chart.substr(at, space - at);
  const std::string height = chart.substr(space + 1, chart.find('"', space) - space - 1);
  return fmt::format(
      "{} width=\"{}\" height=\"{}\">\n<style>\n{}</style>\n<rect width=\"{}\" height=\"{}\" fill=\"#fff\"/>\n{}",
      chart.substr(0, end - 1), width, height, print_style(), width, height, chart.substr(end));
}

std::string numbers(const Interval& value) { return fmt::format("{},{},{}", value.mean, value.low, value.high); }

std::string csv_of(const DotChart& chart) {
  std::string out = "method,name,accuracy,low,high\r\n";
  for (const DotChart::Dot& dot : chart.dots) {
    out += fmt::format("{},{},{}\r\n", csv_field(dot.method), csv_field(dot.name), numbers(dot.value));
  }
  return out;
}

std::string csv_of(const ScatterChart& chart) {
  std::string out = "group,method,name,flop,flop_low,flop_high,accuracy,accuracy_low,accuracy_high\r\n";
  for (const ScatterChart::Point& point : chart.points) {
    out += fmt::format("{},{},{},{},{}\r\n", csv_field(chart.groups[point.group]), csv_field(point.method),
                       csv_field(point.name), numbers(point.x), numbers(point.y));
  }
  return out;
}

std::string csv_of(const LineChart& chart) {
  std::string out = "series,x,y,low,high\r\n";
  for (const LineChart::Series& series : chart.series) {
    for (const auto& [x, y] : series.points) out += fmt::format("{},{},{}\r\n", csv_field(series.name), x, numbers(y));
  }
  return out;
}

std::string csv_of(const RadarChart& chart) {
  std::string out = "method,name,axis,accuracy\r\n";
  for (const RadarChart::Series& series : chart.series) {
    for (std::size_t i = 0; i < chart.axes.size(); ++i) {
      out += fmt::format("{},{},{},{}\r\n", csv_field(series.method), csv_field(series.name), csv_field(chart.axes[i]),
                         series.values[i]);
    }
  }
  return out;
}

// "AIME24, within problems" -> "aime24-within-problems": any bytes become a name that every file system takes.
std::string slug(std::string_view text) {
  constexpr std::size_t kMost = 60;
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) {
      out += static_cast<char>(std::tolower(byte));
    } else if (!out.empty() && out.back() != '-') {
      out += '-';
    }
    if (out.size() >= kMost) break;
  }
  while (out.ends_with('-')) out.pop_back();
  return out;
}

}  // namespace

const MethodStyle& method_style(std::string_view method) {
  for (const MethodStyle& style : kMethodStyles) {
    if (style.method == method) return style;
  }
  return kMethodStyles.back();
}

std::vector<FigureFile> figure_files(const Report& report) {
  std::vector<FigureFile> files;
  std::set<std::string> taken;
  for (const Section& section : report.sections) {
    for (const Chart& chart : section.charts) {
      std::visit(
          [&](const auto& one) {
            const std::string title = slug(one.title);
            const std::string wanted = title.empty() ? section.id : section.id + "-" + title;
            std::string name = wanted;
            for (int i = 2; !taken.insert(name).second; ++i) name = fmt::format("{}-{}", wanted, i);
            files.push_back({name, one.title.empty() ? section.title : section.title + ", " + one.title,
                             alone(draw(one)), csv_of(one)});
          },
          chart);
    }
  }
  return files;
}

}  // namespace dts::eval::report
