// Untrusted text inside a message of one line.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace dts::text {

// 'text' for a message of one line: control and non-UTF-8 bytes as \xNN, cut after `max_bytes` with an ellipsis.
std::string in_quotes(std::string_view text, std::size_t max_bytes = 60);

// 'a', 'b', 'c' and 75 more.
std::string list_in_quotes(std::span<const std::string> names, std::size_t max_names = 24);

}  // namespace dts::text
