// A model file with every weight expanded to single precision: the same numbers, without what an engine does for a
// quantised type.
#pragma once

#include <string>

namespace dts {

// Writes it beside the tests' other files and returns its path. Throws std::runtime_error.
std::string write_expanded_model(const std::string& path, const std::string& name);

}  // namespace dts
