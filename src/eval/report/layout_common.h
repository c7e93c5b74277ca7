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

// Marks in a column the best of the methods, whose rows begin at `first_row` in this order, and all that their paired
// difference from it, over the benchmarks' questions and seeds with the same weight for each benchmark, does not set
// apart. Nothing where only one method has a number.
void mark_best(Table& table, std::size_t first_row, std::size_t column, const std::vector<std::string>& labels,
               const std::vector<const Benchmark*>& benchmarks);
inline constexpr const char* kBestNote =
    "Bold: the best, and all whose paired difference from the best has an interval (95%) that reaches zero";

// The paper's way of writing the name of a dataset: "GPQA-D".
std::string dataset_title(const std::string& dataset);

}  // namespace dts::eval::report
