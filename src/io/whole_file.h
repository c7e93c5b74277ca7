// Files read and written whole.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dts {

// The bytes of a file; "-" is standard input. Throws dts::Error naming the file when it is no readable file or holds
// more than `max_bytes`.
std::string read_whole_file(const std::string& path, std::size_t max_bytes);

// Puts `contents` where `path` says; "-" is standard output, where a reader that has gone is no error. A regular file
// appears complete or not at all: it is written beside its place and renamed into it, so that a failure (a full disk)
// leaves what was there. Devices and pipes are written to directly. Throws dts::Error naming the file.
void write_whole_file(const std::string& path, std::string_view contents);

}  // namespace dts
