// Words for what is wrong with a client's schema.
#pragma once

#include <string>
#include <string_view>

namespace dts {

// Throws a usage error of one line.
[[noreturn]] void refuse_schema(const std::string& why);

// A client's value inside such a line: 'value', at most some 60 bytes of it, nothing that is not printable ASCII.
std::string shown_value(std::string_view value);

}  // namespace dts
