// The `dts` program: parses the command line, runs one subcommand, and turns failures into one line and an exit code.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <new>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/spelling.h"
#include "cli/version_text.h"
#include "dts/error.h"
#include "engine/llama/log.h"

namespace {

using namespace dts::cli;

int run(int argc, char** argv) {
  CLI::App app("Decoding Tree Sketching: a reasoning model that thinks in parallel, without training.", "dts");
  app.set_version_flag("--version", version_text, "show the version, and what it was built with");
  app.set_help_flag("-h,--help", "show this help");
  app.formatter(help_formatter());
  app.require_subcommand(1);
  app.footer(
      "dts COMMAND --help says more about a command.\n"
      "Exit codes: 0 answered, 1 failed, 2 usage, 3 ended without a finished trajectory.");

  int exit_code = kExitFailed;
  add_run_command(app, exit_code);
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
  add_completion_commands(app, exit_code);
  for (const char* hidden : {"completion", "man"}) app.get_subcommand(hidden)->group("");

  std::vector<std::string> arguments = rewrite_arguments(argc, argv);
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
