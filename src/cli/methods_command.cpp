// `dts methods`: what --method can be.
#include <fmt/format.h>

#include <string>

#include "cli/commands.h"
#include "cli/output.h"
#include "dts/method.h"

namespace dts::cli {

void add_methods_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("methods", "list the decoding methods and where they come from");
  command->callback([&exit_code] {
    std::string text;
    for (const MethodInfo& info : methods()) {
      text += fmt::format("{:<18}{}\n{:<18}{}\n", info.name, info.summary, "", info.source);
    }
    write_stdout(text);
    exit_code = kExitAnswered;
  });
}

}  // namespace dts::cli
