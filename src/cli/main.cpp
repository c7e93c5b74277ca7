// The `dts` program: parses the command line, runs one subcommand, and turns failures into one line and an exit code.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/spelling.h"
#include "cli/standing_settings.h"
#include "cli/version_text.h"
#include "dts/error.h"
#include "engine/llama/log.h"

namespace {

using namespace dts::cli;

// "dts help run" is "dts run --help".
std::vector<std::string> rewrite_help(std::vector<std::string> arguments, const CLI::App& app) {
  if (arguments.empty() || arguments.front() != "help") return arguments;
  arguments.erase(arguments.begin());
  const std::vector<const CLI::App*> commands = app.get_subcommands([](const CLI::App*) { return true; });
  const bool known = arguments.empty() || std::any_of(commands.begin(), commands.end(), [&](const CLI::App* command) {
                       return command->get_name() == arguments.front();
                     });
  if (known) arguments.emplace_back("--help");  // else what is there is refused by its name
  return arguments;
}

int run(int argc, char** argv) {
  CLI::App app("Decoding Tree Sketching: a reasoning model that thinks in parallel, without training.", "dts");
  app.set_version_flag("--version", version_text, "show the version, and what it was built with");
  app.set_help_flag("-h,--help", "show this help");
  app.formatter(help_formatter());
  app.require_subcommand(1);
  app.footer(
      "dts help COMMAND says more about a command; dts config what is in effect without being said. dts --config FILE\n"
      "COMMAND ... takes that file of settings.\n"
      "Exit codes: 0 answered, 1 failed, 2 usage, 3 ended without a finished trajectory.");

  int exit_code = kExitFailed;
  add_run_command(app, exit_code);
  add_compare_command(app, exit_code);
  add_chat_command(app, exit_code);
  add_serve_command(app, exit_code);
  add_eval_command(app, exit_code);
  add_grade_command(app, exit_code);
  add_report_command(app, exit_code);
  add_tree_command(app, exit_code);
  add_bench_command(app, exit_code);
  add_methods_command(app, exit_code);
  add_models_command(app, exit_code);
  add_calibrate_command(app, exit_code);
  add_config_command(app, exit_code);
  for (CLI::App* command : app.get_subcommands({})) {
    command->group("Commands");
    command->get_help_ptr()->group("");  // -h says nothing that its own help should repeat
  }
  add_completion_commands(app, exit_code);
  for (const char* hidden : {"completion", "man"}) app.get_subcommand(hidden)->group("");

  std::vector<std::string> arguments = rewrite_help(rewrite_arguments(argc, argv), app);
  const StandingSources sources = find_sources(arguments, [](const char* name) { return std::getenv(name); });
  const std::string mistaken = mistaken_for_help(arguments);
  const bool help = mistaken.empty() && asks_for_help(arguments);
  std::vector<StandingSetting> settings;
  const CLI::App* command = command_of(app, arguments);
  if (command != nullptr && !help) settings = standing_settings(app, *command, arguments, sources);
  std::vector<std::string> all = with_settings(arguments, settings);
  std::reverse(all.begin(), all.end());  // the order CLI11 takes them in
  try {
    app.parse(std::move(all));
  } catch (const CLI::CallForHelp&) {
    if (!mistaken.empty()) {
      print_error(fmt::format("unknown option '{}': see dts --help", mistaken));
      return kExitUsage;
    }
    return write_stdout(app.help()), kExitAnswered;
  } catch (const CLI::CallForVersion& version) {
    return write_stdout(std::string(version.what()) + "\n"), kExitAnswered;
  } catch (const CLI::ParseError& error) {
    print_error(with_origin(explain(error, app), arguments, settings));
    return kExitUsage;
  } catch (const dts::Error& error) {
    print_error(with_origin(error.spelled(flag_of), arguments, settings));
    return error.kind() == dts::Error::Kind::kUsage ? kExitUsage : kExitFailed;
  }
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  ignore_broken_pipes();
  dts::exit_when_llama_aborts();
  try {
    return run(argc, argv);
  } catch (const dts::Error& error) {
    print_error(error.spelled(flag_of));
    return error.kind() == dts::Error::Kind::kUsage ? kExitUsage : kExitFailed;
  } catch (const std::bad_alloc&) {
    print_error("out of memory");
    return kExitFailed;
  } catch (const std::exception& error) {
    print_error(error.what());
    return kExitFailed;
  }
}
