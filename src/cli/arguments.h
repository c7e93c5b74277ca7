// Between CLI11 and us: values with errors that say what would be right, help that reads well, and the nearest name for
// a mistyped one.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dts/error.h"

namespace dts::cli {

// Throw a usage error that names `flag` and `value`. Numbers may be "nan", "inf" or out of range: whoever knows the
// range checks it.
double parse_number(std::string_view flag, const std::string& value);
std::int64_t parse_integer(std::string_view flag, const std::string& value, std::int64_t least,
                           std::int64_t most = std::numeric_limits<int>::max());

// An option whose value goes through `set` as text. `names` as CLI11 has them ("-n,--predict"); errors of the parse
// functions above should name the long one. Given twice, the last one counts.
CLI::Option* add_value(CLI::App& app, const std::string& names, const std::string& value_name,
                       const std::string& description, const std::function<void(const std::string&)>& set);

// An option that takes one of a few words.
template <typename T>
CLI::Option* add_choice(CLI::App& app, const std::string& name, T& target,
                        std::vector<std::pair<std::string, T>> choices, const std::string& description) {
  std::string words;
  for (const auto& [word, value] : choices) words += (words.empty() ? "" : "|") + word;
  return add_value(app, name, words, description, [=, &target](const std::string& text) {
    for (const auto& [word, value] : choices) {
      if (text == word) return static_cast<void>(target = value);
    }
    throw usage_error(name + " is '" + text + "': it must be one of " + words);
  });
}

// llama.cpp's "-ngl" is a short name of three letters, which CLI11 would read as "-n gl".
std::vector<std::string> rewrite_arguments(int argc, const char* const* argv);

// CLI11 reads "-hx" as "-h x" and calls for help. The argument that nobody meant as such; empty: help was asked for.
bool asks_for_help(const std::vector<std::string>& arguments);
std::string mistaken_for_help(const std::vector<std::string>& arguments);

// What was wrong with the command line, on one line, with the nearest name that exists.
std::string explain(const CLI::ParseError& error, const CLI::App& app);

// Groups, an aligned column and lines no longer than 100 characters.
std::shared_ptr<CLI::FormatterBase> help_formatter();

}  // namespace dts::cli
