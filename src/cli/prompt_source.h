// Where the question comes from: an argument, -p, -f FILE or standard input.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace dts::cli {

struct PromptSource {
  std::optional<std::string> argument;  // the positional one
  std::optional<std::string> text;      // -p, --prompt
  std::optional<std::string> file;      // -f, --file; "-" is standard input
};

// No context is as long as this; a larger input is a mistake and is not read further.
inline constexpr std::size_t kMaxPromptBytes = std::size_t{8} << 20U;

// Reads the one source that is given; without any, standard input when it is no terminal. A final line end is dropped.
// Throws a usage error when there is none, more than one, an empty prompt or invalid UTF-8 (naming the byte), and a
// failure when the file cannot be read.
std::string read_prompt(const PromptSource& source);

}  // namespace dts::cli
