// Undoing a page's compression.
#pragma once

#include <cstdint>
#include <vector>

#include "eval/datasets/parquet/bytes.h"
#include "eval/datasets/parquet/metadata.h"

namespace dts::eval::parquet {

// The page's bytes before compression: exactly `size` of them, charged to the budget before they are allocated. Throws
// FormatError for a codec that is not supported (LZO, BROTLI, LZ4 with Hadoop's frames), by its name.
std::vector<std::uint8_t> decompress(Codec codec, Bytes compressed, std::size_t size, Budget& budget);

}  // namespace dts::eval::parquet
