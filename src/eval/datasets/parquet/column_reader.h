// One column of one row group: its pages, its levels and its values put together.
#pragma once

#include <vector>

#include "eval/datasets/parquet/bytes.h"
#include "eval/datasets/parquet/metadata.h"
#include "eval/datasets/parquet/schema.h"
#include "eval/datasets/table.h"

namespace dts::eval::parquet {

// Appends the row group's `num_rows` cells to `cells`. `file` is the whole file. Throws FormatError.
void read_column_chunk(Bytes file, const ColumnChunk& chunk, const TopColumn& column, std::size_t num_rows,
                       Budget& budget, std::vector<DataCell>& cells);

}  // namespace dts::eval::parquet
