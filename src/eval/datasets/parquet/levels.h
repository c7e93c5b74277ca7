// Packed integers: runs and bit-packing (levels, dictionary indices) and deltas.
#pragma once

#include <cstdint>
#include <vector>

#include "eval/datasets/parquet/bytes.h"

namespace dts::eval::parquet {

// `count` numbers of `bit_width` <= 32 bits in parquet's hybrid of runs and bit-packed groups.
std::vector<std::uint32_t> read_rle(ByteReader& bytes, unsigned bit_width, std::size_t count, Budget& budget);

// DELTA_BINARY_PACKED: as many numbers as its header says, at most `max_count`. Arithmetic wraps at 64 bits, as it is
// defined to. Leaves `bytes` behind the last block.
std::vector<std::int64_t> read_deltas(ByteReader& bytes, std::size_t max_count, Budget& budget);

// Bits needed for numbers up to `max`: 0 for 0.
unsigned bit_width_of(std::uint32_t max);

}  // namespace dts::eval::parquet
