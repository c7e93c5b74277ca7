// What the commands and their options are, read from the definitions that parse them: completions and manual pages are
// made of it, so that they cannot say anything else.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace dts::cli {

struct OptionFacts {
  std::vector<std::string> names;  // "-m", "--model"; empty: a positional argument
  std::string value;               // "FILE"; empty: takes none
  std::string description;
  std::string group;
  std::vector<std::string> words;  // that the value may be; empty: anything
  bool file = false;               // the value is a file's name
};

struct CommandFacts {
  std::string name;
  std::string description;
  std::string footer;
  std::vector<OptionFacts> options;
};

// All commands that people should know of, in the order of the help.
std::vector<CommandFacts> command_facts(const CLI::App& app);

}  // namespace dts::cli
