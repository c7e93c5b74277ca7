// Completions for shells: commands, their options, and the words and files that options take.
#pragma once

#include <span>
#include <string>

#include "cli/command_facts.h"

namespace dts::cli {

std::string bash_completion(std::span<const CommandFacts> commands);
std::string zsh_completion(std::span<const CommandFacts> commands);
std::string fish_completion(std::span<const CommandFacts> commands);

}  // namespace dts::cli
