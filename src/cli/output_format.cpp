#include "cli/output_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "cli/arguments.h"
#include "dts/error.h"
#include "text/ascii.h"

namespace dts::cli {
namespace {

struct FormatName {
  OutputFormat format;
  std::string_view word;                         // of --format
  std::array<std::string_view, 2> endings = {};  // of files
};

constexpr std::array<FormatName, 9> kNames = {{
    {OutputFormat::kText, "text", {".txt", ""}},
    {OutputFormat::kMarkdown, "md", {".md", ".markdown"}},
    {OutputFormat::kHtml, "html", {".html", ".htm"}},
    {OutputFormat::kTex, "tex", {".tex", ""}},
    {OutputFormat::kSvg, "svg", {".svg", ""}},
    {OutputFormat::kPdf, "pdf", {".pdf", ""}},
    {OutputFormat::kDot, "dot", {".dot", ".gv"}},
    {OutputFormat::kCsv, "csv", {".csv", ""}},
    {OutputFormat::kJson, "json", {".json", ""}},
}};

const FormatName& name_of(OutputFormat format) {
  return *std::find_if(kNames.begin(), kNames.end(), [&](const FormatName& name) { return name.format == format; });
}

// A file of its own, there or to be made: not a device or a pipe, which have no names that mean anything.
bool is_file(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  return !std::filesystem::exists(status) || std::filesystem::is_regular_file(status);
}

}  // namespace

void add_format(CLI::App& command, OutputFormat& target, const std::vector<OutputFormat>& offered,
                const std::string& usual) {
  std::vector<std::pair<std::string, OutputFormat>> choices;
  choices.reserve(offered.size());
  for (const OutputFormat format : offered) choices.emplace_back(name_of(format).word, format);
  add_choice<OutputFormat>(
      command, "--format", target, choices,
      fmt::format("what to write (default: as the output's name says; {} to standard output)", usual));
}

OutputFormat format_of(std::string_view flag, const std::string& output, OutputFormat given,
                       const std::vector<OutputFormat>& offered, OutputFormat usual) {
  if (given != OutputFormat::kByName) return given;
  if (output == "-" || !is_file(output)) return usual;
  const std::string ending = text::lower_case(std::filesystem::path(output).extension().string());
  if (ending.empty()) return usual;
  std::string endings;
  for (const OutputFormat format : offered) {
    const FormatName& name = name_of(format);
    for (const std::string_view known : name.endings) {
      if (!known.empty() && known == ending) return format;
    }
    endings += fmt::format("{}{}", endings.empty() ? "" : ", ", name.endings.front());
  }
  const char* other = flag == "--output" ? ", or --format say what it is" : "";  // other flags have none beside them
  throw usage_error(fmt::format("{} is '{}': its name must end in one of {}{}", flag, output, endings, other));
}

}  // namespace dts::cli
