// A page's values, in any of the encodings, as cells.
#pragma once

#include <vector>

#include "eval/parquet/bytes.h"
#include "eval/parquet/metadata.h"
#include "eval/parquet/schema.h"
#include "eval/table.h"

namespace dts::eval::parquet {

// `count` values that are there (nulls are not stored). `dictionary` serves the dictionary encodings and may be empty
// otherwise. Throws FormatError for an encoding that does not exist for the column's type, by its name.
std::vector<Cell> read_values(ByteReader& bytes, Encoding encoding, const TopColumn& column, std::size_t count,
                              const std::vector<Cell>& dictionary, Budget& budget);

}  // namespace dts::eval::parquet
