// Where the segments of a tree go in a picture: positions from left to right, one row a trajectory. Child 0 of a
// decision goes on in its parent's row, the others get rows below. Later forks lie nearer to the row they left, so that
// no line crosses another.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "dts/tree.h"

namespace dts::draw {

// Token positions -> pixels. Linear, but no two events closer than they need to be told apart: where they crowd, the
// scale is stretched, and the rest gives way.
class Scale {
 public:
  // `gaps`: positions that need a distance, in pixels, from the event before them.
  Scale(std::vector<std::pair<int, double>> gaps, double width);

  double at(int position) const;
  bool is_linear() const { return linear_; }
  // Round positions for the axis, in ascending order, at least `distance` pixels apart.
  std::vector<int> ticks(double distance) const;

 private:
  std::vector<int> positions_;  // ascending; the first is 0
  std::vector<double> pixels_;  // [positions_]
  bool linear_ = true;
};

struct Layout {
  Layout(const Tree& tree, double width);

  std::vector<std::size_t> row;  // [segments]
  std::size_t rows = 0;
  Scale scale;
};

}  // namespace dts::draw
