// Puts every question to every method with every seed, many at a time on one engine, and keeps each result as it comes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "dts/engine.h"
#include "dts/search.h"
#include "dts/vocabulary.h"
#include "eval/datasets/dataset.h"
#include "eval/grade/grade.h"
#include "eval/store/store.h"

namespace dts::eval {

// One method under one label, with everything that decides its results.
struct Variant {
  std::string label;
  SearchOptions options;  // the seed is one of `seeds`
  std::vector<std::uint64_t> seeds;
};

// How this dataset's answers are read and scored.
struct Grading {
  std::function<std::string(const Question&, std::string_view text, bool opens_thinking)> vote;  // what it votes for
  std::function<Grade(const Question&, std::string_view text, bool opens_thinking)> grade;
  SameAnswer same = nullptr;  // which answers are one vote; none: the same texts
};

struct RunnerInputs {
  Engine* engine = nullptr;                // not owned
  const Vocabulary* vocabulary = nullptr;  // not owned
  std::string model;                       // its name, for the tree files
  const Dataset* dataset = nullptr;        // not owned
  std::vector<Variant> variants;
  bool one_at_a_time = false;  // one question in flight: what it takes then is its own time
  Grading grading;
  std::function<void(const Row&)> on_row;  // it is done, and kept
  std::function<bool()> stopping;          // asked between steps: true ends the run, nothing finished is lost
};

// The question as the model is asked it.
ChatPrompt chat_prompt(const Vocabulary& vocabulary, const Dataset& dataset, const Question& question);

// The rows that such a run makes, all of them.
std::vector<RowKey> keys_of(const RunnerInputs& inputs);

// Makes the rows that are not there and that no living process has claimed; several runners, in one process or in
// several, share them. Returns false when it was stopped. Throws when the engine fails or the disk is full; what was
// done stays done.
bool run_evaluation(const RunnerInputs& inputs, Store& store);

}  // namespace dts::eval
