#include "eval/report/figures_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace dts::eval::report {
namespace {

std::string grouped(double value) {
  std::string digits = fmt::format("{:.0f}", value);
  for (std::size_t i = digits.size(); i > 3 + (digits.front() == '-' ? 1U : 0U);) {
    i -= 3;
    digits.insert(i, 1, ',');
  }
  return digits;
}

std::string number(double value, Unit unit, double flops) {
  switch (unit) {
    case Unit::kNone:
      return fmt::format("{}", value);
    case Unit::kCount:
      return grouped(value);
    case Unit::kMean:
      return fmt::format("{:.1f}", value);
    case Unit::kPercent:
      return fmt::format("{:.1f}", 100 * value);
    case Unit::kPoints:
      return fmt::format("{:+.1f}", 100 * value);
    case Unit::kSeconds:
      return fmt::format("{:.2f}", value);
    case Unit::kFlops:
      return fmt::format("{:.3g}", value / flops);
  }
  return {};
}

}  // namespace

FlopsUnit flops_unit(double largest) {
  static const std::array<FlopsUnit, 6> units = {
      {{1e6, "MFLOP"}, {1e9, "GFLOP"}, {1e12, "TFLOP"}, {1e15, "PFLOP"}, {1e18, "EFLOP"}, {1e21, "ZFLOP"}}};
  for (const FlopsUnit& unit : units) {
    if (largest < 1000 * unit.size) return unit;
  }
  return units.back();
}

FlopsUnit flops_unit(const Table& table, std::size_t column) {
  double largest = 0;
  for (const auto& row : table.rows) {
    if (const auto* interval = std::get_if<Interval>(&row[column].value)) largest = std::max(largest, interval->mean);
    if (const auto* value = std::get_if<double>(&row[column].value)) largest = std::max(largest, *value);
  }
  return flops_unit(largest);
}

std::string column_title(const Table& table, std::size_t column) {
  const Column& c = table.columns[column];
  return c.unit == Unit::kFlops ? fmt::format("{} ({})", c.title, flops_unit(table, column).name) : c.title;
}

CellText cell_text(const Table& table, std::size_t column, const Cell& cell) {
  const Unit unit = table.columns[column].unit;
  const double flops = unit == Unit::kFlops ? flops_unit(table, column).size : 1;
  if (const auto* text = std::get_if<std::string>(&cell.value)) return {*text, "", "", ""};
  if (const auto* value = std::get_if<double>(&cell.value)) return {number(*value, unit, flops), "", "", ""};
  if (const auto* interval = std::get_if<Interval>(&cell.value)) {
    return {number(interval->mean, unit, flops),
            fmt::format("{} to {}", number(interval->low, unit, flops), number(interval->high, unit, flops)),
            number(interval->low, unit, flops), number(interval->high, unit, flops)};
  }
  return {};
}

std::vector<std::size_t> telling_columns(const Table& table) {
  std::vector<std::size_t> out;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const std::string& key = table.columns[c].key;
    const bool place = key == "model" || key == "dataset" || key == "question";
    const bool same = std::all_of(table.rows.begin(), table.rows.end(), [&](const std::vector<Cell>& row) {
      return row[c].value == table.rows.front()[c].value;
    });
    if (!place || !same) out.push_back(c);
  }
  // A table of one row and nothing but numbers should still say what it is about.
  const bool named =
      std::any_of(out.begin(), out.end(), [&](std::size_t c) { return table.columns[c].unit == Unit::kNone; });
  if (!named && !table.columns.empty() && table.columns.size() > 1 && table.columns[1].key == "dataset") {
    out.insert(out.begin(), 1);
  }
  return out;
}

}  // namespace dts::eval::report
