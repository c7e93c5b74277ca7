// `dts methods`: what --method can be.
#include <fmt/format.h>

#include <string>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/spelling.h"
#include "dts/method.h"
#include "dts/options.h"

namespace dts::cli {
namespace {

// Those that are its own: budgets, sampling and the seed go with every method.
std::string flags_of(std::string_view method) {
  std::string text;
  for (const OptionInfo* option : options_of(method)) {
    if (option->of_variants()) text += (text.empty() ? "" : " ") + flag_of(option->name);
  }
  return text.empty() ? "no options of its own" : text;
}

}  // namespace

void add_methods_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("methods", "list the decoding methods and where they come from");
  command->callback([&exit_code] {
    std::string text;
    for (const MethodInfo& info : methods()) {
      text += fmt::format("{:<18}{}\n{:<18}{}\n{:<18}{}\n", info.name, info.summary, "", info.source, "",
                          flags_of(info.name));
    }
    text += "All take the options of sampling and budgets, and a seed: dts run --help.\n";
    write_stdout(text);
    exit_code = kExitAnswered;
  });
}

}  // namespace dts::cli
