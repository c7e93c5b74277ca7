// What the results were made with.
#include <fmt/format.h>

#include <map>

#include "eval/report/layout.h"
#include "eval/report/layout_common.h"

namespace dts::eval::report {

Section settings_section(const Results& results) {
  Section section{"settings", "How these figures were made", "", "", {}, {}, {}, ""};
  section.text =
      "Every figure is computed from the rows of the results file, which keep the whole tree of every question. "
      "Intervals: 95%, Clopper and Pearson's for as many independent trials as the variance among questions makes "
      "the rows worth; differences from what was gained and what was lost. One sampler for all methods.";
  Table table = place_table("settings", "Settings", {{"method", "method"}, {"settings", "settings"}});
  // What all methods of a benchmark share is said once.
  for (const Benchmark& benchmark : results.benchmarks()) {
    std::map<std::string, std::string> common;
    const auto keep_common = [&](const MethodResults& method) {
      for (auto it = common.begin(); it != common.end();) {
        it = method.setting(it->first) == it->second ? std::next(it) : common.erase(it);
      }
    };
    if (!benchmark.methods.empty()) common = benchmark.methods.front().settings;
    for (const MethodResults& method : benchmark.methods) keep_common(method);
    const auto add = [&](const std::string& name, const std::map<std::string, std::string>& settings) {
      std::string text;
      for (const auto& [key, value] : settings) {
        if (key != "method") text += fmt::format("{}{} {}", text.empty() ? "" : "; ", key, value);
      }
      add_row(table, benchmark, {Cell::text(name), Cell::text(std::move(text))});
    };
    add("all", common);
    for (const MethodResults& method : benchmark.methods) {
      std::map<std::string, std::string> own;
      for (const auto& [key, value] : method.settings) {
        if (common.count(key) == 0) own[key] = value;
      }
      if (benchmark.methods.size() > 1) add(method.name, own);
    }
  }
  section.tables.push_back(std::move(table));
  Table runs{"commands", "Commands", {{"started", "started"}, {"version", "dts"}, {"command", "command"}}, {}};
  for (const StoredRun& run : results.runs()) {
    runs.rows.push_back({Cell::text(run.started), Cell::text(run.version), Cell::text(run.command)});
  }
  if (!runs.rows.empty()) section.tables.push_back(std::move(runs));
  return section;
}

}  // namespace dts::eval::report
