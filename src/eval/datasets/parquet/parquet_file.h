// A parquet file: https://parquet.apache.org/docs/file-format/. Debian 12 has no library that reads it, so this is one:
// flat columns and lists of text, data pages of both versions, the encodings and codecs in use. Whatever else a file
// has is refused by its name.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "eval/datasets/table.h"

namespace dts::eval {

// Reads the columns of `wanted` that the file has; other columns may be of any type. Throws Error with one line naming
// the file and column for whatever is malformed, damaged or not supported. Never reads outside `bytes`; takes memory
// in proportion to the file's size, whatever the file claims.
DataTable read_parquet(std::string_view bytes, const std::string& label, std::span<const std::string> wanted);

}  // namespace dts::eval
