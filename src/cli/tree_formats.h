// A tree in the form that a file's name asks for.
#pragma once

#include <string>

#include "cli/output_format.h"
#include "dts/tree_file.h"

namespace dts::cli {

// kText: as for a terminal of 100 cells without colours.
std::string draw_as(const TreeDocument& document, OutputFormat format);

}  // namespace dts::cli
