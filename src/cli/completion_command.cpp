// `dts completion SHELL` and `dts man [COMMAND]`: for packages, and for who installs by hand. Not in the help.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "cli/command_facts.h"
#include "cli/commands.h"
#include "cli/completion.h"
#include "cli/man_page.h"
#include "cli/output.h"
#include "dts/error.h"

namespace dts::cli {
namespace {

std::string completion_for(const std::string& shell, const std::vector<CommandFacts>& commands) {
  if (shell == "bash") return bash_completion(commands);
  if (shell == "zsh") return zsh_completion(commands);
  if (shell == "fish") return fish_completion(commands);
  throw usage_error(fmt::format("SHELL is '{}': it must be one of bash, zsh, fish", shell));
}

std::string page_for(const std::string& name, const CLI::App& app, const std::vector<CommandFacts>& commands) {
  if (name.empty()) return program_page(commands, app.get_description(), app.get_footer());
  std::string known;
  for (const CommandFacts& command : commands) {
    if (command.name == name) return command_page(command);
    known += (known.empty() ? "" : ", ") + command.name;
  }
  throw usage_error(fmt::format("COMMAND is '{}': it must be one of {}", name, known));
}

}  // namespace

void add_completion_commands(CLI::App& app, int& exit_code) {
  CLI::App* completion = app.add_subcommand("completion", "completion for a shell: bash, zsh or fish");
  const auto shell = std::make_shared<std::string>();
  completion->add_option("shell", *shell, "bash, zsh or fish")->type_name("SHELL")->required();
  completion->callback([&app, &exit_code, shell] {
    write_stdout(completion_for(*shell, command_facts(app)));
    exit_code = kExitAnswered;
  });

  CLI::App* man = app.add_subcommand("man", "the manual page of the program or of a command");
  const auto name = std::make_shared<std::string>();
  man->add_option("command", *name, "a command")->type_name("COMMAND");
  man->callback([&app, &exit_code, name] {
    write_stdout(page_for(*name, app, command_facts(app)));
    exit_code = kExitAnswered;
  });
}

}  // namespace dts::cli
