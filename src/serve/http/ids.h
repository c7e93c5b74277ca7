// Names for requests that nobody can guess.
#pragma once

#include <string>
#include <string_view>

namespace dts::serve {

// `prefix` and 24 random letters and digits.
std::string new_id(std::string_view prefix);

}  // namespace dts::serve
