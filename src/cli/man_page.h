// Manual pages, one a command and one for the program, in the language of man(7).
#pragma once

#include <span>
#include <string>

#include "cli/command_facts.h"

namespace dts::cli {

std::string program_page(std::span<const CommandFacts> commands, const std::string& description,
                         const std::string& footer);
std::string command_page(const CommandFacts& command);

}  // namespace dts::cli
