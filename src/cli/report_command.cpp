// `dts report`: the paper's tables and figures from results of `dts eval`.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/output_format.h"
#include "draw/pdf.h"
#include "dts/error.h"
#include "eval/report/layout.h"
#include "eval/report/recount.h"
#include "eval/report/render.h"
#include "eval/report/results.h"
#include "eval/report/stand_alone.h"
#include "io/whole_file.h"
#include "text/display.h"
#include "text/numbers.h"

namespace dts::cli {
namespace {

using namespace text;

namespace report = eval::report;

const std::vector<OutputFormat> kFormats = {OutputFormat::kMarkdown, OutputFormat::kHtml, OutputFormat::kTex,
                                            OutputFormat::kCsv, OutputFormat::kJson};

struct ReportFlags {
  std::vector<std::string> files;
  std::string output = "-";
  OutputFormat format = OutputFormat::kByName;
  std::string figures;  // a directory; empty: none
  report::LayoutOptions layout;
  bool check = false;
  bool regrade = false;
};

std::string render(const report::Report& made, OutputFormat format, const std::string& figures) {
  switch (format) {
    case OutputFormat::kHtml:
      return to_html(made);
    case OutputFormat::kTex:
      return to_tex(made);
    case OutputFormat::kCsv:
      return to_csv(made);
    case OutputFormat::kJson:
      return to_json(made);
    default:
      return to_markdown(made, figures);
  }
}

// Every figure as SVG, PDF and its numbers. Where PDF cannot be drawn the others are there all the same.
void write_figures(const report::Report& made, const std::string& directory) {
  std::error_code failure;
  std::filesystem::create_directories(directory, failure);
  if (failure) throw Error(fmt::format("--figures '{}': cannot be made: {}", directory, failure.message()));
  const std::filesystem::path base(directory);
  const std::vector<report::FigureFile> files = figure_files(made);
  std::optional<Error> no_pdf;
  for (const report::FigureFile& file : files) {
    write_whole_file((base / (file.name + ".svg")).string(), file.svg);
    write_whole_file((base / (file.name + ".csv")).string(), file.csv);
    try {
      if (!no_pdf) write_whole_file((base / (file.name + ".pdf")).string(), svg_to_pdf(file.svg));
    } catch (const Error& error) {
      no_pdf = error;
    }
  }
  print_note(fmt::format("{} in {}", counted(static_cast<std::int64_t>(files.size()), "figure"), directory));
  if (no_pdf) throw *no_pdf;
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
  const OutputFormat format = format_of("--output", flags.output, flags.format, kFormats, OutputFormat::kMarkdown);
  const report::Results results(flags.files, flags.regrade);
  if (results.rows() == 0) {
    throw Error(fmt::format("{}: has no results yet; dts eval makes them", flags.files.front()));
  }
  if (flags.check) return check_rows(results);
  if (flags.regrade) {
    print_note(fmt::format("graded again: {} of {} have another score; the files are as they were", results.regraded(),
                           counted(static_cast<std::int64_t>(results.rows()), "row")));
  }
  const report::Report made = lay_out(results, flags.layout);
  // As seen from where the report will be.
  std::string seen = flags.figures;
  if (!seen.empty() && flags.output != "-") {
    seen = std::filesystem::absolute(seen)
               .lexically_proximate(std::filesystem::absolute(flags.output).parent_path())
               .generic_string();
  }
  const std::string text = render(made, format, seen);
  // Figures without a report are a wish, too: only what is asked for goes to standard output.
  if (flags.output != "-") {
    write_whole_file(flags.output, text);
  } else if (flags.figures.empty() || flags.format != OutputFormat::kByName) {
    write_stdout(text);
  }
  if (!flags.figures.empty()) write_figures(made, flags.figures);
  return kExitAnswered;
}

}  // namespace

void add_report_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("report", "tables and figures from results");
  auto flags = std::make_shared<ReportFlags>();
  command->footer(
      "FILE is what dts eval -o wrote; several files, of one model or of many, make one report.\n\n"
      "  dts report results.db -o report.html\n"
      "  dts report small.db large.db -o tables.tex --figures figures\n"
      "  dts report results.db --case nano-bench-017 -o case.html");
  command->add_option("files", flags->files, "results of dts eval")->type_name("FILE");
  add_value(*command, "-o,--output", "FILE", "where to write it (default -: standard output)",
            [flags](const std::string& text) { flags->output = text; });
  add_format(*command, flags->format, kFormats, "md");
  add_value(*command, "--figures", "DIR", "every figure as SVG and PDF, with its numbers as CSV",
            [flags](const std::string& text) {
              if (text.empty()) throw usage_error("--figures is '': it must be a directory");
              flags->figures = text;
            });
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
  add_value(*command, "--note", "TEXT", "a paragraph for the report's beginning",
            [flags](const std::string& text) { flags->layout.note = text; });
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
