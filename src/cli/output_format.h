// Which format a file is written in: as --format says, else as its name does.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace dts::cli {

enum class OutputFormat { kByName, kText, kMarkdown, kHtml, kTex, kSvg, kPdf, kDot, kCsv, kJson };

// --format, with the words of `offered`. `usual` is the default's word, where the output's name says nothing.
void add_format(CLI::App& command, OutputFormat& target, const std::vector<OutputFormat>& offered,
                const std::string& usual);

// `given`, unless that is kByName; then what the ending of `output` stands for, and `usual` for standard output, a
// device, a pipe or a name without an ending. Throws a usage error for a file with an ending that is none of `offered`:
// what it would hold is not what its name says. `flag` is how the output is given.
OutputFormat format_of(std::string_view flag, const std::string& output, OutputFormat given,
                       const std::vector<OutputFormat>& offered, OutputFormat usual);

}  // namespace dts::cli
