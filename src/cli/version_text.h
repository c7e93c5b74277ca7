// What `dts --version` says.
#pragma once

#include <string>

namespace dts::cli {

// The version, and below it what it was built with and what this CPU is used for; several lines.
std::string version_text();

}  // namespace dts::cli
