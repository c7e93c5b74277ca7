// Counts the figures of every row again from its tree: a results file can be checked without the model.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "eval/report/results.h"

namespace dts::eval::report {

struct Recount {
  std::size_t rows = 0;
  std::vector<std::string>
      differences;  // one line for each: which row, which figure, what it says and what the tree says
};

// Throws dts::Error for a tree that cannot be read.
Recount recount(const Results& results);

}  // namespace dts::eval::report
