// Trees as a search would grow them, made without one: deterministic, of any shape, for tests of files and drawings.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dts/tree_file.h"

namespace dts::test {

struct SyntheticShape {
  std::uint64_t seed = 1;
  int roots = 1;                // trajectories that start
  int branches = 12;            // cap of live branches
  int k = 3;                    // children of a decision
  int decision_every = 12;      // tokens between decisions of a branch, on average
  int first_decision = 4;       // no decision before this position
  int last_decision = 1 << 30;  // nor from this one on
  bool straggler = false;       // the first trajectory never finishes
  int shortest = 30;            // tokens before a trajectory may finish
  int finish_every = 40;        // tokens it then takes on average
  int max_tokens = 200;         // budget of a trajectory
  int stop_after = 8;           // finished trajectories
  bool finishes = true;         // false: nothing ever finishes
  int steps = 100000;           // cut after this many
  double trunk = 0;             // 0..1: how likely only a branch's first child may split again (deep, narrow trees)
  std::string hostile;          // mixed into texts, answers and names
};

TreeDocument synthetic_tree(const SyntheticShape& shape);

// The two-level tree that golden tests show in full.
TreeDocument small_tree();

// A text of everything that could break out of a document.
extern const std::string kHostileText;

}  // namespace dts::test
