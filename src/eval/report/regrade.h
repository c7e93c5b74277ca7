// Rows graded again, as the grader is now, from the trees that they keep.
#pragma once

#include "dts/tree_file.h"
#include "eval/store/store.h"

namespace dts::eval::report {

// Answers and scores of all trajectories that finished, and which of them the method's vote chooses. When the search
// stopped stays as it was, even where its own votes would now count otherwise: that cannot be made good without
// decoding. Returns whether the row's score changed. A dataset we do not know stays as it is.
bool regrade(Row& row, const TreeDocument& document);

}  // namespace dts::eval::report
