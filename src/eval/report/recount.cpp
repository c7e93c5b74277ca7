#include "eval/report/recount.h"

#include <fmt/format.h>

#include <algorithm>

namespace dts::eval::report {
namespace {

class RowCheck {
 public:
  RowCheck(const Row& row, std::vector<std::string>& differences) : row_(row), differences_(differences) {}

  template <typename A, typename B>
  void expect(const char* name, const A& stored, const B& counted) {
    if (stored == counted) return;
    const RowKey& key = row_.key;
    differences_.push_back(fmt::format("{}, {}, {}, seed {}, {}: {} is {}, but its tree has {}", key.model, key.dataset,
                                       key.method, key.seed, key.question, name, stored, counted));
  }

 private:
  const Row& row_;
  std::vector<std::string>& differences_;
};

void check(const Row& row, const TreeDocument& document, std::vector<std::string>& differences) {
  RowCheck check(row, differences);
  const Tree& tree = document.tree;
  const Outcome& outcome = document.outcome;
  std::int64_t unique = 0;
  std::int64_t over_all_branches = 0;
  int exhausted = 0;
  int finished = 0;
  int splits = 0;
  for (const Segment& segment : tree.segments()) {
    unique += static_cast<std::int64_t>(segment.tokens.size());
    if (segment.state == SegmentState::kSplit) {
      ++splits;
      continue;
    }
    over_all_branches += segment.end();
    exhausted += segment.state == SegmentState::kExhausted ? 1 : 0;
    finished += segment.state == SegmentState::kFinished ? 1 : 0;
  }
  check.expect("unique_tokens", row.unique_tokens, unique);
  check.expect("branch_tokens", row.branch_tokens, over_all_branches);
  check.expect("branch_events", row.branch_events, splits);
  check.expect("exhausted", row.exhausted, exhausted);
  check.expect("votes", row.votes, finished);
  check.expect("prompt_tokens", row.prompt_tokens, static_cast<std::int64_t>(document.prompt_tokens.size()));
  check.expect("finished", row.finished, finished > 0);
  check.expect("steps", row.steps, outcome.account.steps);
  check.expect("reason", row.reason, std::string(to_string(outcome.reason)));
  check.expect("traces", row.traces.size(), outcome.finished.size());
  for (std::size_t i = 0; i < std::min(row.traces.size(), outcome.finished.size()); ++i) {
    check.expect("a trace's length", row.traces[i].length, tree.segment(outcome.finished[i].leaf).end());
    check.expect("a trace's answer", row.traces[i].answer, outcome.finished[i].answer);
  }
  if (outcome.winner && row.traces.size() == outcome.finished.size()) {
    const TraceResult& winner = row.traces[*outcome.winner];
    check.expect("chosen_tokens", row.chosen_tokens, winner.length);
    check.expect("answer", row.answer, winner.answer);
    check.expect("score", row.score, winner.score);
  }
}

}  // namespace

Recount recount(const Results& results) {
  Recount out;
  const auto check_all = [&](const MethodResults& method) {
    for (const Row* row : method.rows) {
      check(*row, results.document(*row), out.differences);
      ++out.rows;
    }
  };
  for (const Benchmark& benchmark : results.benchmarks()) {
    for (const MethodResults& method : benchmark.methods) check_all(method);
    check_all(benchmark.samples);
  }
  return out;
}

}  // namespace dts::eval::report
