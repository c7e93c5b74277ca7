// CSV and JSON: the numbers, for programs.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "eval/report/csv_field.h"
#include "eval/report/render.h"

namespace dts::eval::report {
namespace {

const char* unit_name(Unit unit) {
  switch (unit) {
    case Unit::kNone:
      return "text";
    case Unit::kCount:
      return "count";
    case Unit::kMean:
      return "mean";
    case Unit::kPercent:
      return "share";
    case Unit::kPoints:
      return "difference of shares";
    case Unit::kSeconds:
      return "seconds";
    case Unit::kFlops:
      return "PFLOP";
  }
  return "";
}

constexpr double kPeta = 1e15;

double scaled(double value, Unit unit) { return unit == Unit::kFlops ? value / kPeta : value; }

Interval scaled(const Interval& value, Unit unit) {
  return {scaled(value.mean, unit), scaled(value.low, unit), scaled(value.high, unit)};
}

// "by=pooled; bin=1 of 10", "n=40; k=4": what tells a row from its neighbours, beside the columns that all tables have.
std::string row_name(const Table& table, const std::vector<Cell>& row) {
  std::string out;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const Column& column = table.columns[c];
    const bool has_column = column.key == "model" || column.key == "dataset" || column.key == "method";
    const std::string_view separator = out.empty() ? "" : "; ";
    if (const auto* number = std::get_if<double>(&row[c].value); number != nullptr && column.names_row) {
      out += fmt::format("{}{}={}", separator, column.key, *number);
    }
    const auto* text = std::get_if<std::string>(&row[c].value);
    if (column.unit != Unit::kNone || has_column || text == nullptr) continue;
    out += fmt::format("{}{}={}", separator, column.key, *text);
  }
  return out;
}

std::string named(const Table& table, const std::vector<Cell>& row, const std::string& key) {
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const auto* text = std::get_if<std::string>(&row[c].value);
    if (table.columns[c].key == key && text != nullptr) return *text;
  }
  return {};
}

nlohmann::json to_value(const Cell& cell, Unit unit) {
  if (const auto* text = std::get_if<std::string>(&cell.value)) return *text;
  if (const auto* number = std::get_if<double>(&cell.value)) return scaled(*number, unit);
  if (const auto* interval = std::get_if<Interval>(&cell.value)) {
    const Interval value = scaled(*interval, unit);
    return {{"mean", value.mean}, {"low", value.low}, {"high", value.high}};
  }
  return nullptr;
}

}  // namespace

std::string to_csv(const Report& report) {
  std::string out = "section,table,model,dataset,method,row,metric,unit,value,low,high\r\n";
  for (const Section& section : report.sections) {
    for (const Table& table : section.tables) {
      for (const std::vector<Cell>& row : table.rows) {
        const std::string head =
            fmt::format("{},{},{},{},{},{}", section.id, csv_field(table.key), csv_field(named(table, row, "model")),
                        csv_field(named(table, row, "dataset")), csv_field(named(table, row, "method")),
                        csv_field(row_name(table, row)));
        for (std::size_t c = 0; c < table.columns.size(); ++c) {
          const Column& column = table.columns[c];
          if (column.names_row) continue;
          std::string values;
          if (const auto* number = std::get_if<double>(&row[c].value)) {
            values = fmt::format("{},,", scaled(*number, column.unit));
          } else if (const auto* interval = std::get_if<Interval>(&row[c].value)) {
            const Interval value = scaled(*interval, column.unit);
            values = fmt::format("{},{},{}", value.mean, value.low, value.high);
          } else {
            continue;
          }
          out += fmt::format("{},{},{},{}\r\n", head, csv_field(column.key), unit_name(column.unit), values);
        }
      }
    }
  }
  return out;
}

std::string to_json(const Report& report) {
  nlohmann::ordered_json out;
  out["title"] = report.title;
  for (const auto& [name, value] : report.facts) out["facts"][name] = value;
  out["sections"] = nlohmann::ordered_json::array();
  for (const Section& section : report.sections) {
    nlohmann::ordered_json s = {{"id", section.id}, {"title", section.title}, {"source", section.source}};
    if (!section.missing.empty()) s["missing"] = section.missing;
    s["tables"] = nlohmann::ordered_json::array();
    for (const Table& table : section.tables) {
      nlohmann::ordered_json t = {{"key", table.key}, {"caption", table.caption}};
      for (const Column& column : table.columns) t["units"][column.key] = unit_name(column.unit);
      t["rows"] = nlohmann::ordered_json::array();
      for (const std::vector<Cell>& row : table.rows) {
        nlohmann::ordered_json r;
        for (std::size_t c = 0; c < table.columns.size(); ++c) {
          r[table.columns[c].key] = to_value(row[c], table.columns[c].unit);
        }
        t["rows"].push_back(std::move(r));
      }
      s["tables"].push_back(std::move(t));
    }
    for (const Case& one : section.cases) {
      nlohmann::ordered_json c = {{"model", one.model},
                                  {"dataset", one.dataset},
                                  {"question", one.question_id},
                                  {"text", one.question},
                                  {"gold", one.gold}};
      for (const CaseTrace& trace : one.traces) {
        c["traces"].push_back({{"method", trace.heading},
                               {"verdict", trace.verdict},
                               {"right", trace.right},
                               {"thinking", trace.thinking},
                               {"answer", trace.answer}});
      }
      s["cases"].push_back(std::move(c));
    }
    out["sections"].push_back(std::move(s));
  }
  return out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace dts::eval::report
