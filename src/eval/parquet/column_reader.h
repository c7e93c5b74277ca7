// One column of one row group: its pages, its levels and its values put together.
#pragma once

#include <vector>

#include "eval/parquet/bytes.h"
#include "eval/parquet/metadata.h"
#include "eval/parquet/schema.h"
#include "eval/table.h"

namespace dts::eval::parquet {

// Appends the row group's `num_rows` cells to `cells`. `file` is the whole file. Throws FormatError.
void read_column_chunk(Bytes file, const ColumnChunk& chunk, const TopColumn& column, std::size_t num_rows,
                       Budget& budget, std::vector<Cell>& cells);

}  // namespace dts::eval::parquet
