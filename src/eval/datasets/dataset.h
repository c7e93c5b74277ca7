// The datasets of the paper and others, read from the files in which people have them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "eval/datasets/prompts.h"

namespace dts::eval {

struct Question {
  std::string id;      // unique in its dataset
  std::string text;    // what is asked, trimmed; without options and without instructions
  std::string answer;  // the right answer as the grader wants it: a plain number, LaTeX, a letter, LiveBench's own form
  std::vector<std::string> choices;  // multiple choice: in the order shown, A first; empty otherwise
  std::string task;  // the part of the dataset that is averaged apart: LiveBench's task, MATH's subject; may be empty
  std::string difficulty;  // as the file has it; may be empty
  std::string release;     // LiveBench: when the question came out, YYYY-MM-DD: its scoring depends on it
};

// How answers are compared.
enum class AnswerKind {
  kInteger,    // AIME: 0 to 999
  kNumber,     // GSM8K
  kMath,       // any mathematical expression, or text
  kLetter,     // A to D
  kLiveBench,  // by the rules of the question's task
};

struct DatasetInfo {
  std::string_view name;
  std::string_view description;
  std::string_view source;      // where people get the file
  std::size_t usual_questions;  // in that file; 0: no telling
  AnswerKind answers;
  PromptStyle prompt;
};

struct Dataset {
  DatasetInfo info;
  std::vector<Question> questions;  // in the order of the file, at least one
  // Multiple choice: every seed shows the options in an order of its own, drawn from this; none: always as they stand.
  std::optional<std::uint64_t> shuffle = {};
};

// A question as one seed is asked it. `order` says it in letters of the dataset's own: "CABD"; empty without options.
struct ShownQuestion {
  Question question;
  std::string order;
};
ShownQuestion shown_to(const Dataset& dataset, const Question& question, std::uint64_t seed);

struct DatasetOptions {
  // Names of columns, instead of those the dataset usually has.
  std::string question_field;
  std::string answer_field;
  std::string id_field;  // custom, without one: rows are numbered from 1
  // Multiple choice: which orders the options are shown in; and whether it is the same one for every seed.
  std::uint64_t seed = 0;
  bool fixed_order = false;
  // LiveBench: only the questions of this release, YYYY-MM-DD: out by then, and not withdrawn by then. Empty: all that
  // are in the file.
  std::string release;
};

// A release of LiveBench, as far as a file has it.
struct Release {
  std::string date;  // YYYY-MM-DD
  std::size_t questions = 0;
};
// The days on which questions came out or were withdrawn, in order, each with the number of questions that were out
// then.
std::vector<Release> livebench_releases(std::span<const std::filesystem::path> files);

// All of them, in the order in which they are shown to a user; the last is `custom`.
std::span<const DatasetInfo> datasets();

// Throws a usage error that lists the names when there is no such dataset.
const DatasetInfo& find_dataset(std::string_view name);

// Reads and checks everything before any model is asked: throws Error with one line naming file, row and column when
// columns are missing, an answer is not of the dataset's kind, an id appears twice, or the file is not what it seems.
Dataset load_dataset(std::string_view name, const std::filesystem::path& file, const DatasetOptions& options);

// The same from several files, as LiveBench's one a task; ids are unique over all of them.
Dataset load_dataset(std::string_view name, std::span<const std::filesystem::path> files,
                     const DatasetOptions& options);

// The same from a file's content; `label` stands for its name, in messages and for its extension.
Dataset parse_dataset(std::string_view name, std::string_view bytes, const std::string& label,
                      const DatasetOptions& options);

}  // namespace dts::eval
