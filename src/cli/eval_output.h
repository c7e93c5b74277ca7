// What `dts eval` shows: the plan, the progress, the summary.
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "cli/terminal.h"
#include "eval/report/metrics.h"
#include "eval/run/runner.h"
#include "eval/store/store.h"

namespace dts::cli {

// What will be run, before it is: a line for each method.
struct PlanLine {
  std::string label;
  std::string purpose;  // may be empty
  std::size_t questions = 0;
  std::size_t seeds = 0;
  std::size_t there = 0;  // rows that are in the file already
};
std::string plan_text(const std::string& dataset, const std::vector<PlanLine>& lines);

// One line that is rewritten on a terminal, and a line every few seconds in a log. Any thread.
class ProgressLine {
 public:
  ProgressLine(const Terminal& terminal, std::size_t total, bool shown);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const eval::Row& row);

 private:
  using Clock = std::chrono::steady_clock;

  const Terminal& terminal_;
  bool shown_;
  std::size_t total_;  // rows to make
  std::mutex mutex_;   // guards the rest
  std::size_t done_ = 0;
  double score_ = 0;
  double painted_ = -1e9;  // seconds since start_
  bool unended_ = false;   // the terminal's line has no end yet
  Clock::time_point start_ = Clock::now();
};

// The methods whose questions were decoded one at a time: of the others seconds say nothing and are left out.
class TimedMethods {
 public:
  TimedMethods() = default;
  explicit TimedMethods(const eval::Store& store);
  bool has(const eval::Summary& summary) const;
  bool empty() const { return keys_.empty(); }

 private:
  std::set<std::tuple<std::string, std::string, std::string>> keys_;  // model, dataset, method
};

std::string summary_text(const std::vector<eval::Summary>& summaries, const TimedMethods& timed);
nlohmann::json summary_json(const std::vector<eval::Summary>& summaries, const TimedMethods& timed);

}  // namespace dts::cli
