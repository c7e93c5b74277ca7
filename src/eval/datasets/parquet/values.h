// A page's values, in any of the encodings, as cells.
#pragma once

#include <vector>

#include "eval/datasets/parquet/bytes.h"
#include "eval/datasets/parquet/metadata.h"
#include "eval/datasets/parquet/schema.h"
#include "eval/datasets/table.h"

namespace dts::eval::parquet {

// `count` values that are there (nulls are not stored). `dictionary` serves the dictionary encodings and may be empty
// otherwise. Throws FormatError for an encoding that does not exist for the column's type, by its name.
std::vector<DataCell> read_values(ByteReader& bytes, Encoding encoding, const TopColumn& column, std::size_t count,
                                  const std::vector<DataCell>& dictionary, Budget& budget);

}  // namespace dts::eval::parquet
