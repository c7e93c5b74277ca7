#include "eval/report/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "dts/error.h"
#include "dts/method.h"
#include "eval/report/regrade.h"
#include "eval/run/protocol.h"

namespace dts::eval::report {
namespace {

std::string place(const std::string& model, const std::string& dataset, const std::string& method) {
  return model + '\n' + dataset + '\n' + method;
}

std::map<std::string, std::string> flat(const std::string& json) {
  std::map<std::string, std::string> out;
  const nlohmann::json object = nlohmann::json::parse(json, nullptr, false);
  if (!object.is_object()) return out;
  for (const auto& [key, value] : object.items())
    out[key] = value.is_string() ? value.get<std::string>() : value.dump();
  return out;
}

// Position in `dts methods`; those we do not know come last.
std::size_t rank(const std::string& method) {
  const auto all = methods();
  const auto found = std::find_if(all.begin(), all.end(), [&](const MethodInfo& info) { return info.name == method; });
  return static_cast<std::size_t>(found - all.begin());
}

std::string shown_name(const MethodResults& results) {
  if (results.method == "short-m@k") {
    return fmt::format("short-{}@{}", results.setting("stop_finished"), results.setting("width"));
  }
  return results.label;
}

// Which tokens it branches at, as far as the ablation varies it.
std::string decision_rule(const MethodResults& results) {
  return results.setting("criterion") + '/' + results.setting("tau_v") + '/' + results.setting("tau_h");
}

void mark_ablations(Benchmark& benchmark) {
  for (MethodResults& results : benchmark.methods) {
    const MethodResults* plain = benchmark.find(results.method);
    const std::string usual = plain != nullptr ? decision_rule(*plain) : "decision/1.5/2.5";
    results.ablation =
        results.label != results.method && !results.setting("criterion").empty() && decision_rule(results) != usual;
  }
}

// The file's name alone where that tells it from the others, else its path.
std::string label_of(const std::string& file, const std::vector<std::string>& files) {
  const std::filesystem::path path = std::filesystem::path(file).lexically_normal();
  const auto has_same_name = [&](const std::string& one) {
    const std::filesystem::path other = std::filesystem::path(one).lexically_normal();
    return other != path && other.stem() == path.stem();
  };
  return std::any_of(files.begin(), files.end(), has_same_name) ? path.string() : path.stem().string();
}

template <typename Get>
std::vector<std::string> in_order(const std::vector<Benchmark>& benchmarks, Get get) {
  std::vector<std::string> out;
  for (const Benchmark& benchmark : benchmarks) {
    if (std::find(out.begin(), out.end(), get(benchmark)) == out.end()) out.push_back(get(benchmark));
  }
  return out;
}

}  // namespace

std::string MethodResults::setting(const std::string& key) const {
  const auto found = settings.find(key);
  return found == settings.end() ? std::string() : found->second;
}

const MethodResults* Benchmark::find(std::string_view label) const {
  const auto found = std::find_if(methods.begin(), methods.end(),
                                  [&](const MethodResults& results) { return results.label == label; });
  return found == methods.end() ? nullptr : &*found;
}

const Rows& Benchmark::baseline() const {
  static const Rows none;
  const MethodResults* standard = find(kBaseline);
  return standard == nullptr ? none : standard->rows;
}

Results::Results(const std::vector<std::string>& files, bool regrade_rows) {
  std::map<std::string, StoredSettings> known;
  for (const std::string& file : files) load(file, label_of(file, files), known);
  if (regrade_rows) {
    for (auto& [key, row] : rows_) regraded_ += regrade(row.first, document(row.first)) ? 1 : 0;
  }
  arrange(known);
}

void Results::load(const std::string& file, const std::string& label, std::map<std::string, StoredSettings>& known) {
  const std::size_t index = sources_.size();
  Source& source = sources_.emplace_back();
  source.store = std::make_unique<Store>(file, /*read_only=*/true);
  const std::vector<StoredSettings> settings = source.store->settings();
  std::set<std::string> clashing;
  for (const StoredSettings& mine : settings) {
    const auto other = known.find(place(mine.model, mine.dataset, mine.method));
    if (other != known.end() && other->second.settings != mine.settings) clashing.insert(mine.model);
  }
  const auto shown = [&](const std::string& model) {
    return clashing.count(model) > 0 ? fmt::format("{} ({})", model, label) : model;
  };
  for (StoredSettings mine : settings) {
    source.stored_names[shown(mine.model)] = mine.model;
    mine.model = shown(mine.model);
    known.emplace(place(mine.model, mine.dataset, mine.method), mine);
  }
  for (Row& row : source.store->rows()) {
    row.key.model = shown(row.key.model);
    const RowKey key = row.key;
    rows_.try_emplace(key, std::move(row), index);
  }
  for (StoredRun& run : source.store->runs()) runs_.push_back(std::move(run));
}

void Results::arrange(const std::map<std::string, StoredSettings>& known) {
  std::map<std::pair<std::string, std::string>, std::map<std::string, Rows>> grouped;
  for (const auto& [key, value] : rows_) grouped[{key.model, key.dataset}][key.method].push_back(&value.first);
  for (auto& [name, methods] : grouped) {
    Benchmark benchmark{name.first, name.second, {}, {}};
    for (auto& [label, rows] : methods) {
      MethodResults results;
      results.label = label;
      results.rows = std::move(rows);
      std::sort(results.rows.begin(), results.rows.end(), [](const Row* a, const Row* b) {
        return std::tie(a->key.question, a->key.seed) < std::tie(b->key.question, b->key.seed);
      });
      const auto settings = known.find(place(name.first, name.second, label));
      if (settings != known.end()) results.settings = flat(settings->second.settings);
      results.method = results.setting("method").empty() ? label : results.setting("method");
      results.name = shown_name(results);
      if (label == kSamplesLabel) {
        benchmark.samples = std::move(results);
      } else {
        benchmark.methods.push_back(std::move(results));
      }
    }
    std::stable_sort(
        benchmark.methods.begin(), benchmark.methods.end(), [](const MethodResults& a, const MethodResults& b) {
          return std::pair(rank(a.method), a.label != a.method) < std::pair(rank(b.method), b.label != b.method);
        });
    mark_ablations(benchmark);
    for (MethodResults& results : benchmark.methods) results.summary = summarise(results.rows, benchmark.baseline());
    benchmarks_.push_back(std::move(benchmark));
  }
}

std::vector<std::string> Results::models() const {
  return in_order(benchmarks_, [](const Benchmark& benchmark) { return benchmark.model; });
}

std::vector<std::string> Results::datasets() const {
  return in_order(benchmarks_, [](const Benchmark& benchmark) { return benchmark.dataset; });
}

TreeDocument Results::document(const Row& row) const {
  const auto found = rows_.find(row.key);
  const Source& source = sources_.at(found->second.second);
  RowKey key = row.key;
  key.model = source.stored_names.at(key.model);
  const std::string name = fmt::format("the tree of {} on {}, seed {}", key.method, key.question, key.seed);
  return tree_from_json_text(source.store->row(key).value().document, name);
}

}  // namespace dts::eval::report
