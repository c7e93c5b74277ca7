// The `dts` program: parses the command line, runs one subcommand, and turns failures into one line and an exit code.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/spelling.h"
#include "dts/error.h"
#include "dts/version.h"
#include "engine/llama/log.h"

namespace {

using namespace dts::cli;

// "dts help run" is "dts run --help". And what merely begins like a call for help is a mistake: CLI11 would take "-hx"
// for
// "-h" and something more, show the help and call it a success.
std::vector<std::string> rewrite_help(std::vector<std::string> arguments, const CLI::App& app) {
  if (!arguments.empty() && arguments.front() == "help") {
    arguments.erase(arguments.begin());
    const std::vector<const CLI::App*> commands = app.get_subcommands([](const CLI::App*) { return true; });
    const bool known = arguments.empty() || std::any_of(commands.begin(), commands.end(), [&](const CLI::App* command) {
                         return command->get_name() == arguments.front();
                       });
    if (known) arguments.emplace_back("--help");  // else what is there is refused by its name
  }
  for (std::size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    const std::string& argument = arguments[i];
    // Short flags that stand together, one of them -h.
    const bool bundle = argument.size() > 2 && argument[0] == '-' && argument[1] != '-' &&
                        argument.find_first_not_of("vq", 1) == argument.find('h', 1) &&
                        argument.find('h', 1) != std::string::npos;
    const bool value_of_text =
        i > 0 && (arguments[i - 1] == "-p" || arguments[i - 1] == "--prompt" || arguments[i - 1] == "--system" ||
                  arguments[i - 1] == "--stop" || arguments[i - 1] == "--title" || arguments[i - 1] == "--expect");
    if ((bundle || argument.starts_with("--help=")) && !value_of_text) {
      throw dts::usage_error(fmt::format("unknown option '{}': -h and --help stand alone", argument));
    }
  }
  return arguments;
}

int run(int argc, char** argv) {
  CLI::App app("Decoding Tree Sketching: a reasoning model that thinks in parallel, without training.", "dts");
  app.set_version_flag("--version", fmt::format("dts {}", dts::kVersion), "show the version");
  app.set_help_flag("-h,--help", "show this help");
  app.formatter(help_formatter());
  app.require_subcommand(1);
  app.footer(
      "dts help COMMAND says more about a command.\n"
      "Exit codes: 0 answered, 1 failed, 2 usage, 3 ended without a finished trajectory.");

  int exit_code = kExitFailed;
  add_run_command(app, exit_code);
  add_compare_command(app, exit_code);
  add_serve_command(app, exit_code);
  add_eval_command(app, exit_code);
  add_grade_command(app, exit_code);
  add_report_command(app, exit_code);
  add_tree_command(app, exit_code);
  add_bench_command(app, exit_code);
  add_methods_command(app, exit_code);
  for (CLI::App* command : app.get_subcommands({})) {
    command->group("Commands");
    command->get_help_ptr()->group("");  // -h says nothing that its own help should repeat
  }

  std::vector<std::string> arguments = rewrite_help(rewrite_arguments(argc, argv), app);
  std::reverse(arguments.begin(), arguments.end());  // the order CLI11 takes them in
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    return write_stdout(app.help()), kExitAnswered;
  } catch (const CLI::CallForVersion& version) {
    return write_stdout(std::string(version.what()) + "\n"), kExitAnswered;
  } catch (const CLI::ParseError& error) {
    print_error(explain(error, app));
    return kExitUsage;
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
