#include "engine/llama/step_runs.h"

#include <algorithm>
#include <limits>

namespace dts {

std::span<const std::size_t> RunCutter::cut(std::span<const int> cells) {
  ends_.clear();
  if (cells.empty()) return ends_;
  const std::size_t rows = cells.size();
  const auto [least, most] = std::minmax_element(cells.begin(), cells.end());
  // Not even the ideal cut would save what another evaluation costs.
  if (static_cast<double>(*most - *least) * costs_.cell * static_cast<double>(rows) <= costs_.evaluation) {
    ends_.push_back(rows);
    return ends_;
  }
  best_.assign(rows + 1, std::numeric_limits<double>::infinity());
  from_.assign(rows + 1, 0);
  best_[0] = 0;
  for (std::size_t end = 1; end <= rows; ++end) {
    int longest = 0;
    for (std::size_t begin = end; begin-- > 0;) {
      longest = std::max(longest, cells[begin]);
      const std::size_t size = end - begin;
      const bool whole = end == rows || size % costs_.quantum == 0;
      if ((!whole || size < costs_.least) && size != rows) continue;
      const double cost =
          best_[begin] + costs_.evaluation + static_cast<double>(longest) * costs_.cell * static_cast<double>(size);
      if (cost < best_[end]) {
        best_[end] = cost;
        from_[end] = begin;
      }
    }
  }
  for (std::size_t end = rows; end > 0; end = from_[end]) ends_.push_back(end);
  std::reverse(ends_.begin(), ends_.end());
  return ends_;
}

}  // namespace dts
