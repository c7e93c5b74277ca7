// `dts tree`: draws a tree that `dts run --save-tree` wrote.
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/output_format.h"
#include "cli/terminal.h"
#include "cli/tree_formats.h"
#include "dts/draw.h"
#include "dts/tree_file.h"
#include "io/whole_file.h"

namespace dts::cli {
namespace {

const std::vector<OutputFormat> kFormats = {OutputFormat::kText, OutputFormat::kHtml, OutputFormat::kSvg,
                                            OutputFormat::kPdf,  OutputFormat::kDot,  OutputFormat::kJson};

struct TreeFlags {
  std::string file;
  OutputFormat format = OutputFormat::kByName;
  std::string output = "-";
  bool no_colour = false;
};

std::string draw_for_terminal(const TreeDocument& document, const TreeFlags& flags) {
  TextDrawingOptions options;
  const bool to_stdout = flags.output == "-";
  const Terminal terminal = detect_terminal(STDOUT_FILENO, flags.no_colour);
  options.unicode = terminal.unicode;
  options.colour = to_stdout && terminal.colour;
  if (to_stdout && terminal.interactive) options.width = terminal.size().columns;
  return draw_text(document, options);
}

std::string draw(const TreeDocument& document, const TreeFlags& flags, OutputFormat format) {
  if (format == OutputFormat::kText) return draw_for_terminal(document, flags);
  return draw_as(document, format);
}

}  // namespace

void add_tree_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("tree", "Draw a saved tree");
  command->footer(
      "FILE is what dts run --save-tree or --json wrote; - is standard input.\n\n"
      "  dts tree tree.json\n"
      "  dts tree tree.json -o tree.html\n"
      "  dts tree tree.json -o tree.pdf");
  auto flags = std::make_shared<TreeFlags>();
  add_value(*command, "file", "FILE", "the tree to draw; - is standard input",
            [flags](const std::string& text) { flags->file = text; });
  add_format(*command, flags->format, kFormats, "text");
  add_value(*command, "-o,--output", "FILE", "where to draw it (default -: standard output)",
            [flags](const std::string& text) { flags->output = text; });
  command->add_flag("--no-color", flags->no_colour, "no colours, even on a terminal");
  command->callback([flags, &exit_code] {
    if (flags->file.empty()) throw usage_error("FILE is missing: the tree to draw, or - for standard input");
    const OutputFormat format = format_of("--output", flags->output, flags->format, kFormats, OutputFormat::kText);
    const std::string drawing = draw(load_tree(flags->file), *flags, format);
    if (flags->output == "-") {
      write_stdout(drawing);
    } else {
      write_whole_file(flags->output, drawing);
    }
    exit_code = kExitAnswered;
  });
}

}  // namespace dts::cli
