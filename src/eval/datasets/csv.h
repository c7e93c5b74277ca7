// RFC 4180: comma-separated values with quoted fields that may hold commas, quotes and line ends.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "eval/datasets/table.h"

namespace dts::eval {

// The first record names the columns. Line ends are LF or CRLF, empty lines are skipped, a UTF-8 byte order mark is
// allowed. Every cell is text, as it stands. Throws Error for what RFC 4180 does not allow: a record with another
// number of fields than the header, a quote inside an unquoted field, text after a closing quote, a quote that is never
// closed (the message names the line it was opened on).
DataTable read_csv(std::string_view text, const std::string& label, std::span<const std::string> wanted);

}  // namespace dts::eval
