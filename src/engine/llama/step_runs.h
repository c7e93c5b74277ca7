// Where to cut the rows of a step into evaluations of the model.
//
// One evaluation attends, for every row, to as many cells as its longest row has: a trajectory of 8,000 tokens makes
// fifty of 200 as dear as itself. Another evaluation reads the weights again. What is cheaper depends on both.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace dts {

struct RunCosts {
  double evaluation = 0;    // bytes read for an evaluation, whatever it attends to: the weights
  double cell = 0;          // bytes read for one row's attention to one cell
  std::size_t quantum = 1;  // a run must have a multiple of it in rows, but for the last
  std::size_t least = 1;    // and as many as this
};

class RunCutter {
 public:
  explicit RunCutter(const RunCosts& costs = {}) : costs_(costs) {}

  // `cells`: what each row attends to, in the order of the rows. The ends of the runs that cost least in all; the last
  // is cells.size(). Valid until the next call. O(rows^2) where lengths differ enough, O(rows) where they do not.
  std::span<const std::size_t> cut(std::span<const int> cells);

 private:
  RunCosts costs_;
  // Reused from step to step.
  std::vector<double> best_;       // [rows + 1]: the least cost of that many first rows
  std::vector<std::size_t> from_;  // [rows + 1]: where the last of their runs begins
  std::vector<std::size_t> ends_;
};

}  // namespace dts
