// What the sections share.
#pragma once

#include <string>
#include <vector>

#include "eval/report/document.h"
#include "eval/report/results.h"

namespace dts::eval::report {

// A table whose rows are about a model on a dataset: `columns` come after those two.
Table place_table(std::string key, std::string caption, const std::vector<Column>& columns);
void add_row(Table& table, const Benchmark& benchmark, std::vector<Cell> cells);

// "model, dataset", without what all of them have in common.
std::string place_name(const Results& results, const Benchmark& benchmark);

// The command that makes the rows of these methods for a benchmark of the results; for one to be had, when there is
// none.
std::string command_for(const Results& results, const std::string& arguments);

// Marks the highest of the rows' cells in a column, and those equal to it.
void mark_best(Table& table, std::size_t first_row, std::size_t column);

}  // namespace dts::eval::report
