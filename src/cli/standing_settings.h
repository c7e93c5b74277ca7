// What is in effect without being said each time: options from a file and from the environment, beneath the command
// line. Order: command line > profile > environment > file > default.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace dts::cli {

// One option that was set somewhere else than on the command line.
struct StandingSetting {
  std::string flag;  // "--tau-h"
  std::vector<std::string> values;
  std::string origin;  // "/home/a/.config/dts/config.toml:3", "DTS_TAU_H"
};

struct StandingSources {
  std::string file;  // TOML; empty: none
  bool must_exist = false;
  std::function<const char*(const char*)> environment;  // null: not set
};

// Where the file is: --config (taken out of `arguments`), DTS_CONFIG, else $XDG_CONFIG_HOME/dts/config.toml or
// ~/.config/dts/config.toml, which need not exist.
StandingSources find_sources(std::vector<std::string>& arguments,
                             const std::function<const char*(const char*)>& environment);

// What `command` (a subcommand of `app`) gets, the weakest first. A name that no command has is refused with the file
// and the line, and the nearest that one has. `arguments` decide between options of which one excludes the other, and
// name the profile.
std::vector<StandingSetting> standing_settings(const CLI::App& app, const CLI::App& command,
                                               const std::vector<std::string>& arguments,
                                               const StandingSources& sources);

// `arguments` with those settings in front, where what follows overrules them.
std::vector<std::string> with_settings(const std::vector<std::string>& arguments,
                                       const std::vector<StandingSetting>& settings);

// Where the option that `error` begins with was set: "FILE:3: --tau-h is ...". The text itself when it was on the
// command line.
std::string with_origin(const std::string& error, const std::vector<std::string>& arguments,
                        const std::vector<StandingSetting>& settings);

// The subcommand that `arguments` begin with; null: none.
const CLI::App* command_of(const CLI::App& app, const std::vector<std::string>& arguments);

// "--tau-h" -> "DTS_TAU_H"
std::string variable_of(const std::string& flag);

// Options that can stand in a file or in the environment, by their long names: not what belongs to one call, as a
// prompt does.
std::vector<const CLI::Option*> standing_options(const CLI::App& command);

}  // namespace dts::cli
