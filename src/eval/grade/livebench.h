// LiveBench's reasoning tasks, scored as LiveBench scores them, quirks and partial credit included: what its
// leaderboard says can be compared with what we say.
#pragma once

#include <string>
#include <string_view>

#include "eval/datasets/dataset.h"

namespace dts::eval {

// From 0 to 1, of a text without thinking (without_thinking()). By task:
//   web_of_lies_v2  the last <solution>, else the last three bold yes, no or unknown, else the last box, else the last
//                   "yes, no, yes" in plain text; 1 when it is the right one, or has three labels and contains it
//   zebra_puzzle    released before 2024-11-25: the last ***word***, else the last word, is the answer, digits for
//   words
//                   allowed; 0 or 1. Since then: a list from all <solution>s (the last N items), else the last box,
//                   else the last line when it has N items; an item is right when it contains the right one, case and
//                   hyphens aside; the mean of the share that is right and of 1 when all are
//   spatial         one of the last three bold texts is the answer, number words and "two tetrahedra" allowed, else the
//                   last box; 0 or 1
//   house_traversal the last bold texts are the names, one each, or the last has them all in order; 0 or 1
// Throws Error for another task.
double livebench_score(const Question& question, std::string_view answer_text);

// What the same text answers, in one form for equal answers, without a look at the right one; empty when it names none.
// Where the scorer accepts any of several places, the likeliest.
std::string livebench_answer(const Question& question, std::string_view answer_text);

}  // namespace dts::eval
