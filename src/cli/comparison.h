// One question as several methods answered it: the numbers, and how a person or a program is told.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/terminal.h"
#include "draw/answer_colours.h"
#include "dts/tree_file.h"
#include "eval/report/document.h"

namespace dts::cli {

struct ComparedRun {
  std::string label;  // the method, as it was asked for: "dts-stable:tau-h=1.2"
  std::uint64_t seed = 0;
  TreeDocument document;
};

struct Comparison {
  std::string model;
  std::string question;
  std::string expected;           // the right answer; empty: not known
  std::vector<ComparedRun> runs;  // all seeds of a method one after another
  bool complete = true;           // false: interrupted, some runs are missing
  // The run whose answers have the colours that they have in a picture of it alone; none: the first that is not plain
  // decoding, as on the page.
  std::optional<std::size_t> colours_from = std::nullopt;

  bool several_seeds() const;
};

// The answer that a run came to; empty: none.
std::string answer_of(const ComparedRun& run);
// None where the right answer is not known.
std::optional<bool> is_right(const Comparison& comparison, const ComparedRun& run);
// "8 of 9": trajectories that gave the answer, of those that finished.
std::string votes_of(const ComparedRun& run);

// One colour an answer over all runs: those of one run as in its own picture, others beside them.
draw::AnswerColours colours_of(const Comparison& comparison);

// A line for each method, and what it comes to in a sentence. For a terminal, or for a file at its width of 100.
std::string comparison_table(const Comparison& comparison, const Terminal& terminal);
// With the question above and, of one seed, the trees below.
std::string comparison_text(const Comparison& comparison, const Terminal& terminal);

// The other way round, for whoever looks at the end of a terminal: the question, with `trees` those that branch, and
// the table.
std::string example_text(const Comparison& comparison, const Terminal& terminal, bool trees);

// For programs: every run with its answer, votes and account.
nlohmann::json comparison_json(const Comparison& comparison);
// As a report: the table, and the traces and trees of the first seed side by side.
eval::report::Report comparison_report(const Comparison& comparison);
// The trees of the first seed, one above the other, in one picture that stands alone.
std::string comparison_svg(const Comparison& comparison);

}  // namespace dts::cli
