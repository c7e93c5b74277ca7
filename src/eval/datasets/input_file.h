// A whole file in memory.
#pragma once

#include <filesystem>
#include <string>

namespace dts::eval {

// The bytes of a regular file or pipe of at most 1 GiB. Throws Error for anything else: missing, a directory, a device,
// not readable, too large.
std::string read_input_file(const std::filesystem::path& file);

}  // namespace dts::eval
