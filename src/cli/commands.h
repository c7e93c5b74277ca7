// One function a subcommand: it adds its options to the application and, when the subcommand was given, runs it from
// CLI11's callback and leaves the exit code. Failures are thrown as dts::Error.
#pragma once

#include <CLI/CLI.hpp>

namespace dts::cli {

inline constexpr int kExitAnswered = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitUnfinished = 3;  // ended without a finished trajectory

void add_run_command(CLI::App& app, int& exit_code);
void add_compare_command(CLI::App& app, int& exit_code);
void add_serve_command(CLI::App& app, int& exit_code);
void add_eval_command(CLI::App& app, int& exit_code);
void add_grade_command(CLI::App& app, int& exit_code);
void add_report_command(CLI::App& app, int& exit_code);
void add_tree_command(CLI::App& app, int& exit_code);
void add_bench_command(CLI::App& app, int& exit_code);
void add_methods_command(CLI::App& app, int& exit_code);
void add_models_command(CLI::App& app, int& exit_code);
void add_config_command(CLI::App& app, int& exit_code);
void add_calibrate_command(CLI::App& app, int& exit_code);
void add_chat_command(CLI::App& app, int& exit_code);
// `completion` and `man`: of all commands that were added before.
void add_completion_commands(CLI::App& app, int& exit_code);

}  // namespace dts::cli
