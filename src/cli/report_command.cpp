// `dts report`: the paper's tables and figures from results of `dts eval`.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "dts/error.h"
#include "eval/report/layout.h"
#include "eval/report/recount.h"
#include "eval/report/render.h"
#include "eval/report/results.h"
#include "io/whole_file.h"
#include "text/display.h"
#include "text/numbers.h"

namespace dts::cli {
namespace {

using namespace text;

namespace report = eval::report;

enum class ReportFormat { kByName, kHtml, kMarkdown, kCsv, kJson };

struct ReportFlags {
  std::vector<std::string> files;
  std::string output = "-";
  ReportFormat format = ReportFormat::kByName;
  report::LayoutOptions layout;
  bool check = false;
  bool regrade = false;
};

// What the output's name says, else Markdown: it reads well on a terminal.
ReportFormat format_of(const ReportFlags& flags) {
  if (flags.format != ReportFormat::kByName) return flags.format;
  const std::string extension = std::filesystem::path(flags.output).extension().string();
  if (extension == ".html" || extension == ".htm") return ReportFormat::kHtml;
  if (extension == ".csv") return ReportFormat::kCsv;
  if (extension == ".json") return ReportFormat::kJson;
  return ReportFormat::kMarkdown;
}

std::string render(const report::Report& made, ReportFormat format) {
  switch (format) {
    case ReportFormat::kHtml:
      return to_html(made);
    case ReportFormat::kMarkdown:
      return to_markdown(made);
    case ReportFormat::kCsv:
      return to_csv(made);
    case ReportFormat::kJson:
    case ReportFormat::kByName:
      break;
  }
  return to_json(made);
}

int check_rows(const report::Results& results) {
  constexpr std::size_t kShown = 20;
  const report::Recount again = recount(results);
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, again.differences.size()); ++i) {
    text += one_line(again.differences[i]) + "\n";
  }
  write_stdout(text);
  if (again.differences.empty()) {
    write_stdout(fmt::format("{} counted again from their trees: all agree\n",
                             counted(static_cast<std::int64_t>(again.rows), "row")));
    return kExitAnswered;
  }
  throw Error(fmt::format("{} of {} do not agree with their trees",
                          counted(static_cast<std::int64_t>(again.differences.size()), "figure"),
                          counted(static_cast<std::int64_t>(again.rows), "row")));
}

int make_report(const ReportFlags& flags) {
  const report::Results results(flags.files, flags.regrade);
  if (results.rows() == 0) {
    throw Error(fmt::format("{}: has no results yet; dts eval makes them", flags.files.front()));
  }
  if (flags.check) return check_rows(results);
  if (flags.regrade) {
    print_note(fmt::format("graded again: {} of {} have another score; the files are as they were", results.regraded(),
                           counted(static_cast<std::int64_t>(results.rows()), "row")));
  }
  const std::string text = render(lay_out(results, flags.layout), format_of(flags));
  if (flags.output == "-") {
    write_stdout(text);
  } else {
    write_whole_file(flags.output, text);
  }
  return kExitAnswered;
}

}  // namespace

void add_report_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("report", "tables and figures from results");
  auto flags = std::make_shared<ReportFlags>();
  command->footer(
      "FILE is what dts eval -o wrote; several files, of one model or of many, make one report.\n\n"
      "  dts report results.db -o report.html\n"
      "  dts report small.db large.db --format md\n"
      "  dts report results.db --case nano-bench-017 -o case.html");
  command->add_option("files", flags->files, "results of dts eval")->type_name("FILE...");
  add_value(*command, "-o,--output", "FILE", "where to write it (default -: standard output)",
            [flags](const std::string& text) { flags->output = text; });
  add_choice<ReportFormat>(*command, "--format", flags->format,
                           {{"html", ReportFormat::kHtml},
                            {"md", ReportFormat::kMarkdown},
                            {"csv", ReportFormat::kCsv},
                            {"json", ReportFormat::kJson}},
                           "what to write (default: as the output's name says, else md)");
  command
      ->add_option_function<std::vector<std::string>>(
          "--case",
          [flags](const std::vector<std::string>& questions) {
            flags->layout.cases = questions;
            flags->layout.only_cases = true;
          },
          "only this question, as the methods answered it; may be given several times")
      ->type_name("QUESTION")
      ->allow_extra_args(false);
  add_value(*command, "-s,--seed", "N", "the seed that cases show (default: one that shows the difference)",
            [flags](const std::string& text) {
              flags->layout.seed = static_cast<std::uint64_t>(
                  parse_integer("--seed", text, 0, std::numeric_limits<std::int64_t>::max()));
            });
  command->add_flag("--check", flags->check, "count every row again from its tree, and say what does not agree");
  command->add_flag("--regrade", flags->regrade, "grade every trajectory again, as this program's grader does");
  add_value(*command, "--title", "TEXT", "the report's title",
            [flags](const std::string& text) { flags->layout.title = text; });
  command->callback([flags, &exit_code] {
    if (flags->check && flags->regrade) {
      throw usage_error(
          "--check and --regrade contradict each other: --check compares rows with their trees as they are");
    }
    if (flags->files.empty()) throw usage_error("FILE is missing: results that dts eval -o wrote");
    exit_code = make_report(*flags);
  });
}

}  // namespace dts::cli
