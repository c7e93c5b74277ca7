#include "cli/eval_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/output.h"
#include "text/display.h"
#include "text/numbers.h"

namespace dts::cli {
namespace {

using namespace text;

std::string percent(double share) { return fmt::format("{:.1f}", 100 * share); }

std::string range(const eval::Interval& interval) { return percent(interval.low) + " to " + percent(interval.high); }

}  // namespace

std::string plan_text(const std::string& dataset, const std::vector<PlanLine>& lines) {
  std::size_t width = 6;
  for (const PlanLine& line : lines) width = std::max(width, line.label.size());
  std::string out = dataset + "\n";
  std::size_t rows = 0;
  std::size_t there = 0;
  for (const PlanLine& line : lines) {
    const std::size_t all = line.questions * line.seeds;
    rows += all;
    there += line.there;
    out += fmt::format("  {:<{}}  {:>14} x {:>9}  {:>9}  {}\n", line.label, width,
                       counted(static_cast<std::int64_t>(line.questions), "question"),
                       counted(static_cast<std::int64_t>(line.seeds), "seed"),
                       line.there == 0     ? ""
                       : line.there == all ? "done"
                                           : fmt::format("{} done", line.there),
                       line.purpose);
  }
  return out + fmt::format("  {} rows, {} of them to make\n", grouped(static_cast<std::int64_t>(rows)),
                           grouped(static_cast<std::int64_t>(rows - there)));
}

ProgressLine::ProgressLine(const Terminal& terminal, std::size_t total, bool shown)
    : terminal_(terminal), shown_(shown), total_(total) {}

ProgressLine::~ProgressLine() {
  if (unended_) write_stderr("\n");
}

void ProgressLine::show(const eval::Row& row) {
  const std::lock_guard lock(mutex_);
  ++done_;
  score_ += row.score;
  const double now = std::chrono::duration<double>(Clock::now() - start_).count();
  const bool last = done_ >= total_;
  if (!shown_ || (!last && now - painted_ < (terminal_.interactive ? 0.1 : 10.0))) return;
  painted_ = now;
  unended_ = terminal_.interactive && !last;
  const auto done = static_cast<double>(done_);
  // Until some are done the first, which waited for the engine to fill, would speak for all.
  constexpr double kTelling = 10;  // rows, and seconds
  const double left = now / done * static_cast<double>(total_ - done_);
  const std::string when =
      last || done < kTelling || now < kTelling ? "" : fmt::format(", about {} left", seconds(left));
  const std::string line =
      fmt::format("{} of {} done{}; {:.1f}% right; at {}, seed {}", grouped(static_cast<std::int64_t>(done_)),
                  grouped(static_cast<std::int64_t>(total_)), when, 100 * score_ / done, row.key.method, row.key.seed);
  write_stderr(terminal_.interactive
                   ? "\r" + shorten(line, terminal_.size().columns - 1) + "\x1b[K" + (last ? "\n" : "")
                   : "dts: " + line + "\n");
}

TimedMethods::TimedMethods(const eval::Store& store) {
  for (const eval::StoredSettings& one : store.settings()) {
    const nlohmann::json settings = nlohmann::json::parse(one.settings, nullptr, false);
    if (settings.is_object() && settings.value("timing", false)) keys_.insert({one.model, one.dataset, one.method});
  }
}

bool TimedMethods::has(const eval::Summary& summary) const {
  return keys_.count({summary.model, summary.dataset, summary.method}) > 0;
}

std::string summary_text(const std::vector<eval::Summary>& summaries, const TimedMethods& timed) {
  std::string out;
  std::string heading;
  std::size_t width = 16;
  for (const eval::Summary& s : summaries) width = std::max(width, s.method.size());
  for (const eval::Summary& s : summaries) {
    const std::string place = fmt::format("{} on {}", s.model, s.dataset);
    if (place != heading) {
      out += fmt::format("{}{}\n{:<{}} {:>5} {:>6}  {:<14} {:<22} {:>8} {:>8} {:>7} {:>7}{}\n",
                         heading.empty() ? "" : "\n", place, "method", width, "rows", "right", "95%",
                         "against standard", "tokens", "steps", "events", "no end", timed.empty() ? "" : "  seconds");
      heading = place;
    }
    const std::string gain = s.difference ? fmt::format("{:+.1f} ({:+.1f} to {:+.1f})", 100 * s.difference->mean,
                                                        100 * s.difference->low, 100 * s.difference->high)
                                          : "";
    out +=
        fmt::format("{:<{}} {:>5} {:>6}  {:<14} {:<22} {:>8.0f} {:>8.0f} {:>7.1f} {:>6}%{}\n", s.method, width, s.rows,
                    percent(s.accuracy.mean), range(s.accuracy), gain, s.unique_tokens, s.steps, s.branch_events,
                    percent(s.unfinished.mean), timed.has(s) ? fmt::format(" {:>8.2f}", s.seconds) : "");
  }
  return out;
}

nlohmann::json summary_json(const std::vector<eval::Summary>& summaries, const TimedMethods& timed) {
  nlohmann::json all = nlohmann::json::array();
  for (const eval::Summary& s : summaries) {
    nlohmann::json out = {{"model", s.model},
                          {"dataset", s.dataset},
                          {"method", s.method},
                          {"questions", s.questions},
                          {"seeds", s.seeds},
                          {"rows", s.rows},
                          {"unique_tokens", s.unique_tokens},
                          {"branch_tokens", s.branch_tokens},
                          {"chosen_tokens", s.chosen_tokens},
                          {"steps", s.steps},
                          {"branch_events", s.branch_events},
                          {"truncated", s.truncated},
                          {"unextracted", s.unextracted}};
    if (timed.has(s)) out["seconds"] = s.seconds;
    const auto add = [&out](const std::string& name, const eval::Interval& interval) {
      out[name] = interval.mean;
      out[name + "_low"] = interval.low;
      out[name + "_high"] = interval.high;
    };
    add("accuracy", s.accuracy);
    if (s.difference) add("difference", *s.difference);
    add("flops", s.flops);
    add("unfinished", s.unfinished);
    all.push_back(std::move(out));
  }
  return all;
}

}  // namespace dts::cli
