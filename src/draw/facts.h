// What the drawings have to know of a tree beyond its segments.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "dts/tree_file.h"

namespace dts::draw {

// The distribution that a decision token was taken from.
struct Decision {
  float entropy = 0;
  float varentropy = 0;
};

struct Facts {
  explicit Facts(const TreeDocument& document);

  std::vector<bool> best;                         // [segments] part of the trajectory that was returned
  std::vector<int> leaves;                        // [segments] trajectories that go through it
  std::vector<std::optional<std::size_t>> trace;  // [segments] index into outcome.finished, for finished leaves
  std::vector<std::optional<Decision>> decision;  // [segments] where it split
  std::size_t longest = 0;                        // tokens of the longest trajectory
  std::size_t finished = 0, exhausted = 0, retired = 0, cut = 0, live = 0;  // leaves by state

  std::size_t trajectories() const { return finished + exhausted + retired + cut + live; }
};

}  // namespace dts::draw
