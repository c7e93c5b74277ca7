// The end of `dts run`: the winning trace, the answer, the vote and the account.
#pragma once

#include <string>

#include "cli/frame.h"
#include "cli/terminal.h"
#include "dts/tree_file.h"
#include "text/glyphs.h"

namespace dts::cli {

// What `--method` and its numbers came to: "splits 3 ways · up to 48 branches · 8 votes · seed 0 · ..."
std::string describe_settings(const SearchOptions& options, const text::Glyphs& glyphs);
std::string describe_sampling(const SamplingOptions& sampling, const text::Glyphs& glyphs);

// What the user reads of the best trajectory, or, where it never left its thinking, the answer found in it. No line
// end.
std::string answer_text(const TreeDocument& document);

// What is in the last \boxed{} of it, where there is one; else all of it.
std::string bare_answer(const TreeDocument& document);

// The whole report. `terminal` is what it is printed on; everything a model or a file wrote is made printable.
std::string report_text(const TreeDocument& document, const Terminal& terminal);

}  // namespace dts::cli
