// How a report writes its numbers: one place for all that people read.
#pragma once

#include <string>

#include "eval/report/document.h"

namespace dts::eval::report {

// A unit in which the column's numbers have few digits before the point: {1e9, "GFLOP"}.
struct FlopsUnit {
  double size = 1e15;
  std::string name = "PFLOP";
};
FlopsUnit flops_unit(double largest);  // FLOP
FlopsUnit flops_unit(const Table& table, std::size_t column);

// The title with its unit, where the unit depends on the numbers.
std::string column_title(const Table& table, std::size_t column);

// The mean alone, "61.7", and its interval, "55.0 to 68.3"; empty for text and for cells that have none.
struct CellText {
  std::string value;
  std::string range;
  std::string low, high;  // the range's ends
};
CellText cell_text(const Table& table, std::size_t column, const Cell& cell);

// Columns that say something in this table: names that are the same in every row do not, unless there is one row only.
std::vector<std::size_t> telling_columns(const Table& table);

}  // namespace dts::eval::report
