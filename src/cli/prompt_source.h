// Where the question comes from: an argument, -p, -f FILE or standard input; or the built-in model's own problems.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "cli/example.h"

namespace CLI {
class App;
}

namespace dts::cli {

struct PromptSource {
  std::optional<std::string> argument;  // the positional one
  std::optional<std::string> text;      // -p, --prompt
  std::optional<std::string> file;      // -f, --file; "-" is standard input
  std::optional<int> example;           // --example
};

// The flags for all of them. `source` must outlive the app. `about_example` is what its help says.
void add_prompt_options(CLI::App& app, PromptSource& source, const std::string& about_example);

// No context is as long as this; a larger input is a mistake and is not read further.
inline constexpr std::size_t kMaxPromptBytes = std::size_t{8} << 20U;

// Reads the one source that is given; without any, standard input when it is no terminal. A final line end is dropped.
// Throws a usage error when there is none, more than one, an empty prompt or invalid UTF-8 (naming the byte), and a
// failure when the file cannot be read.
std::string read_prompt(const PromptSource& source);

// The problem that --example asks for; none: it does not. Throws a usage error when there is a prompt beside it.
std::optional<Example> choose_example(const PromptSource& source);

}  // namespace dts::cli
