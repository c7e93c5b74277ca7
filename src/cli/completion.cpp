#include "cli/completion.h"

#include <fmt/format.h>

#include <string_view>

namespace dts::cli {
namespace {

std::string joined(std::span<const std::string> words, std::string_view between) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : std::string(between)) + word;
  return all;
}

// Inside single quotes of bash and zsh.
std::string in_quotes(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c == '\n' ? ' ' : c);
  return out;
}

// Inside zsh's [description], within single quotes.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : in_quotes(text)) {
    if (c == '[' || c == ']' || c == ':') out += '\\';
    out += c;
  }
  return out;
}

std::string fish_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string bash_values(const OptionFacts& option) {
  if (!option.words.empty())
    return fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$cur\"))", joined(option.words, " "));
  // compopt: names with blanks are quoted, folders get their slash.
  if (option.file) return "compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- \"$cur\"))";
  return "COMPREPLY=()";
}

std::string bash_command(const CommandFacts& command) {
  std::string values;
  std::vector<std::string> names;
  for (const OptionFacts& option : command.options) {
    for (const std::string& name : option.names) {
      if (name.starts_with("--")) names.push_back(name);
    }
    if (option.value.empty() || option.names.empty()) continue;
    values += fmt::format("        {}) {}; return ;;\n", joined(option.names, "|"), bash_values(option));
  }
  return fmt::format(
      "    {})\n"
      "      case $prev in\n"
      "{}"
      "      esac\n"
      "      case $cur in\n"
      "        -*) COMPREPLY=($(compgen -W '{}' -- \"$cur\")) ;;\n"
      "        *) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- \"$cur\")) ;;\n"
      "      esac ;;\n",
      command.name, values, joined(names, " "));
}

std::string zsh_option(const OptionFacts& option) {
  if (option.names.empty()) return {};
  std::string value;
  if (!option.words.empty()) {
    value = fmt::format(":value:({})", in_quotes(joined(option.words, " ")));
  } else if (option.file) {
    value = ":file:_files";
  } else if (!option.value.empty()) {
    value = ":value: ";
  }
  std::string lines;
  const std::string others = option.names.size() > 1 ? "(" + joined(option.names, " ") + ")" : "";
  for (const std::string& name : option.names) {
    lines += fmt::format("        '{}{}[{}]{}' \\\n", others, name, zsh_text(option.description), value);
  }
  return lines;
}

}  // namespace

std::string bash_completion(std::span<const CommandFacts> commands) {
  std::string names;
  std::string cases;
  for (const CommandFacts& command : commands) {
    names += (names.empty() ? "" : " ") + command.name;
    cases += bash_command(command);
  }
  return fmt::format(
      "# Completion of dts for bash, made by `dts completion bash`.\n"
      "_dts() {{\n"
      "  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}}\n"
      "  COMPREPLY=()\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W '{} --help --version' -- \"$cur\"))\n"
      "    return\n"
      "  fi\n"
      "  case ${{COMP_WORDS[1]}} in\n"
      "{}"
      "  esac\n"
      "}}\n"
      "complete -F _dts dts\n",
      names, cases);
}

std::string zsh_completion(std::span<const CommandFacts> commands) {
  std::string names;
  std::string cases;
  for (const CommandFacts& command : commands) {
    names += fmt::format("    '{}:{}'\n", command.name, zsh_text(command.description));
    std::string options;
    for (const OptionFacts& option : command.options) options += zsh_option(option);
    cases += fmt::format("    {})\n      _arguments -s \\\n{}        '*:argument:_files' ;;\n", command.name, options);
  }
  return fmt::format(
      "#compdef dts\n"
      "# Completion of dts for zsh, made by `dts completion zsh`.\n"
      "_dts() {{\n"
      "  local -a commands\n"
      "  commands=(\n"
      "{}"
      "  )\n"
      "  if (( CURRENT == 2 )); then\n"
      "    _describe 'command' commands\n"
      "    return\n"
      "  fi\n"
      "  local command=$words[2]\n"
      "  shift words\n"
      "  (( CURRENT-- ))\n"
      "  case $command in\n"
      "{}"
      "  esac\n"
      "}}\n"
      "_dts \"$@\"\n",
      names, cases);
}

std::string fish_completion(std::span<const CommandFacts> commands) {
  std::string out =
      "# Completion of dts for fish, made by `dts completion fish`.\n"
      "complete -c dts -n __fish_use_subcommand -l help -s h -d 'show this help' -f\n"
      "complete -c dts -n __fish_use_subcommand -l version -d 'show the version' -f\n";
  for (const CommandFacts& command : commands) {
    out += fmt::format("complete -c dts -n __fish_use_subcommand -a {} -d '{}' -f\n", command.name,
                       fish_text(command.description));
    for (const OptionFacts& option : command.options) {
      if (option.names.empty()) continue;
      std::string line = fmt::format("complete -c dts -n '__fish_seen_subcommand_from {}'", command.name);
      for (const std::string& name : option.names) {
        const bool is_long = name.starts_with("--");
        const bool is_letter = name.size() == 2;
        line += fmt::format(" {} {}", is_long ? "-l" : is_letter ? "-s" : "-o", name.substr(is_long ? 2 : 1));
      }
      if (!option.words.empty()) {
        line += fmt::format(" -x -a '{}'", fish_text(joined(option.words, " ")));
      } else if (option.file) {
        line += " -r -F";
      } else if (!option.value.empty()) {
        line += " -x";
      }
      out += fmt::format("{} -d '{}'\n", line, fish_text(option.description));
    }
  }
  return out;
}

}  // namespace dts::cli
