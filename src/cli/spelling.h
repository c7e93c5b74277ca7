// What the command line calls the options that the library's errors name.
#pragma once

#include <string>
#include <string_view>

namespace dts::cli {

// "max_tokens" -> "--predict", "context_length" -> "--ctx-size"; what has no name of its own: "branch_k" ->
// "--branch-k".
std::string flag_of(std::string_view option);

}  // namespace dts::cli
